"""What a run of musa-port produces: edits, findings, files and the report that holds them."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Severity(str, enum.Enum):
    """How much a finding matters.

    ERROR    the port cannot be complete without work by hand (exit status 1)
    WARNING  the port may behave differently and somebody should look
    INFO     worth knowing; nothing to do in most cases
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the most severe, for sorting."""
        return _RANK[self]


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


class Edit(NamedTuple):
    """One replacement in one file. Lines and columns count from 1, columns in Unicode code points."""

    line: int
    column: int
    old: str
    new: str
    rule: str
    #: Confidence of the mapping row (`high` ... `derived`), or "" when no row was used.
    confidence: str = ""


class Finding(NamedTuple):
    """One remark about one place.

    `path` is relative to the source root, with forward slashes. `line` and `column` count from 1 (columns in Unicode
    code points); a finding about a whole file has line 1, column 1 and an empty `source_line`.
    """

    rule: str
    severity: Severity
    path: str
    line: int
    column: int
    message: str
    advice: str = ""
    #: The text in the source that the finding is about; `new` is what the port holds instead ("" when unchanged).
    old: str = ""
    new: str = ""
    changed: bool = False
    #: The API name to group by; empty when the finding is not about a name.
    name: str = ""
    #: The enclosing function, where known.
    function: str = ""
    source_line: str = ""


class FileStatus(str, enum.Enum):
    """What happened to a file of the source tree."""

    PORTED = "ported"  # rewritten
    UNCHANGED = "unchanged"  # examined, nothing to change: same bytes
    COPIED = "copied"  # a kind of file that musa-port does not examine: same bytes
    SKIPPED = "skipped"  # deliberately not ported (native, generated, vendored, binary, ...): same bytes
    LEFT_OUT = "left-out"  # not in the output at all (a link that leaves the tree)
    FAILED = "failed"  # could not be read or written


@dataclass(slots=True)
class FileResult:
    """The outcome for one file."""

    path: str
    #: Path in the output tree (differs from `path` when the extension is renamed); None when nothing is written.
    output_path: str | None
    #: "c-family", the name of another language ("python", "cmake", ...), "link" or "other".
    language: str
    status: FileStatus
    #: Why the file was skipped, left out or failed, in one phrase.
    reason: str = ""
    size: int = 0
    edit_count: int = 0
    #: Each edit; kept only when a report that lists them was asked for.
    edits: list[Edit] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    #: API names met: name -> (uses, status), status being the row's confidence, "unsupported" or "project".
    names: dict[str, tuple[int, str]] = field(default_factory=dict)


@dataclass(slots=True)
class Report:
    """Everything that one run found and did."""

    version: str
    source: str
    output: str | None
    #: "port", "check", "diff" or "in-place".
    mode: str
    files: list[FileResult]
    elapsed_seconds: float = 0.0
    #: The options of the run that are not at their default, for the machine-readable reports.
    options: dict[str, Any] = field(default_factory=dict)

    def findings(self) -> Iterator[Finding]:
        """Every finding, file by file."""
        for file in self.files:
            yield from file.findings

    def severity_counts(self) -> dict[Severity, int]:
        counts = Counter(finding.severity for finding in self.findings())
        return {severity: counts.get(severity, 0) for severity in Severity}

    def status_counts(self) -> dict[FileStatus, int]:
        counts = Counter(file.status for file in self.files)
        return {status: counts.get(status, 0) for status in FileStatus}

    @property
    def edit_count(self) -> int:
        return sum(file.edit_count for file in self.files)

    @property
    def has_errors(self) -> bool:
        return any(finding.severity is Severity.ERROR for finding in self.findings())
