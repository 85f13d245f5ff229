"""Products that do not wait for their result."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.changes import delete_items, delete_statement
from musa_port.tilelang.facts import having, lacking
from musa_port.tilelang.recognise import argument, calls, kernel_name, keyword
from musa_port.tilelang.values import evaluate

ASYNC = register(
    Rule(
        "K9",
        "async-gemm",
        Severity.WARNING,
        "Writes T.wgmma_gemm as T.gemm(..., wg_wait=-1), and as plain T.gemm for mp_22 alone; reports T.tcgen05_gemm.",
        why="On mp_31 the asynchronous product is T.gemm that does not wait; T.wait_sqmma waits. mp_22 has no SQMMA, "
        "and each of its products is finished when the next statement runs.",
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
        "Writes T.wait_wgmma(n) as T.wait_sqmma(); deletes it for mp_22 alone.",
        why="It is the same operation under its name on mp_31, and waits for every product. mp_22 has nothing to wait "
        "for.",
        example=("T.wait_wgmma(0)", "T.wait_sqmma()"),
    )
)


_GEMM = ("gemm", "gemm_v1", "gemm_v2")


@visit(cst.Module, order=6)
def port_products(module: Module, node: cst.Module) -> None:
    """`T.wgmma_gemm(A, B, C)`."""
    new = "T.gemm(..., wg_wait=-1)" if _has_sqmma(module) else "T.gemm"
    for call in calls(module, "wgmma_gemm"):
        where = kernel_name(module, call)
        if not isinstance(call.func, cst.Attribute) or keyword(call, "annotations") or not call.args:
            message = f"T.wgmma_gemm in {where} is left: on MUSA it is {new}"
            module.report(call, "async-gemm", message, severity=Severity.ERROR)
            continue
        module.replace(call.func.attr, "gemm", "async-gemm", musa=False)
        if _has_sqmma(module):
            _, end = module.span(call.args[-1])
            module.edit(end, end, ", wg_wait=-1", "async-gemm", musa=False)
        _report(module, call, f"T.wgmma_gemm in {where} became {new}", "gemm")


@visit(cst.Module, order=6)
def port_arguments(module: Module, node: cst.Module) -> None:
    """`T.gemm(A, B, C, wg_wait=-1)`, which is the same."""
    for call in calls(module, *_GEMM):
        given = keyword(call, "wg_wait")
        if given is not None and evaluate(module, given.value) != 0:
            _port_argument(module, call, given)


def _port_argument(module: Module, call: cst.Call, given: cst.Arg) -> None:
    where = kernel_name(module, call)
    if _has_sqmma(module):
        _report(module, call, f"T.gemm in {where} does not wait for its result")
    elif delete_items(module, call.args, lambda arg: "async-gemm" if arg is given else ""):
        _report(module, call, f"wg_wait of T.gemm in {where} went", "gemm")
    else:
        _report(module, call, f"wg_wait of T.gemm in {where} is left")


def _report(module: Module, call: cst.Call, what: str, new: str = "") -> None:
    """Say what became of a product, and on which architectures it is no other than T.gemm."""
    without = ", ".join(lacking(module.options.arch, "sqmma"))
    if not without:
        if new:
            module.report(call, "async-gemm", what, new=new)
    elif _has_sqmma(module):
        message = f"{what}: {without} has no SQMMA, and needs T.gemm without wg_wait"
        module.report(call, "async-gemm", message, new=new)
    else:
        message = f"{what}: {without} has no SQMMA, and its T.gemm waits for the result"
        module.report(call, "async-gemm", message, new=new, advice="Nothing has to wait for it any more.")


def _has_sqmma(module: Module) -> bool:
    return bool(having(module.options.arch, "sqmma"))


@visit(cst.Module, order=6)
def port_waits(module: Module, node: cst.Module) -> None:
    """`T.wait_wgmma(0)`."""
    for call in calls(module, "wait_wgmma"):
        if not _has_sqmma(module):
            _delete_wait(module, call)
        elif not isinstance(call.func, cst.Attribute):
            module.report(call, "wait-sqmma", "wait_wgmma is left: on MUSA it is wait_sqmma()", severity=Severity.ERROR)
        else:
            _port_wait(module, call, call.func.attr)


def _delete_wait(module: Module, call: cst.Call) -> None:
    if not delete_statement(module, call, "wait-sqmma"):
        message = f"T.wait_wgmma in {kernel_name(module, call)} is left, where products are not waited for"
        module.report(call, "wait-sqmma", message, severity=Severity.ERROR, advice="Take it out of the expression.")


def _port_wait(module: Module, call: cst.Call, name: cst.Name) -> None:
    start, end = module.span(name)
    if "#" in module.code(call):
        module.edit(start, end, "wait_sqmma", "wait-sqmma", musa=False)
    else:
        module.edit(start, module.span(call)[1], "wait_sqmma()", "wait-sqmma", musa=False)
    if evaluate(module, argument(call, "id", 0)) != 0:
        message = f"T.wait_wgmma in {kernel_name(module, call)} let products run on; T.wait_sqmma() waits for all"
        module.report(call, "wait-sqmma", message, new="wait_sqmma()")
