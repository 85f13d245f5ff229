"""One file while it is being decided: rules look at it, ask for edits, and report what they cannot do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from musa_port import rules as rule_registry
from musa_port.cuda.index import Index
from musa_port.cuda.tables import Tables
from musa_port.lines import Lines
from musa_port.model import Edit, Finding, Severity


class Change(NamedTuple):
    """A replacement of bytes, before it is applied."""

    start: int
    end: int
    new: bytes
    rule: str
    confidence: str = ""


@dataclass(slots=True)
class Outcome:
    """What porting one file gave."""

    data: bytes
    edit_count: int
    edits: list[Edit]
    findings: list[Finding]
    names: dict[str, tuple[int, str]]


class Draft:
    """One file while it is being decided. Offsets count bytes.

    path    the file, relative to the root of the tree
    index   what the whole tree declares, and which files are renamed
    tables  names, features, architectures and options of the run
    """

    def __init__(self, path: str, data: bytes, index: Index, tables: Tables) -> None:
        self.path = path
        self.data = data
        self.index = index
        self.tables = tables
        self.names = tables.names
        self.options = tables.options
        self.features = tables.features
        self.arch = tables.arch
        self.changes: list[Change] = []
        self.findings: list[Finding] = []
        self.uses: Counter[tuple[str, str]] = Counter()
        self._claimed = bytearray(len(data))
        self._once: set[tuple[str, str]] = set()
        self._kept: list[tuple[int, int]] = []
        self._mentioned: dict[bytes, bool] = {}

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.data)

    def text(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def mentions(self, *texts: bytes) -> bool:
        """Whether the file holds one of these texts; each is searched for once, however often rules ask."""
        return any(self._mentions(text) for text in texts)

    def _mentions(self, text: bytes) -> bool:
        if text not in self._mentioned:
            self._mentioned[text] = text in self.data
        return self._mentioned[text]

    def claim(self, start: int, end: int) -> None:
        """Mark text as decided: later checks leave it."""
        self._claimed[start:end] = b"\1" * (end - start)

    def is_claimed(self, start: int) -> bool:
        return self._claimed[start] == 1

    def keep(self, start: int, end: int) -> None:
        """Leave text whatever the rules say: nothing in it is changed or reported."""
        self.claim(start, end)
        self._kept.append((start, end))

    def keep_nothing(self) -> None:
        """Report again what is in kept text."""
        self._kept.clear()

    def is_kept(self, start: int, end: int) -> bool:
        """Whether a stretch of text, or a place between two characters, touches what is kept."""
        return any(start < until and end > begin for begin, until in self._kept)

    def edit(self, start: int, end: int, new: str, rule: str, confidence: str = "") -> None:
        """Replace text, and claim it. Text that is the same already is only claimed. `start == end` inserts."""
        if self.is_kept(start, end):
            return
        self.claim(start, end)
        encoded = new.encode()
        if self.data[start:end] != encoded:
            self.changes.append(Change(start, end, encoded, rule, confidence))

    def use(self, name: str, status: str) -> None:
        """Count a use of an API name."""
        self.uses[name, status] += 1

    def report(
        self,
        rule: str,
        start: int,
        end: int,
        message: str,
        *,
        severity: Severity | None = None,
        advice: str = "",
        new: str = "",
        name: str = "",
        function: str = "",
        once: str = "",
    ) -> None:
        """Add a finding about the text from `start` to `end`. With `once`, only the first one of that key counts."""
        if self.is_kept(start, start + 1):
            return
        if once:
            if (rule, once) in self._once:
                return
            self._once.add((rule, once))
        line, column = self.lines.position(start)
        entry = rule_registry.get(rule)
        self.findings.append(
            Finding(
                rule=entry.id,
                severity=severity or entry.severity,
                path=self.path,
                line=line,
                column=column,
                message=message,
                advice=advice or entry.advice,
                old=self.text(start, min(end, start + 200)),
                new=new,
                changed=bool(new),
                name=name,
                function=function,
                source_line=self.lines.text(line),
            )
        )

    def outcome(self) -> Outcome:
        """The file with every edit applied; of edits that overlap, the first."""
        changes = without_overlaps(self.changes)
        return Outcome(
            data=apply(self.data, changes),
            edit_count=len(changes),
            edits=[self._edit(change) for change in changes] if self.options.keep_edits else [],
            findings=sorted(self.findings, key=lambda finding: (finding.line, finding.column)),
            names=_names(self.uses),
        )

    def _edit(self, change: Change) -> Edit:
        line, column = self.lines.position(change.start)
        old = self.text(change.start, change.end)
        return Edit(line, column, old, change.new.decode(), rule_registry.get(change.rule).id, change.confidence)


def apply(data: bytes, changes: list[Change]) -> bytes:
    """The bytes with ordered, non-overlapping changes made."""
    if not changes:
        return data
    parts = []
    position = 0
    for change in changes:
        parts += [data[position : change.start], change.new]
        position = change.end
    parts.append(data[position:])
    return b"".join(parts)


def without_overlaps(changes: list[Change]) -> list[Change]:
    """The changes in order; of those that overlap, the first."""
    kept: list[Change] = []
    for change in sorted(changes):
        if not kept or change.start >= kept[-1].end:
            kept.append(change)
    return kept


def _names(uses: Counter[tuple[str, str]]) -> dict[str, tuple[int, str]]:
    table: dict[str, tuple[int, str]] = {}
    for (name, status), count in uses.items():
        held = table.get(name)
        table[name] = (count + (held[0] if held else 0), held[1] if held and held[1] != "project" else status)
    return table
