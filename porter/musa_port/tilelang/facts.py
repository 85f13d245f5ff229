"""Facts about TileLang on MUSA, as the tables give them (tilelang_*.csv)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from musa_port.mappings import read_table
from musa_port.model import Severity

#: Threads of a kernel that gives no number.
DEFAULT_THREADS = 128


class Dtype(NamedTuple):
    """A data type: its size, and the class by which matrix units tell types apart."""

    name: str
    bits: int
    kind: str


class Dtypes:
    """The data types by each of their spellings."""

    def __init__(self) -> None:
        self._table: dict[str, Dtype] = {}
        for row in read_table("tilelang_dtypes"):
            for spelling in (row["name"], *row["spellings"].split()):
                self._table[spelling] = Dtype(row["name"], int(row["bits"]), row["kind"])

    def get(self, name: object) -> Dtype | None:
        """The type of this name, None when there is none."""
        return self._table.get(name) if isinstance(name, str) else None

    def name(self, text: str) -> str | None:
        """The name of the type that a text spells."""
        found = self._table.get(text)
        return found.name if found else None


@cache
def dtypes() -> Dtypes:
    """The table of data types."""
    return Dtypes()


@dataclass(frozen=True, slots=True)
class Word:
    """What becomes of a word of the language: delete, report or keep."""

    rule: str
    action: str
    severity: Severity | None
    message: str


class Words:
    """The words that are something else on MUSA. Rows with a `*` are for all words that no other row names."""

    def __init__(self) -> None:
        self._exact: dict[str, Word] = {}
        self._patterns: list[tuple[str, Word]] = []
        for row in read_table("tilelang_language"):
            severity = Severity(row["severity"]) if row["severity"] else None
            entry = Word(row["rule"], row["action"], severity, row["message"])
            if "*" in row["word"]:
                self._patterns.append((row["word"], entry))
            else:
                self._exact[row["word"]] = entry

    def get(self, word: str) -> Word | None:
        """The row of a word."""
        found = self._exact.get(word)
        if found is None:
            found = next((entry for pattern, entry in self._patterns if fnmatchcase(word, pattern)), None)
        return found


@cache
def words() -> Words:
    """The table of words."""
    return Words()


@cache
def _limits() -> dict[tuple[str, str], int]:
    return {(row["arch"], row["limit"]): int(row["value"]) for row in read_table("tilelang_limits")}


def limit(arch: str, name: str) -> int | None:
    """A limit of an architecture: shared_memory, barriers, warp, threads; None when it is not known."""
    return _limits().get((arch, name))


def wide_warps(archs: Iterable[str]) -> list[str]:
    """Those of the architectures whose warp is not 32 threads."""
    return [arch for arch in archs if (limit(arch, "warp") or 32) != 32]


@cache
def _features() -> dict[str, list[str]]:
    return {row["feature"]: row["archs"].split() for row in read_table("tilelang_features")}


def having(archs: Iterable[str], feature: str) -> list[str]:
    """Those of the architectures that have a feature."""
    return [arch for arch in archs if arch in _features()[feature]]


def lacking(archs: Iterable[str], feature: str) -> list[str]:
    """Those of the architectures that do not have a feature."""
    return [arch for arch in archs if arch not in _features()[feature]]


def severity_for(archs: Sequence[str], without: Sequence[str]) -> Severity:
    """An error when no architecture of the port has what is asked for, else a warning."""
    return Severity.WARNING if len(without) < len(archs) else Severity.ERROR


@cache
def measured_units() -> dict[tuple[int, int, int], tuple[str, str]]:
    """(threads, M, N) -> (unit that a 16-bit T.gemm was lowered to, note): wmma, scalar, or none when it failed."""
    return {
        (int(row["threads"]), int(row["m"]), int(row["n"])): (row["unit"], row["note"])
        for row in read_table("tilelang_gemm")
    }


class PassConfig(NamedTuple):
    """A key of the pass configuration: what to do with it, by which rule, and why."""

    name: str
    string: str
    exists: str
    action: str
    rule: str
    note: str


@cache
def pass_configs() -> dict[str, PassConfig]:
    """The keys by name of the enumeration and by string."""
    table: dict[str, PassConfig] = {}
    for row in read_table("tilelang_pass_configs"):
        entry = PassConfig(row["name"], row["string"], row["exists"], row["action"], row["rule"], row["note"])
        table[entry.name] = table[entry.string] = entry
    return table


@cache
def dropped_flags() -> dict[str, tuple[Severity, str]]:
    """Flags that a kernel's compile_flags lose besides those of every compiler command: severity, and why."""
    return {row["flag"]: (Severity(row["severity"]), row["note"]) for row in read_table("tilelang_compile_flags")}


@cache
def kept_externs() -> dict[str, str]:
    """Device functions that kernels may go on calling, and how that is known."""
    return {row["name"]: row["note"] for row in read_table("tilelang_externs")}
