"""The `text` format, and its short form for the terminal.

Findings are grouped by rule and name, one line for each group: the number of places, what it is about, the first place.
The report in a file also lists the other places; the summary on the terminal keeps to the largest groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from musa_port.model import FileStatus, Report, Severity
from musa_port.report import facts, registry, wording
from musa_port.report.safe import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_HEADINGS = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.INFO: "Notes"}
_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
#: How many groups the terminal shows of each severity, and how many reasons for files not ported.
_SHOWN = {Severity.ERROR: 20, Severity.WARNING: 10, Severity.INFO: 5}
_REASONS_SHOWN = 8


class _Line(NamedTuple):
    """A line of the report: a number, right-aligned in a narrow column, what it counts, and where or why."""

    number: str = ""
    text: str = ""
    detail: str = ""
    style: str = ""


_BLANK = _Line()


@registry.register("text", ".txt")
def stream(report: Report) -> Iterator[str]:
    """The full account: every group and every place."""
    for line in _lines(report, short=False):
        yield _plain(line) + "\n"


def print_summary(report: Report, console: Console | None = None) -> None:
    """Print the short account to the terminal, or to where standard output goes."""
    from rich.console import Console  # not at the top: an import that only terminals need

    console = console or Console(highlight=False)
    for line in _lines(report, short=True):
        if console.is_terminal:
            console.print(_styled(line))
        else:
            console.print(_plain(line), markup=False, emoji=False, highlight=False, soft_wrap=True)


def _plain(line: _Line) -> str:
    lead = f"{line.number:>7}  " if line.number else ""
    return lead + line.text + _apart(line.detail)


def _styled(line: _Line) -> RenderableType:
    """What rich prints for `line`: text that wraps is indented to its column."""
    from rich.table import Table
    from rich.text import Text

    if not line.number:
        return Text(line.text, style=line.style or "bold").append(_apart(line.detail), style="dim")
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", width=7)
    grid.add_column(overflow="fold")
    grid.add_row(Text(line.number, style=line.style), Text(line.text).append(_apart(line.detail), style="dim"))
    return grid


def _apart(detail: str) -> str:
    return f"  {detail}" if detail else ""


def _lines(report: Report, *, short: bool) -> Iterator[_Line]:
    yield _Line(text=f"musa-port {report.version}", detail=wording.route(report))
    yield from _files(report)
    yield from _findings(report, short)
    yield from _not_ported(report, short)
    yield _BLANK
    yield _Line(text=wording.verdict(report))


def _files(report: Report) -> Iterator[_Line]:
    counts = {status: number for status, number in report.status_counts().items() if number}
    if not counts:
        return
    yield _BLANK
    yield _Line(text="Files", detail=f"{len(report.files):,}")
    labels = wording.status_labels(report)
    for status, number in counts.items():
        style = "red" if status is FileStatus.FAILED else ""
        yield _Line(f"{number:,}", labels[status], style=style)


def _findings(report: Report, short: bool) -> Iterator[_Line]:
    groups = facts.groups(report.findings())
    for severity in Severity:
        of_severity = [group for group in groups if group.severity is severity]
        if not of_severity:
            continue
        yield _BLANK
        yield _Line(text=_HEADINGS[severity], detail=f"{_total(of_severity):,}", style=f"bold {_STYLES[severity]}")
        limit = _SHOWN[severity] if short else len(of_severity)
        for group in of_severity[:limit]:
            yield from _group(group, short)
        if rest := of_severity[limit:]:
            kinds = wording.count(len(rest), "more kind")
            text = f"and {kinds} of {wording.NOUNS[severity]}s, see --report FILE"
            yield _Line(f"{_total(rest):,}", text, style="dim")


def _group(group: facts.Group, short: bool) -> Iterator[_Line]:
    first = group.first
    label = facts.rule_label(group.rule)
    where = wording.place(first) if len(group.findings) == 1 else f"first at {wording.place(first)}"
    yield _Line(f"{len(group.findings):,}", wording.headline(first), f"{where}  [{label}]", _STYLES[group.severity])
    if short:
        return
    if first.advice:
        yield _Line(" ", printable(first.advice))
    for finding in group.findings[1:]:
        different = finding.message != first.message
        yield _Line(" ", wording.place(finding), printable(finding.message) if different else "")


def _not_ported(report: Report, short: bool) -> Iterator[_Line]:
    reasons = facts.not_ported(report)
    if not reasons:
        return
    yield _BLANK
    yield _Line(text="Files not ported", detail=f"{sum(len(entry.paths) for entry in reasons):,}")
    limit = _REASONS_SHOWN if short else len(reasons)
    for entry in reasons[:limit]:
        style = "red" if entry.status is FileStatus.FAILED else ""
        text = f"{wording.STATUSES[entry.status]}: {entry.reason}"
        yield _Line(f"{len(entry.paths):,}", text, _examples(entry.paths), style)
        if not short:
            yield from (_Line(" ", printable(path)) for path in entry.paths[1:])
    if rest := reasons[limit:]:
        number = sum(len(entry.paths) for entry in rest)
        yield _Line(f"{number:,}", f"for {wording.count(len(rest), 'more reason')}, see --report FILE", style="dim")


def _examples(paths: list[str]) -> str:
    more = len(paths) - 1
    return printable(paths[0]) + (f" and {more:,} more" if more else "")


def _total(groups: list[facts.Group]) -> int:
    return sum(len(group.findings) for group in groups)
