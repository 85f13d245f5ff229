"""Pipelined loops and bulk copies."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.arguments import argument_sets
from musa_port.tilelang.facts import having, lacking, severity_for
from musa_port.tilelang.recognise import argument, calls, kernel_name, keyword, word
from musa_port.tilelang.values import evaluate

PIPELINED = register(
    Rule(
        "K14",
        "pipelined-loop",
        Severity.INFO,
        "Leaves T.Pipelined, and names loops with two stages or more.",
        why="Bulk copies in two or three stages can run out of registers in mcc, and one pipelined kernel was seen to "
        "hang. Both show when the kernel is compiled or run, and not before.",
        example=(
            "for k in T.Pipelined(8, num_stages=2):\n    x = k",
            "for k in T.Pipelined(8, num_stages=2):\n    x = k",
        ),
        advice="Try it as it is. If mcc reports registers or the kernel hangs: num_stages=1 or 0, or T.serial, and "
        "TL_DISABLE_TMA_LOWER.",
        evidence="the test record of tilelang-musa; the ports of TileKernels and of MATE",
    )
)
BULK = register(
    Rule(
        "K15",
        "tma-copy",
        Severity.WARNING,
        "Leaves T.tma_copy, and reports it: its conditions differ, and mp_22 has none.",
        why="tilelang-musa documents T.copy(..., barrier=) for the same, but the public version 0.1.12 refuses this "
        "keyword and takes T.tma_copy; so the call stays. It does not fall back: types must be equal, the innermost "
        "dimension contiguous and a multiple of 16 bytes, other strides multiples of 16 bytes.",
        example=("T.tma_copy(a, b, barrier=ready)", "T.tma_copy(a, b, barrier=ready)"),
        advice="Check these conditions; where they do not hold, write T.copy.",
        evidence="lowering with tilelang-musa 0.1.12: T.copy() got an unexpected keyword argument 'barrier'",
    )
)


_WITHOUT_BULK = "Each stage takes shared memory: num_stages=1 or 0, or T.serial, if the kernel does not start or hangs."


@visit(cst.Module, order=6)
def report_pipelines(module: Module, node: cst.Module) -> None:
    """Loops with two stages or more, or with a number that is not known: once for each function."""
    for call in calls(module, "Pipelined"):
        given = argument(call, "num_stages", 2)
        if given is None:
            continue
        found = [evaluate(module, given, arguments) for arguments in argument_sets(module, call)]
        known = [stages for stages in found if isinstance(stages, int)]
        if not known or max(known) >= 2:
            where = kernel_name(module, call)
            number = f"{max(known)} stages" if known else "stages by a parameter"
            message = f"a loop of {where} is pipelined in {number}"
            advice = "" if having(module.options.arch, "bulk_copies") else _WITHOUT_BULK
            module.report(call, "pipelined-loop", message, advice=advice, name=where, once=where)


#: Words for bulk copies, and what is to be checked where there are such copies.
_BULK = {
    "tma_copy": "check strides and types",
    "tma_load": "descriptors on MUSA have neither box nor swizzle",
    "create_tma_descriptor": "descriptors on MUSA have neither box nor swizzle",
}


def _report_bulk(module: Module, call: cst.Call, name: str) -> None:
    archs, where = module.options.arch, kernel_name(module, call)
    without = lacking(archs, "bulk_copies")
    checked = [_BULK[name]] if having(archs, "bulk_copies") else []
    missing = [f"{', '.join(without)} has no bulk copies"] if without else []
    message = f"T.{name} in {where} is left: {', and '.join([*checked, *missing])}"
    advice = "" if checked else "Write T.copy."
    severity = severity_for(archs, without)
    module.report(call, "tma-copy", message, severity=severity, advice=advice, name=name, once=f"{name} {where}")


@visit(cst.Module, order=6)
def report_bulk(module: Module, node: cst.Module) -> None:
    """`T.tma_copy`, `T.tma_store_wait(1)`."""
    archs = module.options.arch
    for call in calls(module, *_BULK):
        _report_bulk(module, call, word(module, call.func))
    for call in calls(module, "tma_store_arrive", "tma_store_wait") if not having(archs, "bulk_copies") else ():
        _report_bulk(module, call, word(module, call.func))
    for call in calls(module, "tma_store_wait") if having(archs, "bulk_copies") else ():
        count = evaluate(module, argument(call, "count", 0)) if argument(call, "count", 0) is not None else 0
        read = keyword(call, "read")
        if count != 0 or (read is not None and evaluate(module, read.value) is not True):
            message = f"T.tma_store_wait in {kernel_name(module, call)}: MUSA waits for all reads, and in no other form"
            module.report(call, "tma-copy", message, name="tma_store_wait")
