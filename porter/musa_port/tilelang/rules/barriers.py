"""Barriers: how many there are, and how many threads arrive."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.facts import limit
from musa_port.tilelang.kernels import Kernel, Use, kernels
from musa_port.tilelang.recognise import argument, calls, kernel_name, last_name
from musa_port.tilelang.values import Arguments, Value, evaluate

BARRIER = register(
    Rule(
        "K16",
        "barrier-count",
        Severity.WARNING,
        "Reports barriers at which single threads arrive, and kernels with more than 63 barriers.",
        why="A barrier of T.alloc_barrier is one of 63 hardware barriers of the block, and counts warps: the count is "
        "divided by 32. One elected thread, as producers on CUDA have it, is not a warp.",
        example=("ready = T.alloc_barrier(1)", "ready = T.alloc_barrier(1)"),
        advice="Give a multiple of 32, and let every thread of those warps arrive.",
        evidence="tilelang-musa: more than 63 barriers are a fatal error",
    )
)
SYNC = register(
    Rule(
        "K24",
        "partial-sync",
        Severity.WARNING,
        "Leaves T.sync_threads(id, count); reports counts that are no multiple of 32.",
        why="It becomes an asynchronous barrier, which counts warps.",
        example=("T.sync_threads(1, 100)", "T.sync_threads(1, 100)"),
        advice="Let whole warps take part.",
    )
)
_WARP = 32


@visit(cst.Module, order=6)
def report_counts(module: Module, node: cst.Module) -> None:
    """Arrival counts that are no whole warps."""
    for call in calls(module, "alloc_barrier"):
        odd = [count for count in _counts(evaluate(module, argument(call, "arrive_count", 0))) if count % _WARP]
        if odd:
            where = kernel_name(module, call)
            message = f"a barrier of {where} has an arrival count of {odd[0]}, and MUSA counts whole warps"
            module.report(call, "barrier-count", message, name="alloc_barrier")
    for call in calls(module, "sync_threads"):
        count = evaluate(module, argument(call, "arrive_count", 1))
        if isinstance(count, int) and count % _WARP:
            message = f"T.sync_threads in {kernel_name(module, call)} waits for {count} threads: no whole warps"
            module.report(call, "partial-sync", message, name="sync_threads")


def _counts(value: Value) -> list[int]:
    """The counts of the barriers that a call allocates: `128`, `[128, 32]`, `[128] * n`."""
    values = value if isinstance(value, tuple) else (value,)
    return [count for count in values if isinstance(count, int)]


@visit(cst.Module, order=6)
def report_number(module: Module, node: cst.Module) -> None:
    """More barriers than there are."""
    most = min((limit(arch, "barriers") or 63 for arch in module.options.arch), default=63)
    for kernel in kernels(module):
        number = max((_number(kernel, index) for index in range(len(kernel.arguments))), default=0)
        if number > most:
            where = kernel_name(module, kernel.call)
            message = f"{where} has {number} barriers, and a kernel has at most {most}"
            advice = "Let stages share barriers, or take fewer stages."
            module.report(kernel.call, "barrier-count", message, severity=Severity.ERROR, advice=advice, name=where)


def _number(kernel: Kernel, index: int) -> int:
    number = 0
    for use in kernel.uses("alloc_barrier"):
        arguments = kernel.values(use, kernel.arguments[index])
        value = evaluate(kernel.module, argument(use.call, "arrive_count", 0), arguments)
        number += (len(value) if isinstance(value, tuple) else 1) * _repeats(kernel, use, arguments)
    return number


def _repeats(kernel: Kernel, use: Use, arguments: Arguments) -> int:
    """How often a call in `[T.alloc_barrier(128) for _ in range(stages)]` is made."""
    loop = kernel.module.enclosing(use.call, cst.ListComp)
    times = loop.for_in.iter if loop is not None else None
    if not isinstance(times, cst.Call) or last_name(times.func) != "range" or len(times.args) != 1:
        return 1
    value = evaluate(kernel.module, times.args[0].value, arguments)
    return value if isinstance(value, int) else 1
