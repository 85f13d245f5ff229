"""Comparisons of a device's capability with a number of NVIDIA's."""

from __future__ import annotations

import libcst as cst

from musa_port.mappings import read_table
from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register

CAPABILITY = register(
    Rule(
        "P28",
        "device-capability",
        Severity.WARNING,
        "Reports comparisons of the device capability with a number; the number is kept.",
        why="MUSA devices say (2, 1), (2, 2) or (3, 1): a comparison with (8, 0) is false on every one of them.",
        example=(
            "if torch.cuda.get_device_capability() >= (8, 0):",
            "if torch.musa.get_device_capability() >= (8, 0):",
        ),
        advice="Compare with what the code needs on MUSA: (2, 2) is the S4000, (3, 1) the S5000, which has FP8.",
    )
)
PROPERTIES = register(
    Rule(
        "P35",
        "device-property",
        Severity.ERROR,
        "Reports fields of the device properties that torch_musa does not have.",
        example=(
            "props = torch.cuda.get_device_properties(0)\nwidth = props.warp_size",
            "props = torch.musa.get_device_properties(0)\nwidth = props.warp_size",
        ),
        advice="Read the value elsewhere, or give the code a number for each architecture.",
        evidence="fields of torch_musa's device properties",
    )
)
_CAPABILITY = "torch.cuda.get_device_capability"
_PROPERTIES = "torch.cuda.get_device_properties"


@visit(cst.Comparison, order=60)
def report_comparison(module: Module, node: cst.Comparison) -> None:
    """`torch.cuda.get_device_capability() >= (8, 0)`, `props.major >= 8`, `major >= 8` of an unpacked capability."""
    operands = [node.left, *(target.comparator for target in node.comparisons)]
    if any(map(_is_number, operands)) and any(_is_capability(module, operand) for operand in operands):
        module.report(node, "device-capability", "a device capability is compared with a number, which is kept")


def _is_number(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.Tuple, cst.List)):
        return all(isinstance(element.value, cst.Integer) for element in node.elements)
    return isinstance(node, (cst.Integer, cst.Float))


def _is_capability(module: Module, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Subscript):
        return _is_capability(module, node.value)
    if isinstance(node, cst.Attribute) and node.attr.value in ("major", "minor"):
        return module.imports("torch")
    if isinstance(node, cst.BinaryOperation):
        return _is_capability(module, node.left) or _is_capability(module, node.right)
    if isinstance(node, cst.Name):
        return node.value in module.assigned_from(_CAPABILITY)
    return isinstance(node, cst.Call) and bool(module.one_of(node.func, (_CAPABILITY,)))


@visit(cst.Attribute, order=60)
def report_property(module: Module, node: cst.Attribute) -> None:
    """`props.shared_memory_per_block_optin`."""
    if node.attr.value not in _missing() or not module.imports("torch") or module.is_claimed(node.attr):
        return
    value = node.value
    if isinstance(value, cst.Call):
        is_properties = bool(module.one_of(value.func, (_PROPERTIES,)))
    else:
        is_properties = (dotted(value) or [""])[-1] in module.assigned_from(_PROPERTIES)
    if is_properties:
        name = node.attr.value
        module.report(node.attr, "device-property", f"torch_musa's device properties have no {name}", name=name)


def _missing() -> dict[str, str]:
    return {row["field"]: row["note"] for row in read_table("device_properties")}
