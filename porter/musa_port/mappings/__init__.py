"""The CUDA to MUSA name tables: data files beside this module, and the typed way to read them.

Columns, evidence codes and confidence levels are described in docs/mappings.md. Nothing here decides anything: see
`musa_port.names` for the look-up structure that the rewriters use.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import NamedTuple


class Row(NamedTuple):
    """One name: what it is on the CUDA side, what to write instead, and how sure we are.

    musa        "" when there is nothing to write
    confidence  high, medium, medium-low, low, derived, unknown or none
    flag        "", unsupported, semantic, partial or stub
    area        the table the row comes from, for instance "runtime" or "cublas"
    """

    cuda: str
    musa: str
    kind: str
    evidence: str
    confidence: str
    flag: str
    note: str
    area: str

    @property
    def supported(self) -> bool:
        """Whether there is something to write on the MUSA side."""
        return bool(self.musa) and self.flag != "unsupported" and self.confidence != "none"


#: From most to least certain; a row below `--min-confidence` is reported instead of applied.
CONFIDENCE = ("high", "medium", "medium-low", "low", "derived", "unknown", "none")

#: Tables whose rows are names in C-family sources. When two tables hold a name, the earlier one counts.
NAME_AREAS = (
    "types macros runtime driver complex cublas curand cusparse cufft cusolver nccl nvrtc nvtx nvml nvjpeg nvshmem "
    "cupti cutlass thrust_cub c10_aten intrinsics cudnn npp"
).split()


def read_table(area: str) -> list[dict[str, str]]:
    """The rows of one data file as dictionaries, with every column that the file has."""
    text = (resources.files(__name__) / f"{area}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def read_rows(area: str) -> tuple[Row, ...]:
    """The rows of one name table."""
    text = (resources.files(__name__) / f"{area}.csv").read_text(encoding="utf-8")
    lines = csv.reader(text.splitlines())
    next(lines)
    return tuple(Row._make([*cells[:7], area]) for cells in lines)


def all_rows() -> Iterator[Row]:
    """Every row of the tables of C-family names, most specific table first."""
    for area in NAME_AREAS:
        yield from read_rows(area)
