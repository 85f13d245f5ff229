"""Which places give a name its value, by the function that the name is bound in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import libcst as cst

from musa_port.python.module import Module

Owner: TypeAlias = cst.FunctionDef | None


class Binding(NamedTuple):
    """One place that gives a name a value: the expression, or None when it cannot be told."""

    value: cst.BaseExpression | None
    parameter: bool = False


@lru_cache(maxsize=1)
def bindings(module: Module) -> dict[tuple[Owner, str], list[Binding]]:
    """Everything that binds a name, by the function it is bound in."""
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
    return module.enclosing(node, cst.FunctionDef)


def _unpacked(
    target: cst.BaseExpression, value: cst.BaseExpression | None
) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    """The names that a target binds, with their values: `a, b = 1, 2`."""
    if isinstance(target, cst.Name):
        yield target.value, value
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


def assigned(module: Module, name: cst.Name) -> Iterator[cst.BaseExpression]:
    """The expressions that the innermost scope around a name assigns to it."""
    table = bindings(module)
    owners: list[Owner] = [*functions_around(module, name), None]
    for owner in owners:
        found = table.get((owner, name.value))
        if found:
            yield from (binding.value for binding in found if binding.value is not None)
            return
