"""Products that do not wait for their result."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.recognise import argument, calls, kernel_name, keyword
from musa_port.tilelang.values import evaluate

ASYNC = register(
    Rule(
        "K9",
        "async-gemm",
        Severity.WARNING,
        "Writes T.wgmma_gemm as T.gemm(..., wg_wait=-1); reports T.tcgen05_gemm.",
        why="On MUSA the asynchronous product is T.gemm that does not wait; T.wait_sqmma waits.",
        example=("T.wgmma_gemm(A, B, C, clear_accum=True)", "T.gemm(A, B, C, clear_accum=True, wg_wait=-1)"),
        advice="Make sure that T.wait_sqmma() comes before the accumulator is read.",
        evidence="lowering of wg_wait=-1 with tilelang-musa 0.1.12",
    )
)
WAIT = register(
    Rule(
        "K10",
        "wait-sqmma",
        Severity.INFO,
        "Writes T.wait_wgmma(n) as T.wait_sqmma().",
        why="It is the same operation under its name on MUSA, and waits for every product.",
        example=("T.wait_wgmma(0)", "T.wait_sqmma()"),
    )
)


@visit(cst.Module, order=6)
def port_products(module: Module, node: cst.Module) -> None:
    """`T.wgmma_gemm(A, B, C)`."""
    for call in calls(module, "wgmma_gemm"):
        where = kernel_name(module, call)
        if not isinstance(call.func, cst.Attribute) or keyword(call, "annotations") or not call.args:
            message = f"T.wgmma_gemm in {where} is left: on MUSA it is T.gemm(..., wg_wait=-1)"
            module.report(call, "async-gemm", message, severity=Severity.ERROR)
            continue
        module.replace(call.func.attr, "gemm", "async-gemm", musa=False)
        _, end = module.span(call.args[-1])
        module.edit(end, end, ", wg_wait=-1", "async-gemm", musa=False)
        message = f"T.wgmma_gemm in {where} became T.gemm(..., wg_wait=-1)"
        module.report(call, "async-gemm", message, new="gemm")


@visit(cst.Module, order=6)
def port_waits(module: Module, node: cst.Module) -> None:
    """`T.wait_wgmma(0)`."""
    for call in calls(module, "wait_wgmma"):
        if not isinstance(call.func, cst.Attribute):
            module.report(call, "wait-sqmma", "wait_wgmma is left: on MUSA it is wait_sqmma()", severity=Severity.ERROR)
            continue
        start, end = module.span(call.func.attr)
        if "#" in module.code(call):
            module.edit(start, end, "wait_sqmma", "wait-sqmma", musa=False)
        else:
            module.edit(start, module.span(call)[1], "wait_sqmma()", "wait-sqmma", musa=False)
        if evaluate(module, argument(call, "id", 0)) != 0:
            message = f"T.wait_wgmma in {kernel_name(module, call)} let products run on; T.wait_sqmma() waits for all"
            module.report(call, "wait-sqmma", message, new="wait_sqmma()")
