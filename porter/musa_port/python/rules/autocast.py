"""Questions about autocast that mean CUDA when they name no device."""

from __future__ import annotations

import libcst as cst

from musa_port.mappings import read_rows
from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.rules.name import spelling
from musa_port.rules import Rule, register

AUTOCAST = register(
    Rule(
        "P36",
        "autocast-state",
        Severity.INFO,
        "Adds the device to questions about autocast that ask about CUDA when they name none.",
        example=("dtype = torch.get_autocast_gpu_dtype()", 'dtype = torch.get_autocast_dtype("musa")'),
        evidence="torch_python.csv",
    )
)
_ARGUMENT = '("musa")'
#: Full name -> full name, for calls without arguments.
_CALLS = {
    row.cuda.removesuffix("()"): row.musa.removesuffix(_ARGUMENT)
    for row in read_rows("torch_python")
    if row.cuda.startswith("torch.") and row.musa.endswith(_ARGUMENT) and row.cuda.endswith("()")
}


@visit(cst.Call, order=25)
def port_call(module: Module, node: cst.Call) -> None:
    """`torch.get_autocast_gpu_dtype()`."""
    if node.args or not isinstance(node.func, (cst.Attribute, cst.Name)):
        return
    full = module.one_of(node.func, _CALLS)
    if not full:
        return
    new = spelling(module, node.func, _CALLS[full])
    if new is None:
        module.report(node, "autocast-state", f"{full}() asks about CUDA; ask {_CALLS[full]}{_ARGUMENT}")
    else:
        module.replace(node, new + _ARGUMENT, "autocast-state", "low")
