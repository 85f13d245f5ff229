"""The `json` format: everything that a run found and did, for programs.

The file is one JSON object in UTF-8. `schema.json` beside this module is its JSON Schema. Each entry of `files` stands
on a line of its own, so that line-based tools and version control work on it too.

    schema     "musa-port-report/1"; the number rises when a field changes its meaning or goes, not when one is added
    tool       {name, version}
    run        {source, output, mode, elapsed_seconds, options}; `output` is null when nothing was written,
               `mode` is port, check, diff or in-place, `options` are those that were not at their default
    summary    {verdict, files, edits, statuses: {status: files}, findings: {severity: findings}}
    rules      [{id, name, severity, summary, why, advice, evidence, example}], the rules that findings and edits name;
               `example` is {before, after} or null
    unsupported  [{name, uses, files, advice}], names without a counterpart on MUSA, the most used first
    files      [{path, output_path, language, status, reason, size, edit_count, edits, findings, names}]
               edits     [{line, column, old, new, rule, confidence}], or null when the run did not keep them
               findings  [{rule, severity, path, line, column, message, advice, old, new, changed, name, function,
                         source_line}]
               names     {name: {uses, status}}, the API names met in the file

Lines and columns count from 1, columns in Unicode code points. Paths are relative to `run.source` (`output_path`: to
`run.output`), with forward slashes. A byte of a file name that is not UTF-8 is written as `\\xNN`.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from musa_port.model import FileResult, Report
from musa_port.report import facts, registry, wording
from musa_port.report.safe import encodable
from musa_port.rules import Rule

SCHEMA = "musa-port-report/1"


@registry.register("json", ".json")
def stream(report: Report) -> Iterator[str]:
    """The report as JSON, file by file."""
    return document(report, edits=True)


def document(report: Report, *, edits: bool) -> Iterator[str]:
    """The JSON report in pieces; without `edits`, each file's `edits` is null."""
    yield "{\n"
    for key, value in _head(report, edits).items():
        yield f"{dumps(key)}: {dumps(value)},\n"
    yield '"files": ['
    for index, file in enumerate(report.files):
        yield (",\n" if index else "\n") + dumps(_file(file, edits))
    yield "\n]\n}\n"


def dumps(value: Any) -> str:
    """Compact JSON that can always be encoded as UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return encodable(text, backslash="\\\\")


def _plain(value: Any) -> Any:
    """Values of options that JSON does not know."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, PurePath):
        return value.as_posix()
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)


def _head(report: Report, edits: bool) -> dict[str, Any]:
    used = {finding.rule for finding in report.findings()}
    if edits:
        used.update(edit.rule for file in report.files for edit in file.edits if edit.rule)
    return {
        "schema": SCHEMA,
        "tool": {"name": "musa-port", "version": report.version},
        "run": {
            "source": report.source,
            "output": report.output,
            "mode": report.mode,
            "elapsed_seconds": round(report.elapsed_seconds, 3),
            "options": report.options,
        },
        "summary": {
            "verdict": wording.verdict(report),
            "files": len(report.files),
            "edits": report.edit_count,
            "statuses": {status.value: count for status, count in report.status_counts().items()},
            "findings": {severity.value: count for severity, count in report.severity_counts().items()},
        },
        "rules": [_rule(rule) for rule in facts.rule_infos(used).values()],
        "unsupported": [
            {"name": entry.name, "uses": entry.uses, "files": entry.files, "advice": entry.advice}
            for entry in facts.unsupported_names(report)
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    example = rule.example and {"before": rule.example[0], "after": rule.example[1]}
    return {
        "id": rule.id,
        "name": rule.name,
        "severity": rule.severity.value,
        "summary": rule.summary,
        "why": rule.why,
        "advice": rule.advice,
        "evidence": rule.evidence,
        "example": example,
    }


def _file(file: FileResult, edits: bool) -> dict[str, Any]:
    listed = edits and len(file.edits) == file.edit_count
    return {
        "path": file.path,
        "output_path": file.output_path,
        "language": file.language,
        "status": file.status.value,
        "reason": file.reason,
        "size": file.size,
        "edit_count": file.edit_count,
        "edits": [edit._asdict() for edit in file.edits] if listed else None,
        "findings": [finding._asdict() for finding in file.findings],
        "names": {name: {"uses": uses, "status": status} for name, (uses, status) in file.names.items()},
    }
