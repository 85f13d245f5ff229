"""What tells that a build file has something to port although no word of CUDA is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from musa_port.mappings import read_rows, read_table

#: Options that compilers for the host, or many other programs, have as well.
_COMMON = frozenset({"--keep", "--library", "--linker-options", "--threads"})
#: Architectures, packages that no table lists, and endings of sources.
_OTHERS = (
    r"(?:sm|compute|lto)_\d\d|\bcu\d\d|(?<![\w-])cuh?(?![\w-])|\bcu(?:df|ml|graph)\b|\btensorrt|\bnsight"
    r"|\bdatacenter-gpu|\w[-_.]gpu\b|accelerator[\"']?\s*[:=]\s*[\"']?gpu"
)


def found(lowered: bytes) -> bool:
    """Whether a text in lower case holds an option of nvcc, an architecture, or a tool, library or package by name."""
    return _pattern().search(lowered) is not None


@cache
def _pattern() -> re.Pattern[bytes]:
    options = "|".join(sorted(map(re.escape, _options())))
    names = "|".join(sorted(re.escape(name.lower()).replace(r"\-", "[-_.]") for name in _names()))
    return re.compile(rf"(?<![\w-])(?:--?(?:{options})|(?:-l|lib)?(?:{names}))(?![a-z_])|{_OTHERS}".encode())


def _options() -> set[str]:
    """The options of nvcc, without dashes; those of one or two letters may be anything."""
    rows = (row for row in read_table("nvcc_options") if row["option"] not in _COMMON)
    spellings = {spelling.lstrip("-").lower() for row in rows for spelling in (row["option"], row["short"])}
    return {spelling for spelling in spellings if len(spelling) > 2}


def _names() -> Iterator[str]:
    """The tools, libraries and Python packages that the tables know."""
    for row in read_rows("compiler_flags"):
        if row.kind == "tool":
            yield from (name for name in row.cuda.split(" / ") if re.fullmatch(r"[\w-]+", name))
    for row in read_rows("libraries"):
        if row.kind == "link-flag":
            yield row.cuda.removeprefix("-l")
        elif row.kind == "python-package":
            yield row.cuda
