"""Timing of kernels, and their capture in graphs."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.recognise import is_tilelang, keyword, last_name

GRAPH = register(
    Rule(
        "H24",
        "kernel-graphs",
        Severity.WARNING,
        "Times kernels by events instead of graphs; reports captures of graphs.",
        why="tilelang-musa refuses the backend cudagraph of do_bench.",
        example=(
            'ms = do_bench(lambda: kernel(a, b), backend="cudagraph")',
            'ms = do_bench(lambda: kernel(a, b), backend="event")',
        ),
        advice="Launch times count when kernels are timed by events: take more repetitions of short kernels.",
    )
)
_CAPTURES = frozenset({"torch.cuda.graph", "torch.cuda.CUDAGraph", "torch.cuda.graphs.graph"})


@visit(cst.Call, order=8)
def port_bench(module: Module, node: cst.Call) -> None:
    """`do_bench(..., backend="cudagraph")`, and captures."""
    if not is_tilelang(module):
        return
    given = keyword(node, "backend")
    text = text_of(module, given.value) if given is not None and last_name(node.func) == "do_bench" else None
    if text is not None and text.value == "cudagraph":
        start = text.start
        module.edit(start, start + len(text.value), "event", "kernel-graphs", musa=False)
        module.report(node, "kernel-graphs", "do_bench takes events instead of a graph", new="event")
    elif last_name(node.func) in ("graph", "CUDAGraph") and module.qualified(node.func) in _CAPTURES:
        module.report(node, "kernel-graphs", "a graph is captured: try it on MUSA, or launch the kernels themselves")
