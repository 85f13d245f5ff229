"""The `sarif` format: SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from musa_port.model import FileResult, FileStatus, Finding, Report, Severity
from musa_port.report import facts, registry, wording
from musa_port.report.as_json import dumps
from musa_port.rules import Rule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
#: Statuses that become notifications: descriptor id, level, what it says.
_NOTIFICATIONS = {
    FileStatus.FAILED: ("file-failed", "error", "The file could not be read or written."),
    FileStatus.LEFT_OUT: ("file-left-out", "warning", "The file is not in the output."),
    FileStatus.SKIPPED: ("file-skipped", "note", "The file was deliberately not ported."),
}
_FINGERPRINT = "musaPort/v1"
# What SARIF would read as a placeholder or as a link in a message: `{0}`, `[text](target)`.
_PLACEHOLDER = re.compile(r"\{(\d+)\}")
_LINK = re.compile(r"\[(?=[^\[\]]*\]\()")


@registry.register("sarif", ".sarif", ".sarif.json")
def stream(report: Report) -> Iterator[str]:
    """The report as one SARIF run, result by result."""
    infos = facts.rule_infos(finding.rule for finding in report.findings())
    indexes = {rule_id: index for index, rule_id in enumerate(infos)}
    fingerprints = _Fingerprints()
    yield f'{{"$schema":{dumps(_SCHEMA)},"version":"2.1.0","runs":[{{\n'
    for key, value in _run(report, list(infos.values())).items():
        yield f"{dumps(key)}:{dumps(value)},\n"
    yield '"results":['
    for number, finding in enumerate(report.findings()):
        result = _result(finding, indexes[finding.rule], fingerprints.of(finding))
        yield (",\n" if number else "\n") + dumps(result)
    yield "\n]}]}\n"


def _run(report: Report, infos: list[Rule]) -> dict[str, Any]:
    return {
        "tool": {"driver": _driver(report, infos)},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {_ROOT: {"uri": _root_uri(report.source), "description": _text("The source tree.")}},
        "columnKind": "unicodeCodePoints",
    }


def _driver(report: Report, infos: list[Rule]) -> dict[str, Any]:
    return {
        "name": "musa-port",
        "version": report.version,
        "shortDescription": _text("Ports CUDA sources to MUSA."),
        "rules": [_rule(rule) for rule in infos],
        "notifications": [
            {"id": name, "shortDescription": _text(text), "defaultConfiguration": {"level": level}}
            for name, level, text in _NOTIFICATIONS.values()
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    summary = rule.summary or rule.name
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": _message(summary),
        "fullDescription": _message(wording.sentences(summary, rule.why)),
        "help": {"text": _help(rule, markdown=False), "markdown": _help(rule, markdown=True)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        **({"properties": {"evidence": rule.evidence}} if rule.evidence else {}),
    }


def _help(rule: Rule, *, markdown: bool) -> str:
    parts = [rule.summary or rule.name, rule.why, rule.advice]
    if rule.example:
        before, after = rule.example
        samples = [("Example:", before)] if before == after else [("Before:", before), ("After:", after)]
        parts += [f"{label}\n\n{_code(sample) if markdown else sample}" for label, sample in samples]
    return "\n\n".join(part for part in parts if part)


def _code(sample: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", sample)), default=0))
    return f"{fence}cpp\n{sample}\n{fence}"


def _invocation(report: Report) -> dict[str, Any]:
    failed = any(file.status is FileStatus.FAILED for file in report.files)
    return {
        "executionSuccessful": not failed,
        "toolExecutionNotifications": [_notification(file) for file in report.files if file.status in _NOTIFICATIONS],
        "properties": {"mode": report.mode, "verdict": wording.verdict(report), "options": report.options},
    }


def _notification(file: FileResult) -> dict[str, Any]:
    name, level, text = _NOTIFICATIONS[file.status]
    return {
        "descriptor": {"id": name, "index": list(_NOTIFICATIONS).index(file.status)},
        "level": level,
        "message": _message(wording.sentences(text, wording.reason(file))),
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(file.path)}}],
    }


def _result(finding: Finding, rule_index: int, fingerprint: str) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": _physical(finding)}
    if finding.function:
        location["logicalLocations"] = [{"name": finding.function, "kind": "function"}]
    details = {"changed": finding.changed, "old": finding.old, "new": finding.new, "name": finding.name}
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": _message(wording.with_advice(finding) or finding.rule),
        "locations": [location],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
        "properties": {key: value for key, value in details.items() if value != ""},
    }


def _physical(finding: Finding) -> dict[str, Any]:
    location = {"artifactLocation": _artifact(finding.path), "region": _region(finding)}
    if _is_part_of_line(finding):
        location["contextRegion"] = {"startLine": finding.line, "snippet": _text(finding.source_line)}
    return location


def _is_part_of_line(finding: Finding) -> bool:
    """A context must hold more than the region that it is the context of."""
    region = finding.old or finding.source_line[finding.column - 1 :]
    return "\n" not in region and len(region) < len(finding.source_line)


def _region(finding: Finding) -> dict[str, Any]:
    """The place of `old`; without it, the rest of the line."""
    region: dict[str, Any] = {"startLine": finding.line, "startColumn": finding.column}
    if not finding.old:
        rest = finding.source_line[finding.column - 1 :]
        return region | ({"snippet": _text(rest)} if rest else {})
    lines = finding.old.split("\n")
    if len(lines) == 1:
        region["endColumn"] = finding.column + len(finding.old)
    else:
        region |= {"endLine": finding.line + len(lines) - 1, "endColumn": 1 + len(lines[-1])}
    return region | {"snippet": _text(finding.old)}


def _artifact(path: str) -> dict[str, Any]:
    return {"uri": quote(os.fsencode(path)), "uriBaseId": _ROOT}


def _root_uri(source: str) -> str:
    return Path(os.path.abspath(source)).as_uri().rstrip("/") + "/"  # not resolve(): the tree as the user named it


def _text(text: str) -> dict[str, str]:
    return {"text": text}


def _message(text: str) -> dict[str, str]:
    return _text(_LINK.sub(r"\\[", _PLACEHOLDER.sub(r"{{\1}}", text)))


class _Fingerprints:
    """Identifies a finding by what it says about which text, not by the line where the text stands today."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of(self, finding: Finding) -> str:
        code = " ".join(finding.source_line.split())
        identity = "\0".join((finding.rule, finding.path, finding.name, finding.old, code))
        digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._seen[digest] += 1
        return f"{digest}:{self._seen[digest]}"
