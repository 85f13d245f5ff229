"""The `sarif` format, checked against the schema of the standard."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import jsonschema
import pytest

from musa_port import report as reports
from musa_port.model import FileResult, Finding, Report, Severity

SCHEMA = json.loads((Path(__file__).parent / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA)
URI_CHARACTERS = re.compile(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+")


def parsed(report: Report) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(reports.render(report, "sarif"))
    VALIDATOR.validate(document)
    return document


def run_of(report: Report) -> dict[str, Any]:
    (run,) = parsed(report)["runs"]
    assert isinstance(run, dict)
    return run


def test_the_schema_is_that_of_the_standard_and_rejects_mistakes(report: Report) -> None:
    assert SCHEMA["id"].endswith("/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
    document = parsed(report)
    document["runs"][0]["results"][0]["level"] = "info"
    document["runs"][0]["tool"]["driver"]["rule"] = []
    assert len(list(VALIDATOR.iter_errors(document))) == 2


@pytest.mark.parametrize("kind", ["empty", "hostile", "flood"])
def test_reports_follow_the_schema(kind: str, request: pytest.FixtureRequest) -> None:
    report = request.getfixturevalue(kind)
    assert len(run_of(report)["results"]) == len(list(report.findings()))


def test_head(report: Report) -> None:
    document = parsed(report)
    assert (document["version"], document["$schema"]) == ("2.1.0", SCHEMA["id"])
    run = document["runs"][0]
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("musa-port", "1.2.3")


def test_rules(report: Report) -> None:
    rules = run_of(report)["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["C2", "C10", "C20", "Z99"]
    warp = rules[0]
    assert warp["name"] == "warp-size"
    assert warp["defaultConfiguration"] == {"level": "warning"}
    assert warp["shortDescription"]["text"] == "Reports code that assumes 32 threads in a warp."
    assert warp["fullDescription"]["text"].endswith("in a warp. Some devices have 128.")
    assert "Use warpSize." in warp["help"]["text"]
    assert "```cpp\nx & 31\n```" in warp["help"]["markdown"]
    assert "After:\n\nmusa<T>();" in rules[2]["help"]["text"]


def test_results_point_to_their_rule_and_level(report: Report) -> None:
    run = run_of(report)
    rules = run["tool"]["driver"]["rules"]
    levels = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    for result, finding in zip(run["results"], report.findings(), strict=True):
        assert result["ruleId"] == finding.rule == rules[result["ruleIndex"]]["id"]
        assert result["level"] == levels[finding.severity]
    assert run["results"][0]["message"]["text"] == "has no counterpart. Remove it"


@pytest.mark.parametrize("kind", ["report", "hostile"])
def test_addresses_lead_back_to_the_files(kind: str, request: pytest.FixtureRequest) -> None:
    report = request.getfixturevalue(kind)
    run = run_of(report)
    for result, finding in zip(run["results"], report.findings(), strict=True):
        address = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert URI_CHARACTERS.fullmatch(address["uri"])
        assert unquote_to_bytes(address["uri"]) == os.fsencode(finding.path)
        assert address["uriBaseId"] == "SRCROOT"
    root = urlsplit(run["originalUriBaseIds"]["SRCROOT"]["uri"])
    assert root.scheme == "file"
    assert root.path.endswith("/")
    assert unquote_to_bytes(root.path).rstrip(b"/") == os.path.abspath(os.fsencode(report.source))


def test_regions_count_code_points(report: Report) -> None:
    results = run_of(report)["results"]
    line = next(report.findings()).source_line
    for result in results[:2]:
        location = result["locations"][0]["physicalLocation"]
        region = location["region"]
        assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "cudaNothing"
        assert region["snippet"]["text"] == "cudaNothing"
        assert location["contextRegion"] == {"startLine": 9, "snippet": {"text": line}}
        assert result["locations"][0]["logicalLocations"] == [{"name": "void f()", "kind": "function"}]


def test_region_over_two_lines(report: Report) -> None:
    region = run_of(report)["results"][2]["locations"][0]["physicalLocation"]["region"]
    assert region == {
        "startLine": 12,
        "startColumn": 3,
        "endLine": 13,
        "endColumn": 7,
        "snippet": {"text": "x &\n    31"},
    }


@pytest.mark.parametrize(
    ("changes", "snippet", "context"),
    [
        ({"column": 3, "old": "f", "source_line": "  f(x);"}, "f", "  f(x);"),
        ({"column": 1, "old": "f(x);", "source_line": "f(x);"}, "f(x);", None),
        ({"column": 3, "old": "f(\nx)", "source_line": "  f("}, "f(\nx)", None),
        ({"column": 3, "old": "", "source_line": "  f(x);"}, "f(x);", "  f(x);"),
        ({"column": 1, "old": "", "source_line": "f(x);"}, "f(x);", None),
        ({"line": 1, "column": 1}, None, None),
    ],
)
def test_a_context_holds_more_than_its_region(
    changes: dict[str, Any],
    snippet: str | None,
    context: str | None,
    finding: Callable[..., Finding],
    file: Callable[..., FileResult],
) -> None:
    report = Report("1", "s", "o", "port", [file("a.cu", finding(**changes))])
    location = run_of(report)["results"][0]["locations"][0]["physicalLocation"]
    assert location["region"].get("snippet", {}).get("text") == snippet
    assert location.get("contextRegion", {}).get("snippet", {}).get("text") == context


def test_what_was_changed_is_a_property(report: Report) -> None:
    results = run_of(report)["results"]
    assert results[3]["properties"] == {"changed": True, "old": "cudaA", "new": "musaA", "name": "cudaA"}
    assert results[4]["properties"] == {"changed": False}


@pytest.fixture
def prints(file: Callable[..., FileResult]) -> Callable[..., list[str]]:
    """The fingerprints of findings in one file."""

    def make(*findings: Finding) -> list[str]:
        report = Report("1", "s", "o", "port", [file("a.cu", *findings)])
        return [result["partialFingerprints"]["musaPort/v1"] for result in run_of(report)["results"]]

    return make


def test_fingerprints_survive_moved_and_indented_lines(
    prints: Callable[..., list[str]], finding: Callable[..., Finding]
) -> None:
    before = finding(line=3, column=1, source_line="f(x);", old="f")
    after = finding(line=99, column=9, source_line="        f(x);", old="f", message="worded anew")
    assert prints(before) == prints(after)


@pytest.mark.parametrize(
    "change", [{"rule": "C10"}, {"path": "b.cu"}, {"source_line": "f(y);"}, {"old": "g"}, {"name": "g"}]
)
def test_fingerprints_tell_findings_apart(
    change: dict[str, str], prints: Callable[..., list[str]], finding: Callable[..., Finding]
) -> None:
    assert prints(finding(source_line="f(x);")) != prints(finding(**({"source_line": "f(x);"} | change)))


def test_fingerprints_of_equal_lines_are_numbered(
    prints: Callable[..., list[str]], finding: Callable[..., Finding]
) -> None:
    same = finding(source_line="f(x);")
    made = prints(same, same._replace(line=50), same._replace(line=70))
    assert len(set(made)) == 3
    assert made[:2] == prints(same, same._replace(line=51))


def test_files_not_ported_are_notifications(report: Report) -> None:
    run = run_of(report)
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    descriptors = run["tool"]["driver"]["notifications"]
    seen = []
    for entry in invocation["toolExecutionNotifications"]:
        assert descriptors[entry["descriptor"]["index"]]["id"] == entry["descriptor"]["id"]
        uri = entry["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        seen.append((uri, entry["level"], entry["message"]["text"]))
    assert seen == [
        ("third/e.h", "note", "The file was deliberately not ported. vendored copy of CUB"),
        ("third/f.h", "note", "The file was deliberately not ported. vendored copy of CUB"),
        ("g.h", "warning", "The file is not in the output. link that leaves the tree"),
        ("h.cu", "error", "The file could not be read or written. Permission denied"),
    ]


def test_a_run_without_failed_files_is_successful(report: Report) -> None:
    report.files = report.files[:-1]
    assert run_of(report)["invocations"][0]["executionSuccessful"] is True


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("asm {0} {12} {x} {}", "asm {{0}} {{12}} {x} {}"),
        ("a lambda [](int x) and a[0]", "a lambda \\[](int x) and a[0]"),
        ("see [text](1) there", "see \\[text](1) there"),
    ],
)
def test_messages_are_not_read_as_placeholders_or_links(
    message: str, expected: str, finding: Callable[..., Finding], file: Callable[..., FileResult]
) -> None:
    report = Report("1", "s", "o", "port", [file("a.cu", finding(message=message, source_line=message))])
    (result,) = run_of(report)["results"]
    assert result["message"]["text"] == expected
    assert result["locations"][0]["physicalLocation"]["contextRegion"]["snippet"]["text"] == message
