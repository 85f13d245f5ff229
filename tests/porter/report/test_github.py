"""The `github` format, read back as a runner reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from musa_port import report as reports
from musa_port.model import FileResult, Finding, Report

LINE = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


class Command(NamedTuple):
    level: str
    properties: dict[str, str]
    message: str


def unescaped(text: str, *, is_property: bool) -> str:
    if is_property:
        text = text.replace("%3A", ":").replace("%2C", ",")
    return text.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")


def commands(report: Report) -> list[Command]:
    result = []
    for line in reports.render(report, "github").removesuffix("\n").split("\n"):
        match = LINE.fullmatch(line)
        assert match, line
        pairs = (pair.split("=", 1) for pair in match[2].split(","))
        properties = {key: unescaped(value, is_property=True) for key, value in pairs}
        result.append(Command(match[1], properties, unescaped(match[3], is_property=False)))
    return result


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return tmp_path


def test_commands_in_order(report: Report) -> None:
    path = "src/src/核心/a b#1.cu"
    assert commands(report) == [
        Command("error", {"file": "src/h.cu", "title": "file not ported"}, "Permission denied"),
        Command(
            "error",
            {"file": path, "line": "9", "col": "14", "endColumn": "25", "title": "C10 no-such-name"},
            "has no counterpart. Remove it",
        ),
        Command(
            "error",
            {"file": path, "line": "9", "col": "30", "endColumn": "41", "title": "C10 no-such-name"},
            "has no counterpart. Remove it",
        ),
        Command("warning", {"file": path, "line": "12", "col": "3", "title": "C2 warp-size"}, "assumes 32 threads."),
        Command(
            "notice",
            {"file": "src/b.cuh", "line": "2", "col": "1", "endColumn": "6", "title": "C20 renamed"},
            "renamed",
        ),
        Command("notice", {"file": "src/b.cuh", "line": "1", "col": "1", "title": "Z99"}, "about the whole file"),
        Command("notice", {"title": "musa-port"}, reports.verdict(report)),
    ]


def test_special_characters_survive(finding: Callable[..., Finding], file: Callable[..., FileResult]) -> None:
    path = "a:b,c%3A=d\n::error::e.cu"
    message = "100% of %0A:\n::error::\r,=:"
    report = Report("1", ".", "o", "port", [file(path, finding(path=path, message=message))])
    (command, _verdict) = commands(report)
    assert command.properties["file"] == path
    assert command.message == message


def test_hostile_text_starts_no_command_of_its_own(hostile: Report) -> None:
    assert [command.level for command in commands(hostile)] == ["error", "warning", "notice", "notice"]


def test_the_first_place_of_each_name_comes_first(
    finding: Callable[..., Finding], file: Callable[..., FileResult]
) -> None:
    names = ["a", "a", "a", "b", "b", "c"]
    findings = [finding(name=name, message=name, line=line) for line, name in enumerate(names, start=1)]
    shown = commands(Report("1", "s", "o", "port", [file("a.cu", *findings)]))[:-1]
    assert [(command.message, command.properties["line"]) for command in shown] == [
        *[("a", "1"), ("b", "4"), ("c", "6")],
        *[("a", "2"), ("a", "3"), ("b", "5")],
    ]


def test_a_flood_is_cut_and_says_so(flood: Report) -> None:
    shown = commands(flood)
    assert [command.level for command in shown].count("warning") == 200
    assert shown[0].message == "the error"
    assert shown[-2].message == "19,800 more warnings: see the other report formats"


@pytest.mark.parametrize(
    ("source", "expected"), [(".", "a.cu"), ("src", "src/a.cu"), ("./src/../src/", "src/a.cu"), ("/away", "/away/a.cu")]
)
def test_paths_start_at_the_workspace(
    source: str, expected: str, finding: Callable[..., Finding], file: Callable[..., FileResult]
) -> None:
    report = Report("1", source, "o", "port", [file("a.cu", finding())])
    assert commands(report)[0].properties["file"] == expected


def test_the_workspace_may_be_above_the_current_folder(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, finding: Callable[..., Finding], file: Callable[..., FileResult]
) -> None:
    (workspace / "sub").mkdir()
    monkeypatch.chdir(workspace / "sub")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(workspace))
    report = Report("1", "src", "o", "port", [file("a.cu", finding())])
    assert commands(report)[0].properties["file"] == "sub/src/a.cu"
