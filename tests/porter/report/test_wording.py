"""The verdict and the other words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from musa_port import report as reports
from musa_port.model import FileResult, FileStatus, Finding, Report, Severity
from musa_port.report import wording


def test_verdict_of_an_ordinary_run(report: Report) -> None:
    assert reports.verdict(report) == "ported 2 of 8 files, 3 edits, 2 errors, 1 warning, 1 file failed"


def test_verdict_of_a_run_that_only_looked(report: Report) -> None:
    report.mode = "check"
    assert reports.verdict(report).startswith("would port 2 of 8 files, ")
    report.mode = "diff"
    assert reports.verdict(report).startswith("would port 2 of 8 files, ")
    report.mode = "in-place"
    assert reports.verdict(report).startswith("ported 2 of 8 files, ")


def test_verdict_without_files(empty: Report) -> None:
    assert reports.verdict(empty) == "no files found"


def test_verdict_writes_large_numbers_with_commas(
    finding: Callable[..., Finding], file: Callable[..., FileResult]
) -> None:
    error = finding(severity=Severity.ERROR)
    files = [file("a.cu", *[error] * 1001, edit_count=2345)] + [
        file(f"{number}.h", status=FileStatus.UNCHANGED) for number in range(1000)
    ]
    report = Report("1", "s", "o", "port", files)
    assert reports.verdict(report) == "ported 1 of 1,001 files, 2,345 edits, 1,001 errors, 0 warnings"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("a", "b"), "a. b"),
        (("a.", "b"), "a. b"),
        (("a?", "b."), "a? b."),
        (("a", ""), "a"),
        (("", "b"), "b"),
        ((" a ", "  "), "a"),
        (("完成。", "b"), "完成。 b"),
        (("", ""), ""),
    ],
)
def test_sentences(texts: tuple[str, str], expected: str) -> None:
    assert wording.sentences(*texts) == expected


def test_headline_names_the_name_once(finding: Callable[..., Finding]) -> None:
    assert wording.headline(finding(name="cudaX", message="is new")) == "cudaX: is new"
    assert wording.headline(finding(name="cudaX", message="cudaX is new")) == "cudaX is new"
    assert wording.headline(finding(name="", message="is new")) == "is new"
