"""Operators that torch_musa does not have.

Two sources. The table operators.csv: the gaps that users of torch_musa and the adapter torchada report in public, each
with its evidence. And a file with everything that an installed torch_musa registers, which `musa-compat sim operators`
writes on a machine that has it: then every other operator is a finding.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch

from musa_compat.sim.native import native

#: A file of operator names, one a line.
VARIABLE = "MUSA_COMPAT_SIM_OPERATORS"


class Gap(NamedTuple):
    """A row of the table. An empty field means any; an operator without overload means all of them."""

    operator: str
    dtype: str
    arch: str
    what: str
    evidence: str

    def holds(self, name: str, in_place: bool, dtypes: Collection[str], arch: str) -> bool:
        """Whether a call of `aten::NAME` with these dtypes falls into the gap."""
        base = name.partition(".")[0].rstrip("_")
        names = {"*", name, base} | ({base + "_"} if in_place else set())
        return self.operator in names and self.dtype in ("", *dtypes) and self.arch in ("", arch)


@cache
def gaps() -> tuple[Gap, ...]:
    """The table operators.csv."""
    with open(Path(__file__).with_name("operators.csv"), encoding="utf-8", newline="") as file:
        return tuple(Gap(**row) for row in csv.DictReader(file))


def lacks(name: str, in_place: bool, dtypes: Collection[str]) -> str:
    """Why torch_musa cannot run a call of the operator, in words; empty if nothing is known against it.

    name: with namespace and overload. in_place: whether it writes a tensor that it also reads. dtypes: names of the
    dtypes of its device tensors.
    """
    namespace, _, short = name.partition("::")
    if namespace != "aten":
        return ""
    for gap in gaps():
        if gap.holds(short, in_place, dtypes, native().settings.arch):
            return f"{gap.what} ({gap.evidence})"
    file = os.environ.get(VARIABLE)
    if file and known(file).isdisjoint(siblings(short)):
        return f"is not registered by the torch_musa of {file}"
    return ""


@cache
def known(file: str) -> frozenset[str]:
    """The operators of a file, without `aten::`. Raises ValueError if it holds none that this torch knows."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    names = frozenset(line.strip().removeprefix("aten::") for line in lines if line.startswith("aten::"))
    if names.isdisjoint(name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names()):
        raise ValueError(
            f"{VARIABLE}={file}: expected lines such as aten::add.out; write it with `musa-compat sim operators`"
        )
    return names


@cache
def siblings(name: str) -> frozenset[str]:
    """The functional, in-place and out= overloads that compute the same as `aten::NAME`.

    The device sees one of them, and a backend may register another. They take the same arguments but for out=.
    """
    base = name.partition(".")[0].rstrip("_")
    schemas = [s for n in (base, base + "_") for s in torch._C._jit_get_schemas_for_operator(f"aten::{n}")]
    inputs = {schema_name(schema): _inputs(schema) for schema in schemas}
    return frozenset(other for other in inputs if inputs[other] == inputs.get(name)) | {name}


def schema_name(schema: torch._C.FunctionSchema) -> str:
    """`add.out` of a schema."""
    name = schema.name.removeprefix("aten::")
    return f"{name}.{schema.overload_name}" if schema.overload_name else name


def _inputs(schema: torch._C.FunctionSchema) -> tuple[str, ...]:
    return tuple(f"{a.type} {a.name}" for a in schema.arguments if not a.is_out)
