"""Strings that become devices further on in the file: given to a name that is used as one, or compared with one."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from musa_port.python.devices import is_device, is_device_name, port_value
from musa_port.python.flow import flow
from musa_port.python.literals import choices, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.rules.device_binding import target_name

_FOLLOWED = (cst.Name, cst.Attribute, cst.Subscript, cst.Call)


@visit(cst.Module, order=70)
def port_sources(module: Module, node: cst.Module) -> None:
    """`kind = "cuda"`, when the file says `x.to(kind)`."""
    if not _has_left(module):
        return
    for place in [*module.device_places, *_unpacked(module), *_loops(module)]:
        for choice in choices(place):
            for value in flow(module).values(choice) if isinstance(choice, _FOLLOWED) else [choice]:
                port_value(module, value, "device-string")


def _has_left(module: Module) -> bool:
    """Whether the file has device strings that no rule has decided: names are followed only then."""
    strings = (node for kind in (cst.SimpleString, cst.FormattedString) for node in module.nodes(kind))
    texts = (text_of(module, node) for node in strings)
    return any(text.value.startswith("cuda") and not module.draft.is_claimed(text.start) for text in texts if text)


def _unpacked(module: Module) -> Iterator[cst.BaseExpression]:
    """What the functions of `name, device = get()` give in the place of a device."""
    for node in module.nodes(cst.Assign):
        for target in node.targets:
            names = target.target.elements if isinstance(target.target, (cst.Tuple, cst.List)) else ()
            positions = [index for index, name in enumerate(names) if is_device_name(target_name(name.value))]
            results = flow(module).values(node.value) if positions and isinstance(node.value, cst.Call) else []
            for result in results:
                if isinstance(result, cst.Tuple) and len(result.elements) == len(names):
                    yield from (result.elements[position].value for position in positions)


def _loops(module: Module) -> Iterator[cst.BaseExpression]:
    """The device of `for device, dtype in [("cuda", torch.half)]`."""
    loops: list[cst.For | cst.CompFor] = [*module.nodes(cst.For), *module.nodes(cst.CompFor)]
    for node in loops:
        for element in node.target.elements if isinstance(node.target, (cst.Tuple, cst.List)) else ():
            if is_device_name(target_name(element.value)):
                yield element.value


@visit(cst.Comparison, order=72)
def port_comparison(module: Module, node: cst.Comparison) -> None:
    """`if kind == "cuda":`, when `kind` is a device by now."""
    operands = [node.left, *(target.comparator for target in node.comparisons)]
    left = [choice for operand in operands for choice in choices(operand) if is_device(choice)]
    if any(not _is_decided(module, choice) for choice in left) and any(
        _becomes_device(module, item) for item in operands
    ):
        for choice in left:
            port_value(module, choice, "device-comparison")


def _becomes_device(module: Module, node: cst.BaseExpression) -> bool:
    if not isinstance(node, _FOLLOWED):
        return False
    return any(is_device(value) and _is_changed(module, value) for value in flow(module).values(node))


def _is_changed(module: Module, node: cst.BaseExpression) -> bool:
    return _is_decided(module, node) and not module.draft.is_kept(*module.span(node))


def _is_decided(module: Module, node: cst.BaseExpression) -> bool:
    text = text_of(module, node)
    return text is not None and module.draft.is_claimed(text.start)
