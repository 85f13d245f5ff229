"""The `json` format, checked against its schema and by reading it back."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema
import pytest

from musa_port import report as reports
from musa_port.model import Edit, FileResult, FileStatus, Finding, Report, Severity
from musa_port.report import as_json

SCHEMA = json.loads((resources.files("musa_port.report") / "schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def parsed(report: Report) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(reports.render(report, "json"))
    return result


def read_back(record: dict[str, Any]) -> FileResult:
    findings = [Finding(**{**entry, "severity": Severity(entry["severity"])}) for entry in record.pop("findings")]
    edits = [Edit(**entry) for entry in record.pop("edits")]
    names = {name: (entry["uses"], entry["status"]) for name, entry in record.pop("names").items()}
    status = FileStatus(record.pop("status"))
    return FileResult(**record, status=status, findings=findings, edits=edits, names=names)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema"]["const"] == as_json.SCHEMA


@pytest.mark.parametrize("kind", ["report", "empty", "hostile", "flood"])
def test_reports_follow_the_schema(kind: str, request: pytest.FixtureRequest) -> None:
    VALIDATOR.validate(parsed(request.getfixturevalue(kind)))


def test_the_schema_knows_every_field(report: Report) -> None:
    document = parsed(report)
    document["files"][0]["findings"][0]["extra"] = 1
    del document["files"][0]["edits"][0]["confidence"]
    document["files"][1]["status"] = "lost"
    paths = sorted(list(error.absolute_path) for error in VALIDATOR.iter_errors(document))
    assert paths == [["files", 0, "edits", 0], ["files", 0, "findings", 0], ["files", 1, "status"]]


def test_every_edit_and_finding_can_be_read_back(report: Report) -> None:
    assert [read_back(record) for record in parsed(report)["files"]] == report.files


def test_head(report: Report) -> None:
    document = parsed(report)
    assert document["schema"] == "musa-port-report/1"
    assert document["tool"] == {"name": "musa-port", "version": "1.2.3"}
    assert document["run"] == {
        "source": "src",
        "output": "out",
        "mode": "port",
        "elapsed_seconds": 1.25,
        "options": {"jobs": 2, "arch": ["mp_31"], "map": ["m.csv"]},
    }
    assert document["summary"] == {
        "verdict": reports.verdict(report),
        "files": 8,
        "edits": 3,
        "statuses": {"ported": 2, "unchanged": 1, "copied": 1, "skipped": 2, "left-out": 1, "failed": 1},
        "findings": {"error": 2, "warning": 1, "info": 2},
    }
    assert document["unsupported"] == [{"name": "cudaNothing", "uses": 2, "files": 1, "advice": "Remove it"}]


def test_rules_that_findings_and_edits_name(report: Report) -> None:
    described = {rule["id"]: rule for rule in parsed(report)["rules"]}
    assert list(described) == ["C2", "C10", "C20", "Z99"]
    assert described["C20"]["example"] == {"before": "cuda<T>();", "after": "musa<T>();"}
    assert described["C2"]["why"] == "Some devices have 128."
    assert described["Z99"]["name"] == "Z99"


def test_edits_that_were_not_kept_are_null_rather_than_none_made(report: Report) -> None:
    report.files[0].edits = []
    first, second, third, *_ = parsed(report)["files"]
    assert (first["edit_count"], first["edits"]) == (2, None)
    assert second["edits"] == [report.files[1].edits[0]._asdict()]
    assert (third["edit_count"], third["edits"]) == (0, [])
    VALIDATOR.validate(parsed(report))


def test_options_of_any_kind(empty: Report) -> None:
    empty.options = {"only": frozenset({"b", "a"}), "severity": Severity.ERROR, "object": object, "none": None}
    options = parsed(empty)["run"]["options"]
    assert options["only"] == ["a", "b"]
    assert options["severity"] == "error"
    assert options["none"] is None
    VALIDATOR.validate(parsed(empty))


def test_text_is_exact_except_for_undecodable_bytes(hostile: Report) -> None:
    record = parsed(hostile)["files"][0]
    original = hostile.files[0].findings[0]
    assert record["path"] == original.path.replace("\udce9", "\\xe9")
    assert record["findings"][0]["source_line"] == original.source_line.replace("\udce9", "\\xe9")


def test_each_file_is_a_line(report: Report) -> None:
    text = reports.render(report, "json")
    start = text.index('"files": [\n') + len('"files": [\n')
    lines = text[start:].removesuffix("\n]\n}\n").split("\n")
    assert [json.loads(line.removesuffix(","))["path"] for line in lines] == [file.path for file in report.files]


def test_a_large_report_comes_in_small_pieces(flood: Report) -> None:
    pieces = list(as_json.stream(flood))
    assert len(pieces) > len(flood.files)
    assert max(map(len, pieces)) < sum(map(len, pieces)) / 50
