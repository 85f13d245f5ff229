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

#: How many names a string goes through on its way.
_MAX_STEPS = 3


@visit(cst.Module, order=70)
def port_sources(module: Module, node: cst.Module) -> None:
    """`kind = "cuda"`, when the file says `x.to(kind)`."""
    if not _has_left(module):
        return
    for place in (*module.device_places, *_unpacked(module), *_loops(module)):
        for choice in choices(place):
            for source in (choice, *_sources(module, choice)):
                port_value(module, source, "device-string")


def _sources(module: Module, node: cst.BaseExpression, steps: int = _MAX_STEPS) -> Iterator[cst.BaseExpression]:
    """What a name, an attribute or a function of the file gives; further on, what the names there hold.

    An attribute that only reaches the place through a name may have another meaning where it is set.
    """
    found: list[cst.BaseExpression] = []
    if isinstance(node, cst.Name) or (isinstance(node, cst.Attribute) and steps == _MAX_STEPS):
        found = flow(module).written(node)
    elif isinstance(node, cst.Call) and steps == _MAX_STEPS:
        function = flow(module).function(node)
        found = list(flow(module).results(function)) if function is not None else []
    for value in found:
        for choice in choices(value):
            yield choice
            if steps:
                yield from _sources(module, choice, steps - 1)


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
                yield from flow(module).values(element.value)


@visit(cst.Comparison, order=72)
def port_comparison(module: Module, node: cst.Comparison) -> None:
    """`if kind == "cuda":`, when `kind` is a device by now."""
    operands = [node.left, *(target.comparator for target in node.comparisons)]
    left = [choice for operand in operands for choice in choices(operand) if is_device(choice)]
    if any(not _is_decided(module, choice) for choice in left) and any(
        becomes_device(module, item) for item in operands
    ):
        for choice in left:
            port_value(module, choice, "device-comparison")


def becomes_device(module: Module, node: cst.BaseExpression) -> bool:
    """Whether a name holds a string that was changed to another device."""
    sources = _sources(module, node)
    return any(is_device(source) and _is_decided(module, source) and not _is_kept(module, source) for source in sources)


def _is_kept(module: Module, node: cst.BaseExpression) -> bool:
    return module.draft.is_kept(*module.span(node))


def _is_decided(module: Module, node: cst.BaseExpression) -> bool:
    text = text_of(module, node)
    return text is not None and module.draft.is_claimed(text.start)
