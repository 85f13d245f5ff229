"""Text that people read: what is printed, logged, asserted or raised."""

from __future__ import annotations

import libcst as cst

from musa_port.python.module import Module
from musa_port.python.tree import dotted

_PRINTERS = frozenset(
    "print info debug warning warn warning_once error exception critical log write secho echo".split()
)


def is_message(module: Module, node: cst.CSTNode) -> bool:
    """Whether a string is, or is part of, what a call prints or logs, or what is raised."""
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.Raise, cst.Assert)):
            return not isinstance(parent, cst.Assert) or not _is_inside(module, node, parent.test)
        if isinstance(parent, cst.Call):
            name = (
                parent.func.attr.value if isinstance(parent.func, cst.Attribute) else (dotted(parent.func) or [""])[-1]
            )
            if name in _PRINTERS or name.endswith(("Error", "Exception", "Warning")):
                return True
        elif isinstance(parent, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
    return False


def _is_inside(module: Module, node: cst.CSTNode, other: cst.CSTNode) -> bool:
    return node is other or any(parent is other for parent in module.ancestors(node))
