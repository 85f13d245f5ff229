"""The words that all formats for people share."""

from __future__ import annotations

from musa_port.model import FileResult, FileStatus, Finding, Report, Severity
from musa_port.report.safe import printable

#: What one finding of a severity is called.
NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

#: What a status means.
STATUSES = {
    FileStatus.PORTED: "ported",
    FileStatus.UNCHANGED: "unchanged",
    FileStatus.COPIED: "copied, not examined",
    FileStatus.SKIPPED: "skipped",
    FileStatus.LEFT_OUT: "left out",
    FileStatus.FAILED: "failed",
}

#: Modes in which nothing is written.
_DRY = frozenset({"check", "diff"})


def count(number: int, noun: str) -> str:
    """`1 file`, `2,345 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def verdict(report: Report) -> str:
    """The outcome in one line: `ported 123 of 150 files, 2,345 edits, 3 errors, 20 warnings`."""
    if not report.files:
        return "no files found"
    statuses, severities = report.status_counts(), report.severity_counts()
    verb = "would port" if is_dry(report) else "ported"
    parts = [
        f"{verb} {statuses[FileStatus.PORTED]:,} of {count(len(report.files), 'file')}",
        count(report.edit_count, "edit"),
        *(count(severities[severity], NOUNS[severity]) for severity in (Severity.ERROR, Severity.WARNING)),
    ]
    if failed := statuses[FileStatus.FAILED]:
        parts.append(f"{count(failed, 'file')} failed")
    return ", ".join(parts)


def is_dry(report: Report) -> bool:
    """Whether the run only looked."""
    return report.mode in _DRY


def status_labels(report: Report) -> dict[FileStatus, str]:
    """What each status is called; nothing is ported yet when the run only looked."""
    return STATUSES | {FileStatus.PORTED: "to port"} if is_dry(report) else STATUSES


def route(report: Report) -> str:
    """From where to where: `src -> out`."""
    source = printable(report.source)
    return f"{source} -> {printable(report.output)}" if report.output else source


def place(finding: Finding) -> str:
    """`path:line:column`."""
    return f"{printable(finding.path)}:{finding.line}:{finding.column}"


def headline(finding: Finding) -> str:
    """The message, led by the name that it is about unless it says it."""
    message = printable(finding.message)
    name = printable(finding.name)
    return message if name in message else f"{name}: {message}"


def with_advice(finding: Finding) -> str:
    """The message followed by the advice, as sentences."""
    return sentences(finding.message, finding.advice)


def sentences(*texts: str) -> str:
    """The non-empty `texts` in a row, each closed by a full stop where another follows."""
    parts = [text.strip() for text in texts if text.strip()]
    closed = [part if part[-1] in ".!?:。" else f"{part}." for part in parts[:-1]]
    return " ".join([*closed, *parts[-1:]])


def reason(file: FileResult) -> str:
    """Why a file was not ported; never empty."""
    return printable(file.reason) or "no reason given"
