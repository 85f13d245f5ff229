"""The names of an area as preprocessor macros, in both directions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from musa_port.headers.areas import Area
from musa_port.mappings import Row, read_rows, read_table
from musa_port.names import invert

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
#: Numbers on another scale than CUDA's: `CUBLAS_VERSION >= 11600` must not read a muBLAS number. NCCL's scale is kept
#: by MCCL.
_VERSION = re.compile(r"(CUDA|CUDART|CU(BLAS|RAND|FFT|SPARSE|SOLVER|PTI))(_CPP|_API)?_VER(SION|_\w+)")
#: Names that code tests with `#ifdef`: include guards, and macros with reserved names.
_GUARD = re.compile(r"\w+_[hH]_*")
#: Macros that the user defines to steer an SDK header.
_SWITCH = re.compile(r"__CUDA_NO_\w+__|CUDA_API_PER_THREAD_DEFAULT_STREAM")


@dataclass(frozen=True, slots=True)
class Alias:
    """`#define old new`.

    macro   a macro in its SDK too; an SDK or a project that has it already keeps its own
    tested  defined only where `new` is, since code asks whether `old` is defined
    caveat  why the new name means something else; "" when it does not
    """

    old: str
    new: str
    macro: bool = False
    tested: bool = False
    caveat: str = ""


def cuda_to_musa(area: Area) -> list[Alias]:
    """The area's CUDA names that are spelt differently on MUSA, by name."""
    return _aliases(_usable(area.rows()))


def musa_to_cuda(area: Area) -> list[Alias]:
    """The inverse; `musa_port.names.invert` says which CUDA name stands for a MUSA name that several have.

    A MUSA name that is a CUDA name too (`__half`) stays. A CUDA name that means something else stands for a MUSA name
    only where no other does.
    """
    kept = _kept_names()
    return _aliases(invert(row for row in _usable(area.rows()) if row.musa not in kept))


def switches() -> list[tuple[str, str]]:
    """(CUDA, MUSA) macros that a project defines before it includes an SDK header."""
    return sorted((row.cuda, row.musa) for row in read_rows("macros") if row.supported and _SWITCH.fullmatch(row.cuda))


def _usable(rows: Iterable[Row]) -> Iterator[Row]:
    """Rows that name an API: two identifiers that differ, no toolkit's bare name, no version number."""
    families = {row[column].rstrip("_") for row in read_table("families") for column in ("cuda_prefix", "musa_prefix")}
    for row in rows:
        renames = row.supported and row.cuda != row.musa
        identifiers = _IDENTIFIER.fullmatch(row.cuda) and _IDENTIFIER.fullmatch(row.musa)
        if renames and identifiers and row.cuda not in families and not _VERSION.fullmatch(row.cuda):
            yield row


def _kept_names() -> frozenset[str]:
    tables = ("types", "intrinsics", "macros")
    return frozenset(row.cuda for table in tables for row in read_rows(table) if row.cuda == row.musa)


def _aliases(rows: Iterable[Row]) -> list[Alias]:
    """The first row of each name counts."""
    found: dict[str, Alias] = {}
    for row in rows:
        macro = row.kind == "macro"
        tested = _GUARD.fullmatch(row.cuda) is not None or (macro and row.cuda.startswith("__"))
        caveat = (row.note or "means something else") if row.flag == "semantic" else ""
        found.setdefault(row.cuda, Alias(row.cuda, row.musa, macro, tested, caveat))
    return sorted(found.values(), key=lambda alias: alias.old)
