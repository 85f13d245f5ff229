"""Data types that MUSA architectures lack: FP4 on all of them, FP8 before mp_31."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.uses import is_use
from musa_port.rules import Rule, register
from musa_port.tilelang.facts import dtypes, lacking, severity_for
from musa_port.tilelang.recognise import is_tilelang, kernel_name, word

FP4 = register(
    Rule(
        "K30",
        "fp4",
        Severity.ERROR,
        "Reports FP4 types.",
        why="tilelang-musa generates no code for copies and casts of FP4.",
        example=("packed = T.alloc_shared((128, 64), T.float4_e2m1fn)",) * 2,
        advice="Keep the pairs as uint8 and unpack them by hand: two values a byte, the low half first.",
        evidence="the tests of FP4 in the port of TileKernels are skipped",
    )
)
FP8 = register(
    Rule(
        "K31",
        "fp8",
        Severity.WARNING,
        "Reports FP8 types where the port is for mp_22 or older.",
        why="FP8 exists from mp_31 on. With both among --arch it is a warning, for the kernel runs on one of them.",
        example=("tile = T.alloc_shared((128, 64), T.float8_e4m3fn)",) * 2,
        advice="Give mp_22 a kernel in bfloat16, or port for mp_31 alone: --arch mp_31.",
    )
)


@visit(cst.Attribute, cst.Name, order=6)
def report_type(module: Module, node: cst.Attribute | cst.Name) -> None:
    """`T.float8_e4m3fn`, `torch.float8_e4m3fn`."""
    name = node.attr.value if isinstance(node, cst.Attribute) else node.value
    if _kind(name) not in ("fp8", "fp4") or not is_tilelang(module) or not is_use(module, node):
        return
    if word(module, node) or module.qualified(node).startswith("torch."):
        _report(module, node, name)


@visit(cst.SimpleString, order=6)
def report_text(module: Module, node: cst.SimpleString) -> None:
    """`"float8_e4m3"` as a type."""
    name = plain(node)
    if _kind(name) in ("fp8", "fp4") and is_tilelang(module) and not isinstance(module.parent(node), cst.Expr):
        _report(module, node, name)


def _kind(name: str) -> str:
    found = dtypes().get(name)
    return found.kind if found is not None else ""


def _report(module: Module, node: cst.CSTNode, name: str) -> None:
    where = kernel_name(module, node)
    if _kind(name) == "fp4":
        message = f"{name} in {where}: there is no code generation for FP4"
        module.report(node, "fp4", message, name=name, once=f"{name} {where}")
        return
    without = lacking(module.options.arch, "fp8")
    if without:
        message = f"{name} in {where}: {', '.join(without)} has no FP8"
        severity = severity_for(module.options.arch, without)
        module.report(node, "fp8", message, severity=severity, name=name, once="file")
