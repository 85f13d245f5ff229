"""The `text` format and the summary on the terminal."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from musa_port import report as reports
from musa_port.model import FileResult, FileStatus, Finding, Report, Severity

FULL = """\
musa-port 1.2.3  src -> out

Files  8
      2  ported
      1  unchanged
      1  copied, not examined
      2  skipped
      1  left out
      1  failed

Errors  2
      2  cudaNothing: has no counterpart  first at src/核心/a b#1.cu:9:14  [C10 no-such-name]
         Remove it
         src/核心/a b#1.cu:9:30

Warnings  1
      1  assumes 32 threads.  src/核心/a b#1.cu:12:3  [C2 warp-size]

Notes  2
      1  cudaA: renamed  b.cuh:2:1  [C20 renamed]
      1  about the whole file  b.cuh:1:1  [Z99]

Files not ported  4
      1  failed: Permission denied  h.cu
      1  left out: link that leaves the tree  g.h
      2  skipped: vendored copy of CUB  third/e.h and 1 more
         third/f.h

ported 2 of 8 files, 3 edits, 2 errors, 1 warning, 1 file failed
"""


def summary(report: Report, *, terminal: bool = False, width: int = 80) -> str:
    stream = io.StringIO()
    reports.print_summary(report, Console(file=stream, force_terminal=terminal, width=width, color_system="standard"))
    return stream.getvalue()


def test_the_full_account(report: Report) -> None:
    assert reports.render(report, "text") == FULL


def test_the_summary_leaves_out_the_further_places(report: Report) -> None:
    places = ("         Remove it\n", "         src/核心/a b#1.cu:9:30\n", "         third/f.h\n")
    expected = FULL
    for line in places:
        expected = expected.replace(line, "")
    assert summary(report) == expected


def test_an_empty_report(empty: Report) -> None:
    assert summary(empty) == reports.render(empty, "text") == "musa-port 1.2.3  src -> out\n\nno files found\n"


def test_a_run_that_only_looked(report: Report) -> None:
    report.mode, report.output = "check", None
    text = summary(report)
    assert text.startswith("musa-port 1.2.3  src\n")
    assert "      2  to port\n" in text


def test_a_flood_stays_short_and_errors_come_first(flood: Report) -> None:
    lines = summary(flood).splitlines()
    assert len(lines) < 30
    assert lines.index("Errors  1") < lines.index("Warnings  20,000")
    assert " 19,900  and 1,990 more kinds of warnings, see --report FILE" in lines
    assert lines[-1] == "ported 101 of 101 files, 0 edits, 1 error, 20,000 warnings"


def test_the_largest_groups_are_shown(finding: Callable[..., Finding], file: Callable[..., FileResult]) -> None:
    findings = [finding(name=f"name{number:02}") for number in range(30) for _ in range(number + 1)]
    text = summary(Report("1", "s", "o", "port", [file("a.cu", *findings)]))
    shown = [line.split()[1].removesuffix(":") for line in text.splitlines() if "[C2 warp-size]" in line]
    assert shown == [f"name{number}" for number in range(29, 19, -1)]


def test_many_reasons_are_cut(file: Callable[..., FileResult]) -> None:
    files = [file(f"{number}.h", status=FileStatus.SKIPPED, reason=f"reason {number}") for number in range(20)]
    report = Report("1", "s", "o", "port", files)
    assert "     12  for 12 more reasons, see --report FILE\n" in summary(report)
    assert reports.render(report, "text").count("skipped: reason") == 20


def test_every_place_is_in_the_full_account(flood: Report) -> None:
    text = reports.render(flood, "text")
    assert all(text.count(f" f{number}.cu:200:5") == 1 for number in range(100))


@pytest.mark.parametrize("kind", ["file", "pipe", "terminal"])
def test_foreign_text_controls_nothing(kind: str, hostile: Report) -> None:
    text = (
        reports.render(hostile, "text") if kind == "file" else summary(hostile, terminal=kind == "terminal", width=500)
    )
    for expected in (r"\x1b[31m", r"\u202e", r"\u2028", r"\xe9", "[f](g)"):
        assert expected in text
    assert "\x1b[31m\\u202e" not in text
    assert not {"\u202e", "\u2028", "\udce9"} & set(text)
    assert kind == "terminal" or "\x1b" not in text


def test_markup_of_rich_is_text(finding: Callable[..., Finding], file: Callable[..., FileResult]) -> None:
    findings = [finding(message="[bold]x[/bold] [/] :smile:", path="[red]a.cu")]
    report = Report("1", "[link=x]s", "o", "port", [file("a.cu", *findings)])
    for text in (summary(report), summary(report, terminal=True, width=200)):
        assert "[bold]x[/bold] [/] :smile:" in text
        assert "[red]a.cu:3:5" in text
        assert "[link=x]s" in text


def test_colours_only_on_a_terminal(report: Report) -> None:
    assert "\x1b[1;31mErrors" in summary(report, terminal=True)
    assert "\x1b" not in summary(report)


def test_long_lines_wrap_on_a_terminal_only(finding: Callable[..., Finding], file: Callable[..., FileResult]) -> None:
    findings = [finding(severity=Severity.ERROR, message="word " * 40 + "end")]
    report = Report("1", "s", "o", "port", [file("a.cu", *findings)])
    assert "word " * 40 + "end  a.cu:3:5  [C2 warp-size]\n" in summary(report, width=40)
    wrapped = [line for line in summary(report, terminal=True, width=40).splitlines() if "word" in line]
    assert len(wrapped) > 4
    assert all(line.startswith("         word") for line in wrapped[1:])
