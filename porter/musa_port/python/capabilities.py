"""Values that come from a device's capability: `sm` after `major, minor = get_device_capability(); sm = major * 10`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from musa_port.python.flow import flow
from musa_port.python.joined import name_of
from musa_port.python.literals import plain
from musa_port.python.module import Module

CAPABILITY = "torch.cuda.get_device_capability"
PROPERTIES = "torch.cuda.get_device_properties"
_ARCHITECTURES = "torch.cuda.get_arch_list"
_SOURCES = frozenset({CAPABILITY, _ARCHITECTURES})
#: Calls that give what they are given, in another form.
_FORMS = frozenset("int float str tuple list map join format replace strip Version parse".split())
#: What values are called that hold a capability, when nothing shows where they come from.
_NAME = re.compile(r"(?:\w*_)?(?:capability|compute_cap|sm_version|cuda_arch|sm_arch|device_cap)\w*|sm|cc|arch")
_OWNER = re.compile(r"\w*(?:prop|capab|device_cap)\w*|cc")
_SM = re.compile(r"(?:sm_|compute_)?(?:[5-9]|1[0-2])\.?[0-9][af]?")
_DEPTH = 4


def is_compared(module: Module, operands: list[cst.BaseExpression]) -> bool:
    """Whether operands of a comparison are a capability, or made from one, and constants."""
    if not _is_named(module):
        return False
    constants = [operand for operand in operands if is_constant(module, operand)]
    others = [operand for operand in operands if operand not in constants]
    if not constants or not others:
        return False
    if any(is_derived(module, operand) for operand in others):
        return True
    named = (value for constant in constants for value in flow(module).values(constant))
    return any(map(_is_called_so, others)) and any(map(_is_of_nvidia, named))


@lru_cache(maxsize=1)
def _is_named(module: Module) -> bool:
    """A cheap test before values are followed."""
    pattern = rb"capability|get_device_properties|get_arch_list|compute_cap|sm_version|cuda_arch|\bsm\b|\bcc\b|\.arch\b"
    return re.search(pattern, module.draft.data) is not None


def is_constant(module: Module, node: cst.BaseExpression) -> bool:
    """A number, a text, a list of them, or a name for that."""
    if isinstance(node, (cst.Name, cst.Attribute)):
        values = flow(module).values(node)
        return bool(values) and all(map(_is_literal, values))
    return _is_literal(node)


def _is_literal(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
        return bool(node.elements) and all(_is_literal(element.value) for element in node.elements)
    return isinstance(node, (cst.Integer, cst.Float, cst.SimpleString))


def is_derived(module: Module, node: cst.BaseExpression, depth: int = _DEPTH) -> bool:
    """Whether an expression is a capability of torch.cuda, a part of it, or made from one."""
    if isinstance(node, cst.Call) and module.one_of(node.func, _SOURCES):
        return True
    if isinstance(node, cst.Attribute) and node.attr.value in ("major", "minor"):
        return _is_of_device(module, node.value)
    if isinstance(node, cst.Name) and any(node.value in module.assigned_from(source) for source in _SOURCES):
        return True
    if not depth:
        return False
    if any(is_derived(module, part, depth - 1) for part in _parts(node)):
        return True
    if not isinstance(node, (cst.Name, cst.Attribute, cst.Call)):
        return False
    return any(is_derived(module, value, depth - 1) for value in flow(module).values(node) if value is not node)


def _is_of_device(module: Module, owner: cst.BaseExpression) -> bool:
    """Whether `.major` is asked of properties or a capability, and not of the version of something."""
    if module.qualified(owner):
        return False
    if _OWNER.fullmatch(name_of(owner.func if isinstance(owner, cst.Call) else owner).lower()):
        return module.imports("torch")
    values = [value for value in flow(module).values(owner) if isinstance(value, cst.Call)]
    return any(module.one_of(value.func, (PROPERTIES, CAPABILITY)) for value in values)


def _parts(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The expressions whose value goes into that of another."""
    if isinstance(node, cst.Subscript):
        yield node.value
    elif isinstance(node, cst.BinaryOperation):
        yield from (node.left, node.right)
    elif isinstance(node, (cst.Tuple, cst.List)):
        yield from (element.value for element in node.elements)
    elif isinstance(node, cst.FormattedString):
        yield from (part.expression for part in node.parts if isinstance(part, cst.FormattedStringExpression))
    elif isinstance(node, cst.Call) and name_of(node.func) in _FORMS:
        yield from (arg.value for arg in node.args)
        if isinstance(node.func, cst.Attribute):
            yield node.func.value


def _is_called_so(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Subscript):
        node = node.value
    return _NAME.fullmatch(name_of(node.func if isinstance(node, cst.Call) else node).lower()) is not None


def _is_of_nvidia(node: cst.BaseExpression) -> bool:
    """`90`, `9.0`, `(9, 0)`, `"sm_90"`: what an architecture of NVIDIA is called."""
    if isinstance(node, (cst.Integer, cst.Float)):
        return _SM.fullmatch(node.value) is not None
    if isinstance(node, cst.SimpleString):
        return _SM.fullmatch(plain(node)) is not None
    if not isinstance(node, (cst.Tuple, cst.List, cst.Set)):
        return False
    items = [element.value for element in node.elements]
    pair = "".join(item.value for item in items if isinstance(item, cst.Integer))
    return _SM.fullmatch(pair) is not None or any(map(_is_of_nvidia, items))
