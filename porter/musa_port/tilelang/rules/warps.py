"""The width of a warp: shuffles, lanes, blocks of one warp."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.facts import wide_warps
from musa_port.tilelang.kernels import kernels
from musa_port.tilelang.recognise import calls, is_tilelang, kernel_name, keyword, last_name, word
from musa_port.tilelang.samples import kernel
from musa_port.tilelang.values import evaluate

SHUFFLE = register(
    Rule(
        "K25",
        "warp-shuffle",
        Severity.INFO,
        "Leaves shuffles, warp reductions and T.sync_warp: they are unchanged on mp_31.",
        why="A warp of mp_31 has 32 threads, as on CUDA; one of mp_22 has 128. tilelang-musa takes T.shfl_sync(value, "
        "lane) as well as (mask, value, lane), and tells them apart by whether the first is a Python integer.",
        example=("y = T.shfl_sync(x, 0)", "y = T.shfl_sync(x, 0)"),
        advice="Where a width or a mask is given, check the order of the arguments.",
        evidence="docs and front end of tilelang-musa 0.1.12",
    )
)
LITERAL = register(
    Rule(
        "K26",
        "warp-width",
        Severity.WARNING,
        "Reports numbers that are the width of a warp, where the port is for mp_22 or older.",
        why="A warp of mp_22 has 128 threads, unless TILELANG_MUSA_MP22_MMA_SHAPE is m16n16k16 or m8n32k16; mp_31 has "
        "32.",
        example=("lane = T.get_thread_binding() % 32", "lane = T.get_thread_binding() % 32"),
        advice="Make the width a parameter of the kernel, or port for mp_31 alone: --arch mp_31.",
    )
)
SMALL = register(
    Rule(
        "K35",
        "one-warp-block",
        Severity.INFO,
        "Names kernels with 32 threads in a block.",
        why="They are legal. The port of TileKernels gave several of them 128 threads, for four times the work in a "
        "block, and won speed.",
        example=(kernel("T.clear(X)", threads=32),) * 2,
        advice="Try 128 threads, with four units of work to a block and a check of the bounds.",
    )
)
_WARP_WORDS = frozenset(
    "shfl_sync shfl_xor shfl_up shfl_down warp_reduce_sum warp_reduce_max warp_reduce_min warp_reduce_bitand "
    "warp_reduce_bitor any_sync all_sync ballot_sync ballot activemask match_any_sync match_all_sync "
    "tvm_warp_shuffle tvm_warp_shuffle_up tvm_warp_shuffle_down tvm_warp_shuffle_xor tvm_warp_activemask".split()
)
_SHUFFLES = ("shfl_sync", "shfl_xor", "shfl_up", "shfl_down")
_THREAD = re.compile(r"(^|_)(tid|tx|thread|threads|lane|thread_idx|thread_id|threadIdx)(_|$)|thread_binding")
_WIDTHS: dict[type[cst.BaseBinaryOp], int] = {cst.Modulo: 32, cst.FloorDivide: 32, cst.BitAnd: 31, cst.RightShift: 5}
_WIDTH_NAME = re.compile(r"(?i)warp_?size|warp_?width|threads_per_warp|lanes?_per_warp|num_lanes")


@visit(cst.Module, order=6)
def report_shuffles(module: Module, node: cst.Module) -> None:
    """Warp functions: once for each word and function."""
    wide = wide_warps(module.options.arch)
    for call in calls(module, *_WARP_WORDS):
        name, where = word(module, call.func), kernel_name(module, call)
        once = f"{name} {where}"
        if wide:
            message = f"T.{name} in {where} works on 32 lanes, and a warp of {', '.join(wide)} has 128"
            advice = (
                "Set TILELANG_MUSA_MP22_MMA_SHAPE=m16n16k16 for warps of 32 threads, or make the width a parameter."
            )
            module.report(call, "warp-shuffle", message, severity=Severity.WARNING, advice=advice, name=name, once=once)
        elif name in _SHUFFLES and (len(call.args) > 2 or keyword(call, "mask") or keyword(call, "width")):
            message = f"T.{name} in {where} is given a width or a mask: check the order of the arguments"
            module.report(call, "warp-shuffle", message, severity=Severity.WARNING, name=name, once=once)
        elif name == "shfl_sync":
            message = f"T.{name} in {where} is left: tilelang-musa takes the value first as well as a mask first"
            module.report(call, "warp-shuffle", message, name=name, once=once)


@visit(cst.BinaryOperation, order=6)
def report_arithmetic(module: Module, node: cst.BinaryOperation) -> None:
    """`thread % 32`, `tx // 32`, `lane & 31`, `tx >> 5`. Where 32 has a name, the name is reported."""
    width = _WIDTHS.get(type(node.operator))
    if width is None or not isinstance(node.right, cst.Integer) or node.right.evaluated_value != width:
        return
    if is_tilelang(module) and wide_warps(module.options.arch) and _is_thread(module, node.left):
        _report(module, node, module.code(node))


def _is_thread(module: Module, node: cst.BaseExpression) -> bool:
    """Whether an expression counts threads."""
    if isinstance(node, cst.Call):
        return word(module, node.func) in ("get_thread_binding", "get_thread_bindings")
    return _THREAD.search(last_name(node)) is not None


@visit(cst.Assign, order=6)
def report_name(module: Module, node: cst.Assign) -> None:
    """`warp_size = 32`."""
    name = last_name(node.targets[0].target)
    if not _WIDTH_NAME.search(name) or not is_tilelang(module):
        return
    if wide_warps(module.options.arch) and evaluate(module, node.value) == 32:
        _report(module, node, module.code(node))


@visit(cst.Integer, order=6)
def report_mask(module: Module, node: cst.Integer) -> None:
    """`0xFFFFFFFF`, the mask of all lanes, given to a call."""
    if node.value.lower() != "0xffffffff" or not isinstance(module.parent(node), cst.Arg):
        return
    if is_tilelang(module) and wide_warps(module.options.arch):
        _report(module, node, node.value)


def _report(module: Module, node: cst.CSTNode, text: str) -> None:
    where = kernel_name(module, node)
    wide = ", ".join(wide_warps(module.options.arch))
    message = f"{text} in {where} takes a warp for 32 threads: {wide} has 128"
    module.report(node, "warp-width", message, once=where)


@visit(cst.Module, order=6)
def report_small(module: Module, node: cst.Module) -> None:
    """Kernels with a single warp of CUDA's width in a block."""
    for found in kernels(module):
        if any(found.threads(arguments) == 32 for arguments in found.arguments):
            where = kernel_name(module, found.call)
            module.report(found.call, "one-warp-block", f"{where} has 32 threads in a block", name=where)
