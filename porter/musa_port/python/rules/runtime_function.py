"""Functions of the runtime that torch hands out: `torch.cuda.cudart().cudaHostRegister(...)`."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register

FUNCTION = register(
    Rule(
        "P42",
        "runtime-function",
        Severity.ERROR,
        "Renames functions of torch.cuda.cudart() that torch.musa.musart() has; reports the others.",
        why="The object has a handful of functions only, and asking for another raises AttributeError.",
        example=(
            "torch.cuda.cudart().cudaHostRegister(p, n, 0)",
            "torch.musa.musart().musaHostRegister(p, n, 0)",
        ),
        advice="Call the function of libmusart by ctypes, or leave the call out on MUSA.",
        evidence="torch_musa",
    )
)
#: All that torch.musa.musart() of torch_musa 2.7.1 has.
_FUNCTIONS = frozenset(
    "musaError musaGetErrorString musaHostRegister musaHostUnregister musaStreamCreate musaStreamDestroy "
    "musaMemGetInfo".split()
)
_RUNTIME = "torch.cuda.cudart"


@visit(cst.Attribute, order=30)
def port_function(module: Module, node: cst.Attribute) -> None:
    """A member of the runtime object, asked of the call or of a name for its result."""
    name = node.attr.value
    if not name.startswith("cuda") or not _is_runtime(module, node.value):
        return
    new = name.replace("cuda", "musa", 1)
    if new in _FUNCTIONS:
        module.replace(node.attr, new, "runtime-function")
    elif not module.is_claimed(node.attr):
        module.report(node.attr, "runtime-function", f"{name} is left: torch.musa.musart() has no {new}", name=name)


def _is_runtime(module: Module, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call):
        return bool(module.one_of(node.func, (_RUNTIME,)))
    return isinstance(node, cst.Name) and node.value in module.assigned_from(_RUNTIME)
