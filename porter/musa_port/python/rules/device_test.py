"""Tests of what kind of device something is, and the old names of typed tensors."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.devices import ends_in_device, port_value
from musa_port.python.literals import plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register

COMPARISON = register(
    Rule(
        "P9",
        "device-comparison",
        Severity.INFO,
        "Changes what a device, or its type, is compared with.",
        example=('if x.device.type == "cuda":', 'if x.device.type == "musa":'),
    )
)
TENSOR_TYPE = register(
    Rule(
        "P23",
        "tensor-type",
        Severity.INFO,
        "Renames the typed tensors of torch.cuda that are named in a string.",
        example=(
            'torch.set_default_tensor_type("torch.cuda.FloatTensor")',
            'torch.set_default_tensor_type("torch.musa.FloatTensor")',
        ),
    )
)
_TESTS = frozenset({"startswith", "endswith", "removeprefix", "count"})
_TENSOR_TYPE = re.compile(r"torch\.cuda\.[A-Z]\w*(Tensor|Storage)")
#: What a value passes through: one of several elements or branches.
_CHOOSING = (cst.IfExp, cst.Element, cst.Tuple, cst.List, cst.Set)


@visit(cst.Comparison, order=30)
def port_comparison(module: Module, node: cst.Comparison) -> None:
    """`device.type == "cuda"`, `"cuda" in str(device)`, `device in ("cuda", "cpu")`."""
    operands = [node.left, *(target.comparator for target in node.comparisons)]
    if any(ends_in_device(operand) for operand in operands):
        for operand in operands:
            port_value(module, operand, "device-comparison")
            _port_beginning(module, operand)


@visit(cst.Call, order=30)
def port_method(module: Module, node: cst.Call) -> None:
    """`str(device).startswith("cuda")`."""
    func = node.func
    if not isinstance(func, cst.Attribute) or func.attr.value not in _TESTS or not node.args:
        return
    if ends_in_device(func.value):
        port_value(module, node.args[0].value, "device-comparison")
        _port_beginning(module, node.args[0].value)


def _port_beginning(module: Module, node: cst.CSTNode) -> None:
    """`"cuda:"`, which is only a part of a device."""
    text = text_of(module, node)
    if isinstance(node, cst.SimpleString) and text is not None and text.value == "cuda:":
        module.edit(text.start, text.start + 4, "musa", "device-comparison")


@visit(cst.MatchCase, order=30)
def port_case(module: Module, node: cst.MatchCase) -> None:
    """`case "cuda":` of `match device.type:`."""
    match = module.parent(node)
    if isinstance(match, cst.Match) and ends_in_device(match.subject):
        for pattern in _patterns(node.pattern):
            port_value(module, pattern.value, "device-comparison")


def _patterns(pattern: cst.MatchPattern) -> list[cst.MatchValue]:
    if isinstance(pattern, cst.MatchValue):
        return [pattern]
    if isinstance(pattern, cst.MatchOr):
        return [found for element in pattern.patterns for found in _patterns(element.pattern)]
    return []


@visit(cst.SimpleString, order=35)
def port_tensor_type(module: Module, node: cst.SimpleString) -> None:
    """The whole string, as an argument or in a comparison."""
    if not _TENSOR_TYPE.fullmatch(plain(node)) or not _names_type(module, node):
        return
    text = text_of(module, node)
    if text is not None:
        start = text.start + len("torch.")
        module.edit(start, start + len("cuda"), "musa", "tensor-type")
        module.claim(node)


def _names_type(module: Module, node: cst.CSTNode) -> bool:
    """Whether the place takes the name of a tensor type: a comparison, `x.type(...)`, set_default_tensor_type(...)."""
    parent = module.parent(node)
    while isinstance(parent, _CHOOSING) and not (isinstance(parent, cst.IfExp) and parent.test is node):
        node, parent = parent, module.parent(parent)
    if isinstance(parent, (cst.Comparison, cst.ComparisonTarget)):
        return True
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return False
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else (dotted(call.func) or [""])[-1]
    return name in ("type", "set_default_tensor_type")
