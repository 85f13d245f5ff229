"""Layouts that a kernel gives to its tiles."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.changes import Item, delete_items, delete_statement
from musa_port.tilelang.facts import having, wide_warps
from musa_port.tilelang.recognise import argument, calls, is_tilelang, kernel_name, last_name

SWIZZLE = register(
    Rule(
        "K12",
        "swizzled-layout",
        Severity.WARNING,
        "Takes CUDA's swizzled layouts out of T.annotate_layout.",
        why="Swizzles for NVIDIA's matrix units do not fit those of MUSA, which move 16, 32 or 64 bytes at a time. "
        "Without an annotation TileLang chooses the layout.",
        example=(
            "x = 1\nT.annotate_layout({A: tilelang.layout.make_swizzled_layout(A)})",
            "x = 1",
        ),
        advice="To choose the layout yourself: tilelang.layout.make_sqmma_swizzled_layout(buffer, k_major=...), where "
        "k_major is `not transpose_A` for A and `transpose_B` for B.",
        evidence="the ports of TileKernels and of flash attention",
    )
)
CUSTOM = register(
    Rule(
        "K13",
        "custom-fragment",
        Severity.WARNING,
        "Reports layouts of fragments that the kernel makes itself, where the port is for mp_22 or older.",
        why="Such a layout says which of 32 lanes owns an element. That holds on mp_31; a warp of mp_22 has 128 lanes.",
        example=(
            "layout = T.Fragment((8, 32), forward_fn=lambda i, j: (j, i))",
            "layout = T.Fragment((8, 32), forward_fn=lambda i, j: (j, i))",
        ),
        advice="Make the number of lanes a parameter, or port for mp_31 alone: --arch mp_31.",
    )
)
_MAKERS = re.compile(
    r"tilelang(\.\w+)*\.make_(swizzled|wgmma_swizzled|tcgen05mma_swizzled|volta_swizzled|"
    r"(full|half|quarter)_bank_swizzled)_layout"
)


@visit(cst.Module, order=6)
def port_annotations(module: Module, node: cst.Module) -> None:
    """`T.annotate_layout({A_shared: make_swizzled_layout(A_shared)})`."""
    for call in calls(module, "annotate_layout"):
        table = argument(call, "layout_map", 0)
        if isinstance(table, cst.Dict):
            _port_table(module, call, table)


def _port_table(module: Module, call: cst.Call, table: cst.Dict) -> None:
    doomed = [item for item in table.elements if isinstance(item, cst.DictElement) and _is_swizzle(module, item.value)]
    if not doomed:
        return
    gone: list[Item] = []
    if len(doomed) == len(table.elements) and delete_statement(module, call, "swizzled-layout"):
        gone += doomed
    else:
        gone += delete_items(module, table.elements, lambda item: "swizzled-layout" if item in doomed else "")
    where = kernel_name(module, call)
    for item in doomed:
        maker = last_name(item.value.func) if isinstance(item.value, cst.Call) else ""
        verb = "went, and TileLang chooses" if item in gone else "is left"
        message = f"{maker} for {module.code(item.key)} in {where} {verb}"
        module.report(item.key, "swizzled-layout", message, advice=_advice(module), name=maker)


def _advice(module: Module) -> str:
    """The maker that the rule advises is for SQMMA."""
    return "" if having(module.options.arch, "sqmma") else "Leave the layout to TileLang."


def _is_swizzle(module: Module, node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and _MAKERS.fullmatch(module.qualified(node.func)) is not None


@visit(cst.Module, order=7)
def report_makers(module: Module, node: cst.Module) -> None:
    """The same layouts elsewhere than in a dictionary of annotate_layout."""
    for call in _makers(module):
        if not module.is_claimed(call):
            maker = last_name(call.func)
            message = f"{maker} in {kernel_name(module, call)} is left: it is a layout for NVIDIA's matrix units"
            module.report(call, "swizzled-layout", message, advice=_advice(module), name=maker)


def _makers(module: Module) -> Iterator[cst.Call]:
    if is_tilelang(module) and module.draft.mentions(b"swizzled_layout"):
        for call in module.nodes(cst.Call):
            if "swizzled_layout" in last_name(call.func) and _is_swizzle(module, call):
                yield call


@visit(cst.Module, order=6)
def report_fragments(module: Module, node: cst.Module) -> None:
    """`T.Fragment(shape, forward_fn=...)`."""
    wide = wide_warps(module.options.arch)
    for call in calls(module, "Fragment") if wide else ():
        if len(call.args) > 1:
            where = kernel_name(module, call)
            message = f"{where} lays out a fragment for warps of 32 threads: {', '.join(wide)} has 128"
            module.report(call, "custom-fragment", message, severity=Severity.WARNING, once=where)
