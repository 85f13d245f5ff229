"""Which rows belong to which group of a grouped GEMM: what can be checked without reading the device.

Source of the contract: DeepGEMM 2.6.1, m-grouped contiguous (by row, or by the ends of groups) and masked.
"""

from __future__ import annotations

from typing import Any

from musa_compat.contracts.checks import Contract


def check_row_groups(check: Contract, name: str, value: Any, m: int) -> None:
    """The group of each row: int32 `[M]`, contiguous; -1 marks padding."""
    check.tensor(name, value, shape=(m,), names=("M",), dtypes=("int32",), contiguous=True)


def check_group_ends(check: Contract, name: str, value: Any, groups: int) -> None:
    """Where the rows of each group end: int32 `[G]`, contiguous."""
    check.tensor(name, value, shape=(groups,), names=("G",), dtypes=("int32",), contiguous=True)


def check_masked_m(check: Contract, name: str, value: Any, groups: int) -> None:
    """How many rows of each group count: int32, contiguous, G elements in any shape."""
    shape = check.tensor(name, value, dtypes=("int32",), contiguous=True)
    elements = 1
    for size in shape:
        elements *= size
    check.that(elements == groups, name, f"{groups} elements, one a group", value)
