"""The `github` format: workflow commands that GitHub Actions shows beside the lines of a pull request.

GitHub shows only the first few commands of a step. So errors come before warnings, within a severity the first place of
each rule and name comes before its other places, and a flood is cut: what is left out would fill the log of the step.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from musa_port.model import FileResult, FileStatus, Finding, Report, Severity
from musa_port.report import facts, registry, wording
from musa_port.report.safe import encodable

#: Commands of one severity at most.
_LIMIT = 200
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


@registry.register("github")
def stream(report: Report) -> Iterator[str]:
    """One command for each failed file and each finding, and the outcome."""
    prefix = _prefix(report.source)
    for file in report.files:
        if file.status is FileStatus.FAILED:
            yield _failure(file, prefix)
    groups = facts.groups(report.findings())
    for severity in Severity:
        findings = _ordered(group.findings for group in groups if group.severity is severity)
        for finding in findings[:_LIMIT]:
            yield _finding(finding, prefix)
        if more := len(findings[_LIMIT:]):
            text = f"{wording.count(more, f'more {wording.NOUNS[severity]}')}: see the other report formats"
            yield _command("notice", {"title": "musa-port"}, text)
    yield _command("notice", {"title": "musa-port"}, wording.verdict(report))


def _ordered(groups: Iterable[list[Finding]]) -> list[Finding]:
    """The first finding of each group, then the others."""
    listed = list(groups)
    return [*(findings[0] for findings in listed), *chain.from_iterable(findings[1:] for findings in listed)]


def _finding(finding: Finding, prefix: str) -> str:
    properties: dict[str, str | int] = {"file": prefix + finding.path, "line": finding.line, "col": finding.column}
    if finding.old and "\n" not in finding.old:
        properties["endColumn"] = finding.column + len(finding.old)
    properties["title"] = facts.rule_label(finding.rule)
    return _command(_COMMANDS[finding.severity], properties, wording.with_advice(finding))


def _failure(file: FileResult, prefix: str) -> str:
    return _command("error", {"file": prefix + file.path, "title": "file not ported"}, wording.reason(file))


def _command(command: str, properties: dict[str, str | int], message: str) -> str:
    listed = ",".join(f"{key}={str(value).translate(_IN_PROPERTY)}" for key, value in properties.items())
    return encodable(f"::{command} {listed}::{message.translate(_IN_MESSAGE)}") + "\n"


def _prefix(source: str) -> str:
    """What leads from the root of the checkout to the source tree."""
    workspace = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    absolute = Path(os.path.abspath(source))  # not resolve(): a link could lead out of the checkout
    if absolute.is_relative_to(workspace):
        absolute = absolute.relative_to(workspace)
    prefix = absolute.as_posix()
    return "" if prefix == "." else prefix.rstrip("/") + "/"
