"""What the formats say about a report beyond its plain contents: groups, unsupported names, files not ported."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from musa_port import rules
from musa_port.model import FileResult, FileStatus, Finding, Report, Severity
from musa_port.report import wording
from musa_port.report.safe import printable

_UNSUPPORTED = frozenset({"unsupported", "none"})
_NOT_PORTED = (FileStatus.FAILED, FileStatus.LEFT_OUT, FileStatus.SKIPPED)


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one severity that share rule and name, in the order of the report."""

    severity: Severity
    rule: str
    name: str
    findings: list[Finding] = field(default_factory=list)

    @property
    def first(self) -> Finding:
        return self.findings[0]

    @property
    def file_count(self) -> int:
        return len({finding.path for finding in self.findings})


def groups(findings: Iterable[Finding]) -> list[Group]:
    """Findings grouped by severity, rule and name: the most severe first.

    Among those, the ones about whole files come before the rest, then the largest.
    """
    found: dict[tuple[Severity, str, str], Group] = {}
    for finding in findings:
        key = (finding.severity, finding.rule, finding.name)
        found.setdefault(key, Group(*key)).findings.append(finding)
    return sorted(
        found.values(), key=lambda g: (g.severity.rank, g.rule[0] != "F", -len(g.findings), _rule_order(g.rule), g.name)
    )


@dataclass(slots=True)
class UnsupportedName:
    """A name that has no counterpart on MUSA, and how much of the tree needs it."""

    name: str
    uses: int = 0
    files: int = 0
    advice: str = ""


def unsupported_names(report: Report) -> list[UnsupportedName]:
    """Names without a counterpart and names that errors are about; the most used first."""
    found: dict[str, UnsupportedName] = {}
    for file in report.files:
        for name, uses in _unsupported_uses(file).items():
            entry = found.setdefault(name, UnsupportedName(name))
            entry.uses += uses
            entry.files += 1
    for finding in report.findings():
        if (known := found.get(finding.name)) and not known.advice and finding.severity is Severity.ERROR:
            known.advice = finding.advice or finding.message
    return sorted(found.values(), key=lambda entry: (-entry.uses, entry.name))


def _unsupported_uses(file: FileResult) -> dict[str, int]:
    from_errors = Counter(f.name for f in file.findings if f.name and f.severity is Severity.ERROR)
    from_names = {name: uses for name, (uses, status) in file.names.items() if status in _UNSUPPORTED}
    return from_errors | from_names


@dataclass(frozen=True, slots=True)
class NotPorted:
    """Files that were not ported for the same reason."""

    status: FileStatus
    reason: str
    paths: list[str] = field(default_factory=list)


def not_ported(report: Report) -> list[NotPorted]:
    """Failed, left-out and skipped files grouped by reason: failures first, then the largest groups."""
    found: dict[tuple[FileStatus, str], NotPorted] = {}
    for file in report.files:
        if file.status in _NOT_PORTED:
            key = (file.status, wording.reason(file))
            found.setdefault(key, NotPorted(*key)).paths.append(file.path)
    return sorted(found.values(), key=lambda n: (_NOT_PORTED.index(n.status), -len(n.paths), n.reason))


class Health(enum.Enum):
    """The state of a file in one word, for the bar of the HTML report. In the order of the bar."""

    CLEAN = "nothing to look at"
    NOTES = "with notes"
    WARNINGS = "with warnings"
    ERRORS = "with errors"
    FAILED = "failed"
    NOT_EXAMINED = "skipped or copied"


_BY_SEVERITY = {Severity.ERROR: Health.ERRORS, Severity.WARNING: Health.WARNINGS, Severity.INFO: Health.NOTES}


def health(file: FileResult) -> Health:
    """The worst that there is to say about a file."""
    if file.status is FileStatus.FAILED:
        return Health.FAILED
    if file.findings:
        return _BY_SEVERITY[min((f.severity for f in file.findings), key=lambda severity: severity.rank)]
    if file.status in (FileStatus.PORTED, FileStatus.UNCHANGED):
        return Health.CLEAN
    return Health.NOT_EXAMINED


def rule_info(rule_id: str) -> rules.Rule:
    """What is known about a rule; an unregistered id gives a rule that has only this id."""
    try:
        return rules.get(rule_id)
    except KeyError:
        return rules.Rule(id=rule_id, name=rule_id, severity=Severity.WARNING, summary="")


def rule_label(rule_id: str) -> str:
    """Id and name, as in `C31 warp-size`."""
    rule = rule_info(rule_id)
    return printable(rule.id if rule.name == rule.id else f"{rule.id} {rule.name}")


def rule_infos(ids: Iterable[str]) -> dict[str, rules.Rule]:
    """Each of `ids` once, in order, with what is known about the rule."""
    return {rule_id: rule_info(rule_id) for rule_id in sorted(set(ids), key=_rule_order)}


def _rule_order(rule_id: str) -> tuple[str, int, str]:
    """`C2` before `C10`."""
    letters = rule_id.rstrip("0123456789")
    return letters, int(rule_id[len(letters) :] or 0), rule_id
