"""What parameters of functions may be: their defaults, and what calls in the same file give them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.tilelang.bindings import functions_around, parameters
from musa_port.tilelang.values import Value, evaluate

_MAX_CALLS = 24


def argument_sets(module: Module, node: cst.CSTNode) -> list[dict[tuple[cst.FunctionDef, str], Value]]:
    """What the parameters of the functions around a node may be: the defaults, then each call in the same file."""
    sets: list[dict[tuple[cst.FunctionDef, str], Value]] = [{}]
    for function in functions_around(module, node):
        for given in _given(module, function):
            if len(sets) == _MAX_CALLS:
                return sets
            if given not in sets:
                sets.append(given)
    return sets


def _given(module: Module, function: cst.FunctionDef) -> Iterator[dict[tuple[cst.FunctionDef, str], Value]]:
    """The arguments of each call of a function in the file, and of each configuration of an autotuner."""
    for call in calls_of(module, function):
        given = bound_arguments(function, call)
        yield {(function, name): evaluate(module, node) for name, node in given.items()}
    for decorator in function.decorators:
        if isinstance(decorator.decorator, cst.Call):
            for values in _configurations(module, decorator.decorator):
                yield {(function, name): value for name, value in values.items()}


def calls_of(module: Module, function: cst.FunctionDef) -> Iterator[cst.Call]:
    """The calls of a function in its file, by its name, outside itself."""
    for call in _calls_by_name(module).get(function.name.value, ()):
        if function not in functions_around(module, call):
            yield call


def bound_arguments(function: cst.FunctionDef, call: cst.Call) -> dict[str, cst.BaseExpression]:
    """The expression that a call gives to each parameter."""
    names = [parameter.name.value for parameter in parameters(function)]
    given: dict[str, cst.BaseExpression] = {}
    for position, arg in enumerate(call.args):
        if arg.star:
            break
        if arg.keyword is not None:
            given[arg.keyword.value] = arg.value
        elif position < len(names):
            given[names[position]] = arg.value
    return given


@lru_cache(maxsize=1)
def _calls_by_name(module: Module) -> dict[str, list[cst.Call]]:
    table: dict[str, list[cst.Call]] = {}
    for call in module.nodes(cst.Call):
        if isinstance(call.func, cst.Name):
            table.setdefault(call.func.value, []).append(call)
    return table


def _configurations(module: Module, call: cst.Call) -> Iterator[dict[str, Value]]:
    """`@autotune(configs=[{"block_M": 128, ...}, dict(block_M=64)])`."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == "configs" and isinstance(arg.value, (cst.List, cst.Tuple)):
            for element in arg.value.elements:
                yield _configuration(module, element.value)


def _configuration(module: Module, node: cst.BaseExpression) -> dict[str, Value]:
    pairs: list[tuple[str, cst.BaseExpression]] = []
    if isinstance(node, cst.Dict):
        pairs = [(plain(item.key), item.value) for item in node.elements if isinstance(item, cst.DictElement)]
    elif isinstance(node, cst.Call):
        pairs = [(arg.keyword.value, arg.value) for arg in node.args if arg.keyword is not None]
    return {name: value for name, item in pairs if name and (value := evaluate(module, item)) is not None}
