"""Comparisons of a device's capability with a number of NVIDIA's."""

from __future__ import annotations

import libcst as cst

from musa_port.mappings import read_table
from musa_port.model import Severity
from musa_port.python.capabilities import PROPERTIES, is_compared, is_derived
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register

CAPABILITY = register(
    Rule(
        "P28",
        "device-capability",
        Severity.WARNING,
        "Reports comparisons of the device capability, or of what is made from it, with a number; the number is kept.",
        why="MUSA devices say (2, 1), (2, 2) or (3, 1): a comparison with (8, 0) is false on every one of them.",
        example=(
            "if torch.cuda.get_device_capability() >= (8, 0):",
            "if torch.musa.get_device_capability() >= (8, 0):",
        ),
        advice="Compare with what the code needs on MUSA: (2, 2) is the S4000, (3, 1) the S5000, which has FP8.",
    )
)
FIELDS = register(
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
_MESSAGE = "a device capability is compared with a number, which is kept"


@visit(cst.Comparison, order=60)
def report_comparison(module: Module, node: cst.Comparison) -> None:
    """`torch.cuda.get_device_capability() >= (8, 0)`, `sm >= 90` after `sm = major * 10 + minor`."""
    if is_compared(module, [node.left, *(target.comparator for target in node.comparisons)]):
        module.report(node, "device-capability", _MESSAGE)


@visit(cst.Match, order=60)
def report_match(module: Module, node: cst.Match) -> None:
    """`match torch.cuda.get_device_capability():`."""
    if b"capability" in module.draft.data and is_derived(module, node.subject):
        module.report(node.subject, "device-capability", _MESSAGE)


@visit(cst.Attribute, order=60)
def report_property(module: Module, node: cst.Attribute) -> None:
    """`props.shared_memory_per_block_optin`."""
    if node.attr.value not in _missing() or not module.imports("torch") or module.is_claimed(node.attr):
        return
    value = node.value
    if isinstance(value, cst.Call):
        is_properties = bool(module.one_of(value.func, (PROPERTIES,)))
    else:
        is_properties = (dotted(value) or [""])[-1] in module.assigned_from(PROPERTIES)
    if is_properties:
        name = node.attr.value
        module.report(node.attr, "device-property", f"torch_musa's device properties have no {name}", name=name)


def _missing() -> dict[str, str]:
    return {row["field"]: row["note"] for row in read_table("device_properties")}
