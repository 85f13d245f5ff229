"""Where rules register: extractors, which look at the syntax tree, and checks, which decide.

A rule is one file in `rules/`. It registers what it needs:

    @extract("asm", words=(b"asm", b"__asm__"))      called for each such word while the tree exists
    def find(scan, start, end, role): ...            returns notes for Facts.notes["asm"] (picklable), or None

    @extract_file("warp")                            called once for each parsed file
    def find(scan): ...

    @check(order=50)                                 called once for each file when the whole tree is indexed
    def decide(port): ...                            calls port.edit(...), port.report(...), port.claim(...)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from musa_port.cuda.port import Port
    from musa_port.cuda.scan import Scan

WordExtractor = Callable[["Scan", int, int, int], Any]
FileExtractor = Callable[["Scan"], "list[Any]"]
Check = Callable[["Port"], None]

word_extractors: dict[bytes, list[tuple[str, WordExtractor]]] = {}
file_extractors: list[tuple[str, FileExtractor]] = []
_checks: list[tuple[int, Check]] = []


def extract(key: str, words: Iterable[bytes]) -> Callable[[WordExtractor], WordExtractor]:
    """Register an extractor for words; see the module text."""

    def add(function: WordExtractor) -> WordExtractor:
        for word in words:
            word_extractors.setdefault(word, []).append((key, function))
        return function

    return add


def extract_file(key: str) -> Callable[[FileExtractor], FileExtractor]:
    """Register an extractor for whole files; see the module text."""

    def add(function: FileExtractor) -> FileExtractor:
        file_extractors.append((key, function))
        return function

    return add


def check(order: int) -> Callable[[Check], Check]:
    """Register a check. Checks with a lower order come first and may claim text, so that later ones leave it."""

    def add(function: Check) -> Check:
        _checks.append((order, function))
        _checks.sort(key=lambda item: item[0])
        return function

    return add


def checks() -> list[Check]:
    """The registered checks, in order."""
    return [function for _, function in _checks]
