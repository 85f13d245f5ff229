"""NVTX ranges: no counterpart; with --strip-nvtx, calls that stand alone are removed."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python import elements
from musa_port.python.joined import name_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register

NVTX = register(
    Rule(
        "P22",
        "nvtx",
        Severity.ERROR,
        "Reports torch.cuda.nvtx, which torch_musa lacks; with --strip-nvtx, removes calls that stand alone.",
        why="On MUSA a call of torch.cuda.nvtx raises an exception.",
        example=('torch.cuda.nvtx.range_push("step")', 'torch.cuda.nvtx.range_push("step")'),
        advice="Port with --strip-nvtx, or use torch.profiler.record_function.",
    )
)
_CALLS = frozenset({"range_push", "range_pop", "mark", "range_start", "range_end"})


#: Methods whose call another rule may remove.
_ADDING = frozenset({"append", "extend", "insert", "add", "update"})


@visit(cst.Module, order=15)
def strip(module: Module, node: cst.Module) -> None:
    """Remove `torch.cuda.nvtx.range_push("x")` wherever it is a statement."""
    if not module.options.strip_nvtx or b"nvtx" not in module.draft.data:
        return
    removed = [statement for statement in module.nodes(cst.Expr) if _is_range(module, statement.value)]
    gone = set(removed)
    staying = {other for other in module.nodes(cst.Expr) if other not in gone and not _adds(other.value)}
    for statement in removed:
        elements.remove_statement(module, statement, "nvtx", "", staying)
        message = f"{' '.join(module.code(statement).split())} was removed"
        module.report(statement, "nvtx", message, severity=Severity.INFO, new="pass")


def _is_range(module: Module, call: cst.BaseExpression) -> bool:
    if not isinstance(call, cst.Call) or not isinstance(call.func, (cst.Attribute, cst.Name)):
        return False
    owner, _, name = module.qualified(call.func).rpartition(".")
    return owner == "torch.cuda.nvtx" and name in _CALLS


def _adds(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and name_of(node.func) in _ADDING
