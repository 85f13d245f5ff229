"""NVTX ranges: no counterpart; with --strip-nvtx, calls that stand alone are removed."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
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


@visit(cst.Expr, order=15)
def strip(module: Module, node: cst.Expr) -> None:
    """Replace `torch.cuda.nvtx.range_push("x")` by `pass`, which is right wherever a statement may stand."""
    call = node.value
    if (
        not module.options.strip_nvtx
        or not isinstance(call, cst.Call)
        or not isinstance(call.func, (cst.Attribute, cst.Name))
    ):
        return
    full = module.qualified(call.func)
    if full.rpartition(".")[0] == "torch.cuda.nvtx" and full.rpartition(".")[2] in _CALLS:
        text = module.code(call)
        module.replace(node, "pass", "nvtx", musa=False)
        module.report(node, "nvtx", f"{text} was removed", severity=Severity.INFO, new="pass")
