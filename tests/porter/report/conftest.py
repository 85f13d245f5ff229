"""Reports made by hand: an ordinary one, an empty one, and one whose every string is hostile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from musa_port import rules
from musa_port.model import Edit, FileResult, FileStatus, Finding, Report, Severity

KNOWN_RULES = {
    rule.id: rule
    for rule in (
        rules.Rule(
            "C2",
            "warp-size",
            Severity.WARNING,
            "Reports code that assumes 32 threads in a warp.",
            why="Some devices have 128.",
            example=("x & 31", "x & 31"),
            advice="Use warpSize.",
            evidence="arch.csv",
        ),
        rules.Rule("C10", "no-such-name", Severity.ERROR, "Reports a name without a counterpart."),
        rules.Rule("C20", "renamed", Severity.INFO, "Renames.", example=("cuda<T>();", "musa<T>();")),
    )
}

#: Markup, format strings, Markdown, workflow commands, terminal control, text direction, an undecodable byte.
HOSTILE = (
    "</script><img src=x onerror=alert(1)><!--&amp;'\" `a``b|c*d_e[f](g){0}::error::%0A,@me \x1b[31m\u202e\u2028\udce9"
)


@pytest.fixture(autouse=True)
def known_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rules instead of the registry, so that these tests do not change with the rules of the porter."""

    def get(key: str) -> rules.Rule:
        return KNOWN_RULES[key]

    monkeypatch.setattr(rules, "get", get)


@pytest.fixture
def finding() -> Callable[..., Finding]:
    """Makes a finding: a warning in a.cu unless told otherwise."""

    def make(**changes: Any) -> Finding:
        usual: dict[str, Any] = {
            "rule": "C2",
            "severity": Severity.WARNING,
            "path": "a.cu",
            "line": 3,
            "column": 5,
            "message": "assumes 32 threads",
        }
        return Finding(**(usual | changes))

    return make


@pytest.fixture
def file() -> Callable[..., FileResult]:
    """Makes the result for a file: a ported a.cu that holds the findings, unless told otherwise."""

    def make(path: str = "a.cu", *findings: Finding, **changes: Any) -> FileResult:
        usual: dict[str, Any] = {"output_path": path, "language": "c-family", "status": FileStatus.PORTED}
        return FileResult(path=path, findings=list(findings), **(usual | changes))

    return make


@pytest.fixture
def empty() -> Report:
    return Report("1.2.3", "src", "out", "port", [])


@pytest.fixture
def report() -> Report:
    """Two ported files with findings of each severity, and one file of each other status."""
    return Report(
        "1.2.3", "src", "out", "port", _files(), 1.25, {"jobs": 2, "arch": ("mp_31",), "map": [Path("m.csv")]}
    )


def _files() -> list[FileResult]:
    kernel = FileResult(
        "src/核心/a b#1.cu", "src/核心/a b#1.mu", "c-family", FileStatus.PORTED, size=1234, edit_count=2
    )
    kernel.edits = [
        Edit(1, 10, "cuda_runtime.h", "musa_runtime.h", "C20", "high"),
        Edit(4, 3, "cudaFree", "musaFree", "C20", "medium"),
    ]
    line = "  /* 名字 𝕏 */ cudaNothing(x); cudaNothing(y);"
    kernel.findings = [
        Finding(
            *("C10", Severity.ERROR, kernel.path, 9, line.index("cudaNothing") + 1, "has no counterpart", "Remove it"),
            *("cudaNothing", "", False, "cudaNothing", "void f()", line),
        ),
        Finding(
            *("C10", Severity.ERROR, kernel.path, 9, line.rindex("cudaNothing") + 1, "has no counterpart", "Remove it"),
            *("cudaNothing", "", False, "cudaNothing", "void f()", line),
        ),
        Finding(
            *("C2", Severity.WARNING, kernel.path, 12, 3, "assumes 32 threads.", "", "x &\n    31", "", False, "", ""),
            "  x &",
        ),
    ]
    kernel.names = {"cudaNothing": (2, "unsupported"), "cudaFree": (1, "medium")}
    header = FileResult("b.cuh", "b.muh", "c-family", FileStatus.PORTED, size=50, edit_count=1)
    header.edits = [Edit(2, 1, "cudaA", "musaA", "C20", "low")]
    header.findings = [
        Finding("C20", Severity.INFO, "b.cuh", 2, 1, "renamed", "", "cudaA", "musaA", True, "cudaA", "", "cudaA();"),
        Finding("Z99", Severity.INFO, "b.cuh", 1, 1, "about the whole file"),
    ]
    return [
        kernel,
        header,
        FileResult("c.h", "c.h", "c-family", FileStatus.UNCHANGED, size=7),
        FileResult("d.txt", "d.txt", "other", FileStatus.COPIED, size=8),
        FileResult("third/e.h", "third/e.h", "c-family", FileStatus.SKIPPED, "vendored copy of CUB"),
        FileResult("third/f.h", "third/f.h", "c-family", FileStatus.SKIPPED, "vendored copy of CUB"),
        FileResult("g.h", None, "c-family", FileStatus.LEFT_OUT, "link that leaves the tree"),
        FileResult("h.cu", None, "c-family", FileStatus.FAILED, "Permission denied"),
    ]


@pytest.fixture
def hostile() -> Report:
    path = f"a/{HOSTILE}.cu"
    bad = Finding(
        *("C10", Severity.ERROR, path, 1, 3, HOSTILE, HOSTILE, HOSTILE, HOSTILE, True, HOSTILE, HOSTILE),
        f"\t {HOSTILE}\t\0",
    )
    ported = FileResult(path, path, "c-family", FileStatus.PORTED, HOSTILE, 1, 1, [Edit(1, 1, HOSTILE, HOSTILE, "C20")])
    ported.findings = [bad, bad._replace(severity=Severity.WARNING), bad._replace(rule=HOSTILE, severity=Severity.INFO)]
    ported.names = {HOSTILE: (3, "unsupported")}
    skipped = FileResult(f"b{HOSTILE}", None, "other", FileStatus.SKIPPED, HOSTILE)
    return Report("1.2.3", HOSTILE, HOSTILE, "port", [ported, skipped], 0.0, {HOSTILE: HOSTILE})


@pytest.fixture
def flood(finding: Callable[..., Finding], file: Callable[..., FileResult]) -> Report:
    """20,000 warnings about 2,000 names, and one error at the end."""
    files = [
        file(
            f"f{number}.cu",
            *(
                finding(path=f"f{number}.cu", line=line, name=f"cudaName{number}_{line % 20}", source_line="x();")
                for line in range(1, 201)
            ),
        )
        for number in range(100)
    ]
    files.append(file("last.cu", finding(rule="C10", severity=Severity.ERROR, path="last.cu", message="the error")))
    return Report("1.2.3", "src", "out", "port", files)
