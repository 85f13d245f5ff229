"""Warp specialisation: producers and consumers in one kernel."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.facts import lacking, severity_for
from musa_port.tilelang.recognise import calls, kernel_name, keyword, word

SPECIALISED = register(
    Rule(
        "K17",
        "warp-specialised",
        Severity.INFO,
        "Leaves T.ws, which needs mp_31; reports T.Kernel(producer_threads=).",
        why="tilelang-musa 0.1.12 accepts producer_threads and does not use it. T.ws does not compile for mp_22.",
        example=("with T.ws(0):\n    x = 1", "with T.ws(0):\n    x = 1"),
        advice="Count the producers in threads=, and give them their part with T.ws.",
        evidence="the front end of tilelang-musa 0.1.12; lowering for mp_22",
    )
)


@visit(cst.Module, order=6)
def report_specialised(module: Module, node: cst.Module) -> None:
    """`with T.ws(0):`, `T.Kernel(producer_threads=128)`."""
    without = lacking(module.options.arch, "warp_specialisation")
    for call in calls(module, "ws", "WarpSpecialize"):
        where = kernel_name(module, call)
        if without:
            message = f"T.{word(module, call.func)} in {where} does not compile for {', '.join(without)}"
            severity = severity_for(module.options.arch, without)
            advice = "Let every thread do both parts, one after the other." if severity is Severity.ERROR else ""
            module.report(call, "warp-specialised", message, severity=severity, advice=advice, once=where)
        else:
            message = f"T.{word(module, call.func)} in {where} is left: check that whole warps arrive at its barriers"
            module.report(call, "warp-specialised", message, once=where)
    for call in calls(module, "Kernel"):
        given = keyword(call, "producer_threads")
        if given is not None:
            message = f"producer_threads in {kernel_name(module, call)} has no effect"
            module.report(given, "warp-specialised", message, severity=Severity.WARNING)
