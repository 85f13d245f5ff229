"""Devices that a program or a test lets somebody choose: command-line options, parametrised tests, fixtures."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from musa_port.python.devices import is_device_name, port_place
from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted

_CALLS = frozenset({"add_argument", "option", "Option", "add_option"})
_NAMES = ("device", "devices", "device_type", "_dev")
_VALUES = frozenset({"default", "choices", "const"})


def _name(node: cst.CSTNode) -> str:
    return node.attr.value if isinstance(node, cst.Attribute) else (dotted(node) or [""])[-1]


@visit(cst.Call, order=30)
def port_call(module: Module, node: cst.Call) -> None:
    """Options and the parameters of tests."""
    name = _name(node.func)
    if name in _CALLS and any(_is_for_device(arg) for arg in node.args):
        for arg in node.args:
            _port_option(module, arg)
    elif name == "parametrize":
        _port_parameters(module, node)


def _is_for_device(arg: cst.Arg) -> bool:
    """`"--device"`, or `dest="device"`."""
    if arg.keyword is not None and arg.keyword.value != "dest":
        return False
    flag = plain(arg.value).lstrip("-").replace("-", "_")
    return flag == "dev" or flag.endswith(_NAMES)


def _port_option(module: Module, arg: cst.Arg) -> None:
    """`default="cuda"`, `choices=["cuda", "cpu"]`, `type=click.Choice([...])`, and the default of typer.Option."""
    if arg.keyword is None:
        if not plain(arg.value).startswith("-"):
            port_place(module, arg.value, "device-keyword")
    elif arg.keyword.value in _VALUES:
        port_place(module, arg.value, "device-keyword")
    elif arg.keyword.value == "type" and isinstance(arg.value, cst.Call):
        for inner in arg.value.args:
            port_place(module, inner.value, "device-keyword")


def _port_parameters(module: Module, node: cst.Call) -> None:
    """`pytest.mark.parametrize("device,dtype", [("cuda", torch.half), ("cpu", torch.float)])`."""
    given = {arg.keyword.value: arg.value for arg in node.args if arg.keyword is not None}
    positional = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
    names, values = [*positional, given.get("argnames"), given.get("argvalues")][:2]
    if names is None or values is None:
        return
    words = _words(names)
    for position, word in enumerate(words):
        if is_device_name(word):
            for value in _column(values, position if len(words) > 1 else -1):
                port_place(module, value, "device-keyword")


def _words(names: cst.BaseExpression) -> list[str]:
    """The names of the parameters: one string with commas, or a sequence of strings."""
    if isinstance(names, (cst.Tuple, cst.List)):
        return [plain(element.value) for element in names.elements]
    return [word.strip() for word in plain(names).split(",")]


def _column(values: cst.BaseExpression, position: int) -> Iterator[cst.BaseExpression]:
    """What the sets of values give to one parameter; -1 when it is the only one."""
    if isinstance(values, cst.Call) and _name(values.func) == "product" and 0 <= position < len(values.args):
        yield values.args[position].value
    elif isinstance(values, (cst.List, cst.Tuple)):
        for element in values.elements:
            yield from _cell(element.value, position)
    elif position < 0:
        yield values


def _cell(row: cst.BaseExpression, position: int) -> Iterator[cst.BaseExpression]:
    """`pytest.param("cuda", id="cuda")`, `("cuda", torch.half)`, or the value itself."""
    if isinstance(row, cst.Call) and _name(row.func) == "param":
        cells = [arg.value for arg in row.args if arg.keyword is None]
    elif isinstance(row, (cst.Tuple, cst.List)) and position >= 0:
        cells = [element.value for element in row.elements]
    else:
        cells = [row] if position < 0 else []
    yield from cells[max(position, 0) : max(position, 0) + 1]


@visit(cst.FunctionDef, order=30)
def port_fixture(module: Module, node: cst.FunctionDef) -> None:
    """`@pytest.fixture(params=["cpu", "cuda"])` of a fixture that is called device."""
    if not is_device_name(node.name.value):
        return
    for decorator in node.decorators:
        call = decorator.decorator
        for arg in call.args if isinstance(call, cst.Call) and _name(call.func) == "fixture" else ():
            if arg.keyword is not None and arg.keyword.value == "params":
                for value in _column(arg.value, -1):
                    port_place(module, value, "device-keyword")
