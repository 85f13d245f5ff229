"""Which places give a name its value, by the function or the class that the name is bound in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import libcst as cst

from musa_port.python.module import Module
from musa_port.python.tree import dotted

Owner: TypeAlias = cst.FunctionDef | cst.ClassDef | None


class Binding(NamedTuple):
    """One place that gives a name a value: the expression, or None when it cannot be told."""

    value: cst.BaseExpression | None
    parameter: bool = False


@lru_cache(maxsize=1)
def bindings(module: Module) -> dict[tuple[Owner, str], list[Binding]]:
    """Everything that binds a name, by the function or the class it is bound in."""
    table: dict[tuple[Owner, str], list[Binding]] = {}

    def add(node: cst.CSTNode, name: str, binding: Binding) -> None:
        table.setdefault((_owner(module, node), name), []).append(binding)

    for assign in module.nodes(cst.Assign):
        for target in assign.targets:
            for name, value in _unpacked(target.target, assign.value):
                add(assign, name, Binding(value))
    for annotated in module.nodes(cst.AnnAssign):
        if isinstance(annotated.target, cst.Name):
            add(annotated, annotated.target.value, Binding(annotated.value))
    for augmented in module.nodes(cst.AugAssign):
        if isinstance(augmented.target, cst.Name):
            add(augmented, augmented.target.value, Binding(None))
    targets: list[cst.For | cst.NamedExpr | cst.CompFor] = [*module.nodes(cst.For), *module.nodes(cst.NamedExpr)]
    targets += module.nodes(cst.CompFor)
    for node in targets:
        for name, _ in _unpacked(node.target, None):
            add(node, name, Binding(None))
    for item in module.nodes(cst.WithItem):
        if item.asname is not None:
            for name, _ in _unpacked(item.asname.name, None):
                add(item, name, Binding(None))
    for function in module.nodes(cst.FunctionDef):
        add(function, function.name.value, Binding(None))
        for parameter in parameters(function):
            table.setdefault((function, parameter.name.value), []).append(Binding(parameter.default, True))
    return table


def _owner(module: Module, node: cst.CSTNode) -> Owner:
    around: cst.CSTNode | None = module.enclosing(node, cst.FunctionDef, cst.ClassDef)
    return around if isinstance(around, (cst.FunctionDef, cst.ClassDef)) else None


def _unpacked(
    target: cst.BaseExpression, value: cst.BaseExpression | None
) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    """The names that a target binds, with their values: `a, b = 1, 2`."""
    if isinstance(target, cst.Name):
        yield target.value, value
    elif isinstance(target, cst.Attribute) and dotted(target.value) in (["self"], ["cls"]):
        yield f"self.{target.attr.value}", value
    elif isinstance(target, (cst.Tuple, cst.List)):
        values = value.elements if isinstance(value, (cst.Tuple, cst.List)) else ()
        for number, element in enumerate(target.elements):
            matching = values[number].value if len(values) == len(target.elements) else None
            yield from _unpacked(element.value, matching)


def parameters(function: cst.FunctionDef) -> list[cst.Param]:
    """The named parameters of a function, in order."""
    listed = function.params
    return [*listed.posonly_params, *listed.params, *listed.kwonly_params]


def functions_around(module: Module, node: cst.CSTNode) -> list[cst.FunctionDef]:
    """The functions around a node, innermost first."""
    return list(module.all_enclosing(node, cst.FunctionDef))


def members(module: Module, node: cst.Attribute) -> list[Binding]:
    """What binds `self.block`, in the body of the class around it and in its methods, or `Config.block`."""
    owner = _class_of(module, node.value)
    if owner is None:
        return []
    table, name = bindings(module), node.attr.value
    methods = [item for item in owner.body.body if isinstance(item, cst.FunctionDef)]
    found = [binding for method in methods for binding in table.get((method, f"self.{name}"), ())]
    return [*table.get((owner, name), ()), *found]


def _class_of(module: Module, node: cst.BaseExpression) -> cst.ClassDef | None:
    """The class that `self`, `cls`, or its own name stands for."""
    if not isinstance(node, cst.Name):
        return None
    if node.value in ("self", "cls"):
        return module.enclosing(node, cst.ClassDef)
    found = _classes(module).get(node.value, [])
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=1)
def _classes(module: Module) -> dict[str, list[cst.ClassDef]]:
    table: dict[str, list[cst.ClassDef]] = {}
    for node in module.nodes(cst.ClassDef):
        table.setdefault(node.name.value, []).append(node)
    return table


def owners_around(module: Module, node: cst.CSTNode) -> list[Owner]:
    """What may own a name at a place, innermost first: a class in its own body, the functions around it, the module."""
    own = _owner(module, node)
    return [*([own] if isinstance(own, cst.ClassDef) else []), *functions_around(module, node), None]


def assigned(module: Module, name: cst.Name) -> Iterator[cst.BaseExpression]:
    """The expressions that the innermost scope around a name assigns to it."""
    table = bindings(module)
    for owner in owners_around(module, name):
        found = table.get((owner, name.value))
        if found:
            yield from (binding.value for binding in found if binding.value is not None)
            return
