"""The `md` format: a summary for a comment on a pull request.

A comment holds at most 65,536 characters, so tables are cut where they would not fit and say how much they leave out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from musa_port.model import FileStatus, Finding, Report, Severity
from musa_port.report import facts, registry, wording
from musa_port.report.safe import clip, clip_path, printable

#: What is left of the size of a comment for each part.
_ROOM = {Severity.ERROR: 18_000, Severity.WARNING: 10_000, Severity.INFO: 4_000}
_ROOM_UNSUPPORTED = 10_000
_ROOM_NOT_PORTED = 4_000
_ROOM_CODE = 12_000

_SPECIAL = re.compile(r"[\\`*_\[\]~]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")


@registry.register("md", ".md", ".markdown")
def stream(report: Report) -> Iterator[str]:
    """Totals, errors and unsupported names in the open; everything else folded."""
    yield f"### musa-port: {wording.verdict(report)}\n\n"
    yield f"{_route(report)}\n\n"
    yield from _totals(report)
    groups = facts.groups(report.findings())
    yield from _open("Errors", _group_table(groups, Severity.ERROR))
    yield from _open("Unsupported names", _unsupported(report))
    for severity in (Severity.WARNING, Severity.INFO):
        number = sum(len(group.findings) for group in groups if group.severity is severity)
        yield from _folded(wording.count(number, wording.NOUNS[severity]), _group_table(groups, severity))
    yield from _folded("Errors in the source", _code_of_errors(groups))
    yield from _folded("Files not ported", _not_ported(report))


def _route(report: Report) -> str:
    version = f" by musa-port {plain(report.version)}"
    target = f" to {code(report.output)}" if report.output else ""
    return f"{code(report.source)}{target}{version}."


def _totals(report: Report) -> Iterator[str]:
    statuses, severities = report.status_counts(), report.severity_counts()
    columns = {
        "Files": len(report.files),
        wording.status_labels(report)[FileStatus.PORTED].capitalize(): statuses[FileStatus.PORTED],
        "Unchanged": statuses[FileStatus.UNCHANGED],
        "Copied": statuses[FileStatus.COPIED],
        "Not ported": sum(len(entry.paths) for entry in facts.not_ported(report)),
        "Edits": report.edit_count,
        **{f"{wording.NOUNS[severity].capitalize()}s": number for severity, number in severities.items()},
    }
    yield _row(columns)
    yield _row("---:" for _ in columns)
    yield _row(f"{number:,}" for number in columns.values())
    yield "\n"


def _group_table(groups: list[facts.Group], severity: Severity) -> Iterator[str]:
    rows = [_group_row(group) for group in groups if group.severity is severity]
    return _table(("Places", "Rule", "What", "First place"), rows, _ROOM[severity])


def _group_row(group: facts.Group) -> str:
    first = group.first
    name = "" if not first.name or first.name in first.message else f"{code(clip(first.name, 80))}: "
    advice = first.advice if group.severity is Severity.ERROR else ""
    what = wording.sentences(clip(first.message, 200), clip(advice, 200))
    return _row(
        (f"{len(group.findings):,}", plain(facts.rule_label(group.rule)), f"{name}{plain(what)}", code(_place(first)))
    )


def _unsupported(report: Report) -> Iterator[str]:
    rows = [
        _row((code(clip(entry.name, 80)), f"{entry.uses:,}", f"{entry.files:,}", plain(clip(entry.advice, 200))))
        for entry in facts.unsupported_names(report)
    ]
    return _table(("Name", "Uses", "Files", "Advice"), rows, _ROOM_UNSUPPORTED)


def _not_ported(report: Report) -> Iterator[str]:
    rows = [
        _row(
            (
                f"{len(entry.paths):,}",
                wording.STATUSES[entry.status],
                plain(clip(entry.reason, 200)),
                code(clip_path(printable(entry.paths[0]), 120)),
            )
        )
        for entry in facts.not_ported(report)
    ]
    return _table(("Files", "Status", "Reason", "First file"), rows, _ROOM_NOT_PORTED)


def _code_of_errors(groups: list[facts.Group]) -> Iterator[str]:
    """The first source line of each group of errors, as far as there is room."""
    shown = [group.first for group in groups if group.severity is Severity.ERROR and group.first.source_line]
    room = _ROOM_CODE
    for index, finding in enumerate(shown):
        block = f"{code(_place(finding))}\n\n{fenced(clip(finding.source_line.strip(), 200))}\n\n"
        room -= len(block)
        if room < 0:
            yield f"and {len(shown) - index:,} more.\n"
            return
        yield block


def _place(finding: Finding) -> str:
    return clip_path(wording.place(finding), 120)


def _table(header: tuple[str, ...], rows: list[str], room: int) -> Iterator[str]:
    if not rows:
        return
    yield _row(header)
    yield _row("---" for _ in header)
    for index, row in enumerate(rows):
        room -= len(row)
        if room < 0:
            yield f"\nand {len(rows) - index:,} more: see the other report formats.\n"
            return
        yield row


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _open(title: str, body: Iterator[str]) -> Iterator[str]:
    text = "".join(body)
    if text:
        yield f"#### {title}\n\n{text}\n"


def _folded(title: str, body: Iterator[str]) -> Iterator[str]:
    text = "".join(body)
    if text:
        yield f"<details>\n<summary>{title}</summary>\n\n{text}\n</details>\n\n"


def plain(text: str) -> str:
    """Foreign text that Markdown shows as it is, also in a table; names people without notifying them."""
    shown = _SPECIAL.sub(r"\\\g<0>", printable(text))
    return "".join(_ENTITIES.get(char, char) for char in shown).replace("@", "@\u200b")


def code(text: str) -> str:
    """Foreign text in code style, also in a table."""
    shown = printable(text)
    if not shown.strip():
        return ""
    if "`" not in shown and "|" not in shown:
        return f"`{shown}`"
    return f"<code>{_PUNCTUATION.sub(lambda match: f'&#{ord(match[0])};', shown)}</code>"


def fenced(text: str) -> str:
    """Source text in a fence that the text cannot close."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}cpp\n{printable(text.expandtabs(4))}\n{fence}"
