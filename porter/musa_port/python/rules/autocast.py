"""Functions about autocast that mean CUDA, whatever device the program uses.

`torch.is_autocast_enabled()` and `torch.set_autocast_enabled(x)` are none of them: torch_musa makes them mean MUSA.
"""

from __future__ import annotations

import re
from functools import cache

import libcst as cst

from musa_port.mappings import read_rows
from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.rules.name import spelling
from musa_port.python.uses import is_use
from musa_port.rules import Rule, register

AUTOCAST = register(
    Rule(
        "P36",
        "autocast-state",
        Severity.WARNING,
        "Names the device in place of functions about autocast that are for CUDA alone.",
        why="torch.get_autocast_gpu_dtype and torch.set_autocast_gpu_dtype are about CUDA. Without a device, "
        "torch.is_autocast_enabled and torch.set_autocast_enabled mean MUSA once torch_musa is imported: they stay.",
        example=("dtype = torch.get_autocast_gpu_dtype()", 'dtype = torch.get_autocast_dtype("musa")'),
        advice='Name the device: the functions without gpu in their name take "musa" first.',
        evidence="torch_python.csv; what importing torch_musa changes in torch",
    )
)
_DEVICE = '"musa"'
_CALL = re.compile(r"(torch\.\w+)\((\w*)\)")
_CALL_FOR_MUSA = re.compile(rf"(torch\.\w+)\({_DEVICE}(?:, \w+)?\)")


@cache
def _functions() -> dict[str, tuple[str, int]]:
    """Full name -> full name of the function that takes the device first, and how many arguments the old one has."""
    found: dict[str, tuple[str, int]] = {}
    for row in read_rows("torch_python"):
        old, new = _CALL.fullmatch(row.cuda), _CALL_FOR_MUSA.fullmatch(row.musa)
        if old and new:
            found[old[1]] = new[1], bool(old[2])
    return found


@visit(cst.Attribute, cst.Name, order=25)
def port_function(module: Module, node: cst.Attribute | cst.Name) -> None:
    """`torch.get_autocast_gpu_dtype()`, `torch.set_autocast_gpu_dtype(dtype)`."""
    if not is_use(module, node):
        return
    full = module.one_of(node, _functions())
    if not full:
        return
    function, count = _functions()[full]
    new, call = spelling(module, node, function), module.parent(node)
    if new is None or not _can_change(call, node, count):
        module.report(node, "autocast-state", f"{full} is about CUDA and is left; use {function}", name=full)
        return
    assert isinstance(call, cst.Call)
    module.replace(node, new, "autocast-state", "low")
    if call.args:
        start, _ = module.span(call.args[0])
        module.draft.edit(start, start, f"{_DEVICE}, ", "autocast-state", "low")
    else:
        start, end = module.span(node)[1], module.span(call)[1]
        module.edit(start, end, f"({_DEVICE})", "autocast-state", "low")


def _can_change(call: cst.CSTNode | None, node: cst.CSTNode, count: int) -> bool:
    """Whether it is a call with the arguments of the table, given by position."""
    if not isinstance(call, cst.Call) or call.func is not node or len(call.args) != count:
        return False
    return all(arg.keyword is None and not arg.star for arg in call.args)
