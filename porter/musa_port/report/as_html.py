"""The `html` format: one page without any other file, for the people who plan the work.

Totals, unsupported names and rules are in the page itself. Findings and files stand in it as JSON (the `json` format
without its list of edits), from which a script builds the rows that are looked at; so a page with tens of thousands of
findings opens at once.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from musa_port.model import FileStatus, Report, Severity
from musa_port.report import facts, registry, wording
from musa_port.report.as_json import document
from musa_port.report.safe import encodable, printable
from musa_port.rules import Rule

#: Inside a script element these could end it, or be read as markup; JSON allows to write any character as an escape.
_JSON_IN_SCRIPT = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


@dataclass(frozen=True, slots=True)
class _RuleSection:
    """A rule with findings: its documentation and how many of each severity there are."""

    rule: Rule
    counts: dict[Severity, int]
    files: int

    @property
    def worst(self) -> Severity:
        return min((severity for severity, number in self.counts.items() if number), key=lambda s: s.rank)


@registry.register("html", ".html", ".htm")
def stream(report: Report) -> Iterator[str]:
    """The page, piece by piece."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # not at the top: other formats do without

    environment = Environment(
        loader=PackageLoader("musa_port.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": printable, "number": "{:,}".format, "count": wording.count}
    yield from map(encodable, environment.get_template("page.html.j2").generate(_context(report)))


def _context(report: Report) -> dict[str, Any]:
    from markupsafe import Markup

    labels = wording.status_labels(report)
    script = _asset("page.js")
    return {
        "report": report,
        "verdict": wording.verdict(report),
        "ported": report.status_counts()[FileStatus.PORTED],
        "severities": report.severity_counts(),
        "nouns": wording.NOUNS,
        "statuses": [(status, labels[status]) for status, number in report.status_counts().items() if number],
        "dry": wording.is_dry(report),
        "bar": _bar(report),
        "unsupported": facts.unsupported_names(report),
        "sections": _sections(report),
        "not_ported": facts.not_ported(report),
        "labels": labels,
        "data": (Markup(piece.translate(_JSON_IN_SCRIPT)) for piece in document(report, edits=False)),
        "style": Markup(_asset("page.css")),
        "script": Markup(script),
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def _asset(name: str) -> str:
    return (resources.files("musa_port.report") / "page" / name).read_text(encoding="utf-8")


def _bar(report: Report) -> list[tuple[facts.Health, int]]:
    """How many files are in which state, without the states that no file is in."""
    counts = Counter(facts.health(file) for file in report.files)
    return [(state, counts[state]) for state in facts.Health if counts[state]]


def _sections(report: Report) -> list[_RuleSection]:
    """Rules with findings: those with errors first, then by number of findings."""
    counts: dict[str, Counter[Severity]] = {}
    files: dict[str, set[str]] = {}
    for finding in report.findings():
        counts.setdefault(finding.rule, Counter())[finding.severity] += 1
        files.setdefault(finding.rule, set()).add(finding.path)
    sections = [
        _RuleSection(rule, {severity: counts[rule_id][severity] for severity in Severity}, len(files[rule_id]))
        for rule_id, rule in facts.rule_infos(counts).items()
    ]
    return sorted(sections, key=lambda s: (s.worst.rank, -s.counts[s.worst]))
