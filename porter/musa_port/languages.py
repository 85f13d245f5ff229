"""The kinds of files that are ported besides C-family sources.

A language registers itself where it is implemented; adding one means adding a module and naming it in `load_all`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from musa_port.cuda.index import Index
    from musa_port.cuda.tables import Tables
    from musa_port.draft import Draft, Outcome

Notes = dict[str, list[Any]]
#: Comments of most languages.
_COMMENT = re.compile(rb"(?P<comment>#[^\n]*)")

#: What a file of any language must hold to have anything to port, in lower case. The search is fast because the words
#: have few beginnings.
WORDS = re.compile(
    rb"cu(?:da|dnn|blas|fft|file|pti|py(?<![a-z]cupy)|rand|solver|sparse|tensor|tlass)"
    rb"|nv(?:cc|idia|ml|tx|rtc|shmem|blas|cuvid|encode|infer|jpeg|prof|tools)"
    rb"|nccl|libnpp|nsys(?<![a-z]nsys)(?![a-z])|tile_?lang|triton|autocast|\.cu(?:h|bin)?(?![a-z0-9_])"
)


@dataclass(frozen=True, slots=True)
class Language:
    """One kind of file.

    name         as reports show it
    group        the word of --only that selects it
    patterns     globs of file names (`*.py`, `Dockerfile*`); the first language with a match takes the file
    port         decides a file: asks the draft for edits and reports findings
    interpreter  what the `#!` line of a file without an extension names, a regular expression
    notes        what the whole tree has to know about a file, by key; keys must be in `engine.SHARED_NOTES`
    traces       tells whether a file without any of WORDS, given in lower case, may have something to port all the same
    comments     finds comments, as its group `comment`, and what may look like one
    """

    name: str
    group: str
    patterns: tuple[str, ...]
    port: Callable[[Draft], None]
    interpreter: str = ""
    notes: Callable[[bytes], Notes] | None = None
    traces: Callable[[bytes], bool] | None = None
    comments: re.Pattern[bytes] = _COMMENT


_LANGUAGES: dict[str, Language] = {}


def register(language: Language) -> Language:
    """Add a language; its name must be new."""
    if language.name in _LANGUAGES:
        raise ValueError(f"language {language.name!r} is registered twice")
    _LANGUAGES[language.name] = language
    return language


def load_all() -> None:
    """Import every module that registers a language."""
    import musa_port.build
    import musa_port.python.rules
    import musa_port.tilelang.rules  # noqa: F401


def get(name: str) -> Language:
    """The language of this name. Raises KeyError."""
    return _LANGUAGES[name]


def all_languages() -> Iterable[Language]:
    """Every language, in the order of registration."""
    return _LANGUAGES.values()


def of_path(path: str) -> Language | None:
    """The language that the name of the file tells."""
    name = posixpath.basename(path)
    for language in _LANGUAGES.values():
        if any(fnmatchcase(name, pattern) for pattern in language.patterns):
            return language
    return None


def of_head(head: bytes) -> Language | None:
    """The language that a `#!` line tells."""
    if not head.startswith(b"#!"):
        return None
    line = head.split(b"\n", 1)[0].decode("utf-8", "replace")
    for language in _LANGUAGES.values():
        if language.interpreter and re.search(rf"\b{language.interpreter}\b", line):
            return language
    return None


def port(name: str, path: str, data: bytes, index: Index, tables: Tables) -> Outcome:
    """Decide one file of the language `name`."""
    from musa_port import regions
    from musa_port.draft import Draft

    draft = Draft(path, data, index, tables)
    language = get(name)
    if is_candidate(data, language):
        regions.keep(draft, regions.find(data, language.comments))
        language.port(draft)
    return draft.outcome()


def is_candidate(data: bytes, language: Language | None = None) -> bool:
    """Whether a file can hold anything to port: a test for words, far cheaper than parsing."""
    lowered = data.lower()
    if WORDS.search(lowered):
        return True
    return language is not None and language.traces is not None and language.traces(lowered)
