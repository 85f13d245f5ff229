"""Device functions that kernels call by name."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.facts import dtypes, kept_externs
from musa_port.tilelang.recognise import calls, kernel_name

EXTERN = register(
    Rule(
        "K29",
        "device-function",
        Severity.WARNING,
        "Keeps device functions that MUSA has under the same name, and renames others by the table of intrinsics.",
        example=(
            "y = T.call_extern('float16', '__float2half_rz', x)",
            "y = T.call_extern('float16', '__float2half_rz', x)",
        ),
        advice="Look for the function in the MUSA headers, or write it with words of the language.",
        evidence="intrinsics.csv; the port of TileKernels keeps __match_any_sync and __float2half_rz",
    )
)
#: How sure a row must be for its name to be kept without a question.
_SURE = ("high", "medium")


@visit(cst.Module, order=6)
def port_externs(module: Module, node: cst.Module) -> None:
    """`T.call_extern(dtype, "name", ...)`."""
    for call in calls(module, "call_extern", "call_pure_extern"):
        names = [arg.value for arg in reversed(call.args[:2]) if _is_name(arg.value)]
        if names:
            _port_name(module, names[0])
        else:
            message = f"T.call_extern in {kernel_name(module, call)} calls a function that is named elsewhere"
            module.report(call, "device-function", message)


def _is_name(node: cst.BaseExpression) -> bool:
    """Whether it is text, and not that of a data type."""
    text = plain(node)
    return bool(text) and text not in ("handle", "void") and dtypes().get(text) is None


def _port_name(module: Module, node: cst.BaseExpression) -> None:
    name = plain(node)
    where = kernel_name(module, node)
    if "asm" in name:
        module.report(node, "kernel-ptx", f"inline assembly in {where}", name="asm")
        return
    if name in kept_externs():
        message = f"{name}, called in {where}, is kept: {kept_externs()[name]}"
        module.report(node, "device-function", message, severity=Severity.INFO, name=name)
        return
    row = module.draft.names.find(name) if name.isidentifier() else None
    text = text_of(module, node)
    if row is None:
        message = f"{name}, called in {where}, is no function of CUDA that the tables know"
        module.report(node, "device-function", message, severity=Severity.INFO, name=name)
    elif not row.supported:
        message = f"{name}, called in {where}, has no counterpart on MUSA"
        module.report(node, "device-function", message, severity=Severity.ERROR, name=name)
    elif row.musa != name and text is not None and module.draft.names.allowed(row):
        module.edit(text.start, text.start + len(name), row.musa, "device-function", row.confidence, musa=False)
    else:
        sure = row.confidence in _SURE
        message = f"{name}, called in {where}, is kept: {'MUSA has it too' if sure else 'not seen in MUSA code so far'}"
        severity = Severity.INFO if sure else Severity.WARNING
        module.report(node, "device-function", message, severity=severity, name=name)
