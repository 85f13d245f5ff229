"""Groups, unsupported names, files not ported, health."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from musa_port.model import FileResult, FileStatus, Finding, Report, Severity
from musa_port.report import facts
from musa_port.report.facts import Health


def test_groups_are_by_severity_rule_and_name(finding: Callable[..., Finding]) -> None:
    few = [finding(rule="C10", severity=Severity.ERROR, name="x")]
    many = [finding(name="y", path=path) for path in ("a.cu", "b.cu", "a.cu")]
    other = [finding(name="z"), finding(rule="C10", name="z"), finding(rule="C2", name="a")]
    groups = facts.groups([*many, *other, *few])
    assert [(g.severity, g.rule, g.name, len(g.findings), g.file_count) for g in groups] == [
        (Severity.ERROR, "C10", "x", 1, 1),
        (Severity.WARNING, "C2", "y", 3, 2),
        (Severity.WARNING, "C2", "a", 1, 1),
        (Severity.WARNING, "C2", "z", 1, 1),
        (Severity.WARNING, "C10", "z", 1, 1),
    ]
    assert groups[1].first is many[0]


def test_unsupported_names_count_uses_rather_than_findings(
    finding: Callable[..., Finding], file: Callable[..., FileResult]
) -> None:
    error = finding(severity=Severity.ERROR, name="cudaX", advice="do without")
    report = Report(
        *("1", "s", "o", "port"),
        [
            file("a.cu", names={"cudaX": (5, "unsupported"), "cudaY": (9, "high"), "cudaZ": (1, "none")}),
            file("b.cu", error, names={"cudaX": (2, "unsupported")}),
            file(
                "c.cu", finding(severity=Severity.ERROR, name="wgmma", message="no such thing"), finding(name="warned")
            ),
        ],
    )
    assert [(entry.name, entry.uses, entry.files, entry.advice) for entry in facts.unsupported_names(report)] == [
        ("cudaX", 7, 2, "do without"),
        ("cudaZ", 1, 1, ""),
        ("wgmma", 1, 1, "no such thing"),
    ]


def test_files_not_ported_are_grouped_by_reason_with_failures_first(report: Report) -> None:
    assert [(entry.status, entry.reason, entry.paths) for entry in facts.not_ported(report)] == [
        (FileStatus.FAILED, "Permission denied", ["h.cu"]),
        (FileStatus.LEFT_OUT, "link that leaves the tree", ["g.h"]),
        (FileStatus.SKIPPED, "vendored copy of CUB", ["third/e.h", "third/f.h"]),
    ]


@pytest.mark.parametrize(
    ("status", "severities", "expected"),
    [
        (FileStatus.PORTED, [], Health.CLEAN),
        (FileStatus.UNCHANGED, [], Health.CLEAN),
        (FileStatus.COPIED, [], Health.NOT_EXAMINED),
        (FileStatus.SKIPPED, [], Health.NOT_EXAMINED),
        (FileStatus.SKIPPED, [Severity.WARNING], Health.WARNINGS),
        (FileStatus.FAILED, [Severity.INFO], Health.FAILED),
        (FileStatus.PORTED, [Severity.INFO], Health.NOTES),
        (FileStatus.PORTED, [Severity.INFO, Severity.ERROR, Severity.WARNING], Health.ERRORS),
    ],
)
def test_health(
    status: FileStatus,
    severities: list[Severity],
    expected: Health,
    finding: Callable[..., Finding],
    file: Callable[..., FileResult],
) -> None:
    result = file("a.cu", *(finding(severity=severity) for severity in severities), status=status)
    assert facts.health(result) is expected


def test_an_unknown_rule_has_at_least_its_id() -> None:
    assert facts.rule_info("Z99").name == "Z99"
    assert facts.rule_label("Z99") == "Z99"
    assert facts.rule_label("C2") == "C2 warp-size"


def test_rules_are_in_the_order_of_their_numbers() -> None:
    assert list(facts.rule_infos(["F1", "C10", "C2", "odd", "C2"])) == ["C2", "C10", "F1", "odd"]
