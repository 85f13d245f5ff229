"""Devices that are given to names: assignments, defaults, loops, entries, results, annotations."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from musa_port.python.devices import (
    is_device_name,
    is_device_word,
    is_keyword,
    mapping_of,
    names_other_thing,
    port_named,
    port_place,
    port_value,
)
from musa_port.python.literals import choices, plain
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted, walk

#: Calls that describe the field of a class, and give its default first or by a keyword.
_FIELDS = frozenset("field Field attrib ib Parameter Argument".split())


@visit(cst.Param, order=30)
def port_default(module: Module, node: cst.Param) -> None:
    """`def f(device="cuda")`, `def f(device: Literal["cpu", "cuda"])`."""
    if node.default is not None:
        port_named(module, node.name.value, node.default, "device-keyword")
    _port_annotation(module, node.name.value, node.annotation)


@visit(cst.Assign, order=30)
def port_assignment(module: Module, node: cst.Assign) -> None:
    """`device = "cuda"`, `device, dtype = "cuda", torch.half`, `config["device"] = ...`, `device_map["x"] = ...`."""
    for target in node.targets:
        for name, value in _pairs(target.target, node.value):
            _port_given(module, name, value)


@visit(cst.AnnAssign, order=30)
def port_annotated(module: Module, node: cst.AnnAssign) -> None:
    """`device: str = "cuda"`."""
    name = target_name(node.target)
    if node.value is not None:
        _port_given(module, name, node.value)
    _port_annotation(module, name, node.annotation)


@visit(cst.NamedExpr, order=30)
def port_walrus(module: Module, node: cst.NamedExpr) -> None:
    """`(device := "cuda")`."""
    _port_given(module, target_name(node.target), node.value)


@visit(cst.For, cst.CompFor, order=30)
def port_loop(module: Module, node: cst.For | cst.CompFor) -> None:
    """`for device in ["cpu", "cuda"]`."""
    if is_device_name(target_name(node.target)):
        port_place(module, node.iter, "device-string")


@visit(cst.DictElement, order=30)
def port_entry(module: Module, node: cst.DictElement) -> None:
    """`{"device": "cuda"}`."""
    if is_keyword(plain(node.key)):
        port_place(module, node.value, "device-keyword", mapping=mapping_of(plain(node.key)))


@visit(cst.Return, order=30)
def port_return(module: Module, node: cst.Return) -> None:
    """`return "cuda"` in a function that is called after a device."""
    if node.value is not None and "device" in module.function_name(node).lower():
        port_value(module, node.value, "device-string")


def _pairs(target: cst.BaseExpression, value: cst.BaseExpression) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The names that an assignment gives values to, each with its value."""
    if isinstance(target, (cst.Tuple, cst.List)) and isinstance(value, (cst.Tuple, cst.List)):
        for inner, given in zip(target.elements, value.elements, strict=False):
            if isinstance(inner, cst.StarredElement) or isinstance(given, cst.StarredElement):
                return
            yield from _pairs(inner.value, given.value)
    else:
        yield target_name(target), value


def target_name(node: cst.CSTNode) -> str:
    """The last name of what is assigned; of an item, its key, or the mapping whose items are devices."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        return node.attr.value
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        inner = target_name(node.value)
        key = plain(node.slice[0].slice.value)
        return inner if mapping_of(inner) else "" if "VISIBLE_DEVICES" in key else key
    return ""


def _port_given(module: Module, name: str, value: cst.BaseExpression) -> None:
    """What is assigned to something of this name."""
    if is_device_name(name):
        for inner in (value, *_defaults(value)):
            port_named(module, name, inner, "device-string")
        _port_literals(module, value)
    elif not names_other_thing(name):
        _port_choice(module, value)


def _defaults(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """`field(default="cuda")`, `Field("cuda")`, `field(default_factory=lambda: ["cuda"])`."""
    if not isinstance(value, cst.Call) or (dotted(value.func) or [""])[-1] not in _FIELDS:
        return
    for position, arg in enumerate(value.args):
        if (position == 0 and arg.keyword is None) or (arg.keyword is not None and arg.keyword.value == "default"):
            yield arg.value
        elif arg.keyword is not None and arg.keyword.value == "default_factory" and isinstance(arg.value, cst.Lambda):
            yield arg.value.body


# ---- annotations -------------------------------------------------------------------------------------------------


def _port_annotation(module: Module, name: str, annotation: cst.Annotation | None) -> None:
    if annotation is not None and is_device_name(name):
        _port_literals(module, annotation.annotation)


def _port_literals(module: Module, node: cst.BaseExpression) -> None:
    """`Literal["cpu", "cuda"]`, also as a part of a type."""
    if not isinstance(node, (cst.Subscript, cst.BinaryOperation)):
        return
    for inner, _ in walk(node):
        if isinstance(inner, cst.Subscript) and (dotted(inner.value) or [""])[-1] == "Literal":
            for element in inner.slice:
                if isinstance(element.slice, cst.Index):
                    port_value(module, element.slice.value, "device-keyword")


# ---- what is chosen by whether there is a device -----------------------------------------------------------------


def _port_choice(module: Module, value: cst.BaseExpression) -> None:
    """`"cuda" if torch.cuda.is_available() else "cpu"`, alone or in a tuple, is a device whatever it is called."""
    for part in [element.value for element in value.elements] if isinstance(value, cst.Tuple) else [value]:
        if isinstance(part, cst.IfExp) and all(map(is_device_word, choices(part))) and _asks(module, part.test):
            port_place(module, part, "device-string")


def _asks(module: Module, node: cst.CSTNode) -> bool:
    """Whether something of torch.cuda is asked."""
    names = (inner for inner, _ in walk(node) if isinstance(inner, (cst.Attribute, cst.Name)))
    return any(module.qualified(name).startswith("torch.cuda.") for name in names)


@visit(cst.FunctionDef, order=30)
def port_results(module: Module, node: cst.FunctionDef) -> None:
    """Results that are kinds of devices, in a function that asks torch.cuda which to give."""
    if names_other_thing(node.name.value):
        return
    results = [inner.value for inner in _returns(module, node) if inner.value is not None]
    for result in results:
        _port_choice(module, result)
    words = [choice for result in results for choice in choices(result)]
    kinds = {plain(word).partition(":")[0] for word in words}
    if len(kinds) > 1 and all(map(is_device_word, words)) and _asks(module, node.body):
        for result in results:
            port_place(module, result, "device-string")


def _returns(module: Module, node: cst.FunctionDef) -> Iterator[cst.Return]:
    for inner, _ in walk(node.body):
        if isinstance(inner, cst.Return) and module.enclosing(inner, cst.FunctionDef) is node:
            yield inner
