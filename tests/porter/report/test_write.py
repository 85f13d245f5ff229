"""`render` and `write`: formats by name and extension, whole files or none, one line for each error."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from musa_port import report as reports
from musa_port.errors import UsageError
from musa_port.model import Report
from musa_port.report import output, registry

ALL = ("github", "html", "json", "md", "sarif", "text")


def test_all_formats_are_registered() -> None:
    assert reports.format_names() == ALL


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="'json' is registered twice"):
        registry.register("json")(lambda report: iter(()))


@pytest.mark.parametrize("format_name", ALL)
def test_writing_gives_what_rendering_gives(format_name: str, hostile: Report, tmp_path: Path) -> None:
    path = tmp_path / "报告"
    reports.write(hostile, path, format_name)
    assert path.read_bytes() == reports.render(hostile, format_name).encode("utf-8")


@pytest.mark.parametrize("format_name", ALL)
def test_an_empty_report_has_every_format(format_name: str, empty: Report) -> None:
    assert "no files found" in reports.render(empty, format_name).lower()


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("r.json", "json"),
        ("r.sarif", "sarif"),
        ("r.sarif.json", "sarif"),
        ("r.html", "html"),
        ("r.HTM", "html"),
        ("r.md", "md"),
        ("a.json.txt", "text"),
    ],
)
def test_the_extension_decides(name: str, format_name: str, report: Report, tmp_path: Path) -> None:
    reports.write(report, str(tmp_path / name))
    assert (tmp_path / name).read_text(encoding="utf-8") == reports.render(report, format_name)


def test_the_named_format_wins_over_the_extension(report: Report, tmp_path: Path) -> None:
    reports.write(report, tmp_path / "r.json", "md")
    assert (tmp_path / "r.json").read_text(encoding="utf-8").startswith("### ")


def test_unknown_format(report: Report, tmp_path: Path) -> None:
    with pytest.raises(reports.ReportError) as caught:
        reports.render(report, "xml")
    assert str(caught.value) == "unknown report format 'xml': expected one of github, html, json, md, sarif, text"
    with pytest.raises(reports.ReportError):
        reports.write(report, tmp_path / "r.json", "xml")
    assert list(tmp_path.iterdir()) == []


def test_unknown_extension(report: Report, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        reports.write(report, tmp_path / "report.pdf")
    expected = ".htm, .html, .json, .markdown, .md, .sarif, .sarif.json, .txt"
    assert str(caught.value) == (
        f"no report format known for 'report.pdf': expected {expected}, or name one with --format"
    )


@pytest.mark.parametrize("place", ["missing/r.json", "file/r.json", "folder.json"])
def test_a_place_that_cannot_be_written_is_one_clear_line(place: str, report: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(reports.ReportError) as caught:
        reports.write(report, tmp_path / place)
    text = str(caught.value)
    assert text.startswith("cannot write report ")
    assert str(tmp_path / place) in text
    assert "\n" not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.json"]


def test_a_failure_half_way_leaves_the_old_report_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    target.write_text("old")

    def pieces() -> Iterator[str]:
        yield "new"
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        output.write_atomically(target, pieces())
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_old_report_stays_in_place_until_the_new_one_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    target.write_text("old")
    seen = []

    def pieces() -> Iterator[str]:
        yield "new"
        seen.append(target.read_text())

    output.write_atomically(target, pieces())
    assert seen == ["old"]
    assert target.read_text() == "new"


def test_a_new_report_can_be_read_by_others(report: Report, tmp_path: Path) -> None:
    previous = os.umask(0o022)
    try:
        reports.write(report, tmp_path / "r.md")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "r.md").stat().st_mode) == 0o644


def test_a_link_to_a_report_stays_a_link(report: Report, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "r.md"
    link.symlink_to(tmp_path / "real" / "target.md")
    reports.write(report, link)
    assert link.is_symlink()
    assert (tmp_path / "real" / "target.md").read_text(encoding="utf-8") == reports.render(report, "md")


def test_a_pipe_is_written_to_and_not_replaced(report: Report, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    reports.write(report, pipe, "json")
    reader.join(timeout=10)
    assert received == [reports.render(report, "json")]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
