"""Tensors of types that torch_musa handles in part: FP8, and unsigned integers of 16 and 32 bits."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.flow import flow
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.uses import is_use
from musa_port.rules import Rule, register
from musa_port.tilelang.recognise import argument, is_tilelang, keyword, last_name

FP8 = register(
    Rule(
        "H25",
        "fp8-tensor",
        Severity.WARNING,
        "Fills FP8 tensors by way of float32; reports those that are indexed or compared.",
        why="torch_musa neither fills nor indexes nor compares FP8 tensors.",
        example=(
            "x = torch.zeros(4, 4, dtype=torch.float8_e4m3fn, device=device)",
            "x = torch.zeros(4, 4, dtype=torch.float32, device=device).to(torch.float8_e4m3fn)",
        ),
        advice="Index and compare FP8 tensors as x.float() or x.view(torch.uint8).",
        evidence="the tests of tilelang-musa and of its port of TileKernels",
    )
)
UNSIGNED = register(
    Rule(
        "H26",
        "unsigned-tensor",
        Severity.WARNING,
        "Reports tensors of unsigned 16-bit and 32-bit integers.",
        why="Operations of torch_musa do not give tensors of these types.",
        example=("packed = words.to(torch.uint32)", "packed = words.to(torch.uint32)"),
        advice="Keep the bits in int16 or int32, and view them as bytes where the sign would show.",
        evidence="the port of TileKernels avoids them",
    )
)
_FILLED_NAMES = frozenset("zeros ones full zeros_like ones_like full_like".split())
_FILLED = frozenset(f"torch.{name}" for name in _FILLED_NAMES)


@visit(cst.Call, order=25)
def port_filled(module: Module, node: cst.Call) -> None:
    """`torch.zeros(..., dtype=torch.float8_e4m3fn)`."""
    if not isinstance(node.func, (cst.Attribute, cst.Name)) or not is_tilelang(module):
        return
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else node.func.value
    given = keyword(node, "dtype")
    if given is None or name not in _FILLED_NAMES or module.qualified(node.func) not in _FILLED:
        return
    dtype = module.qualified(given.value)
    if not dtype.startswith("torch.float8_"):
        return
    text = module.code(given.value)
    if isinstance(given.value, cst.Attribute):
        module.replace(given.value.attr, "float32", "fp8-tensor", musa=False)
    elif module.sees(given.value, "torch"):
        module.replace(given.value, "torch.float32", "fp8-tensor", musa=False)
    else:
        module.report(node, "fp8-tensor", f"{name} fills a tensor of {dtype}, and is left")
        return
    _, end = module.span(node)
    module.edit(end, end, f".to({text})", "fp8-tensor", musa=False)


@visit(cst.Subscript, order=25)
def report_index(module: Module, node: cst.Subscript) -> None:
    """`x[0]` of an FP8 tensor."""
    if dtype := _fp8(module, node.value):
        module.report(node, "fp8-tensor", f"{module.code(node)} indexes a tensor of {dtype}, and is left", name=dtype)


@visit(cst.Comparison, order=25)
def report_comparison(module: Module, node: cst.Comparison) -> None:
    """`x == y` of FP8 tensors."""
    if any(isinstance(target.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)) for target in node.comparisons):
        return
    for operand in (node.left, *(target.comparator for target in node.comparisons)):
        if dtype := _fp8(module, operand):
            message = f"{module.code(node)} compares a tensor of {dtype}, and is left"
            module.report(node, "fp8-tensor", message, name=dtype)
            return


def _fp8(module: Module, node: cst.BaseExpression) -> str:
    """The FP8 type of the tensor that a variable is, "" when it is none or that is unclear."""
    if not isinstance(node, (cst.Name, cst.Attribute)) or not is_tilelang(module):
        return ""
    if not module.draft.mentions(b"float8"):
        return ""
    types = {_made_as(module, value) for value in flow(module).values(node)}
    return types.pop() if len(types) == 1 else ""


def _made_as(module: Module, node: cst.BaseExpression) -> str:
    """`torch.float8_e4m3fn` for `torch.empty(..., dtype=torch.float8_e4m3fn)` and `x.to(torch.float8_e4m3fn)`."""
    if not isinstance(node, cst.Call):
        return ""
    is_cast = last_name(node.func) in ("to", "view", "type")
    given = argument(node, "dtype", 0 if is_cast else None)
    dtype = module.qualified(given) if given is not None else ""
    return dtype if dtype.startswith("torch.float8_") else ""


@visit(cst.Attribute, order=25)
def report_unsigned(module: Module, node: cst.Attribute) -> None:
    """`torch.uint32` as the type of a tensor."""
    if node.attr.value in ("uint16", "uint32") and is_use(module, node) and _is_tensor_type(module, node):
        full = module.qualified(node)
        if full in ("torch.uint16", "torch.uint32"):
            message = f"{full} is the type of a tensor: operations of torch_musa give none of it"
            module.report(node, "unsigned-tensor", message, name=full)


def _is_tensor_type(module: Module, node: cst.Attribute) -> bool:
    """Whether it is given to a call; in a TileLang file, whether it is anything but compared, or the key of a table."""
    parent = module.parent(node)
    if isinstance(parent, cst.Arg):
        return True
    if not is_tilelang(module) or isinstance(parent, (cst.Comparison, cst.ComparisonTarget)):
        return False
    return not (isinstance(parent, cst.DictElement) and parent.key is node)
