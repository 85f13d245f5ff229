"""One file of the tree, and what is to happen to it."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from musa_port.model import FileStatus
from musa_port.options import RENAMED, Options

#: The language of C, C++ and CUDA sources, which have an engine of their own.
C_FAMILY = "c-family"


@dataclass(slots=True)
class Entry:
    """A file as `musa_port.walk` lists it.

    output_path  where it goes; None for what is left out
    language     "c-family", the name of a `languages.Language`, "link" or "other"
    status       None for files that are examined
    rule         the rule to report, "" for none; `note` is what its finding says
    """

    path: str
    output_path: str | None
    language: str
    size: int
    status: FileStatus | None = None
    reason: str = ""
    rule: str = ""
    note: str = ""
    #: Whether its declarations count: skipped sources still declare names, replaced libraries do not.
    indexed: bool = False
    #: Whether it belongs to a vendored library that a MUSA library replaces.
    replaced: bool = False

    @property
    def work(self) -> int:
        """How much there is to do, as bytes of C-family sources: a byte of Python costs many times as much."""
        return self.size * (10 if self.language == "python" else 1)


def renamed(path: str, options: Options) -> str:
    """The path in the output: `.cu` and `.cuh` are renamed, except below thrust/ and cub/, whose names are kept."""
    stem, suffix = posixpath.splitext(path)
    table = {new: old for old, new in RENAMED.items()} if options.reverse else RENAMED
    if not options.rename_ext or suffix not in table or {"thrust", "cub"} & set(path.split("/")[:-1]):
        return path
    return stem + table[suffix]
