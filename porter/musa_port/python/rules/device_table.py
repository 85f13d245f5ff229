"""Tables whose keys are kinds of devices: `{"cuda": "nccl", "cpu": "gloo"}[device.type]`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from musa_port.model import Severity
from musa_port.python.devices import ends_in_device, is_device, is_device_name, is_device_word, names_of, port_value
from musa_port.python.flow import Place, flow, string_key
from musa_port.python.literals import choices, plain
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.rules.device_flow import becomes_device
from musa_port.python.rules.distributed import port_value as port_backend
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register

TABLE = register(
    Rule(
        "P41",
        "device-table",
        Severity.INFO,
        "Changes the key cuda of tables that have other kinds of devices as keys, wherever the file uses it.",
        why="Such a table is asked with the type of a device, which is musa in the port.",
        example=(
            'import torch\n\nbackend = {"cuda": "nccl", "cpu": "gloo"}[device.type]',
            'import torch\nimport torch_musa\n\nbackend = {"musa": "mccl", "cpu": "gloo"}[device.type]',
        ),
        advice="Change the key where the table is asked with the type of a device.",
    )
)
_ASKING = frozenset({"get", "pop", "setdefault"})


class Use(NamedTuple):
    """A place where a table is given a key, or asked with one; for an entry, with its value."""

    key: cst.BaseExpression
    is_entry: bool = False
    value: cst.BaseExpression | None = None


@visit(cst.Module, order=74)
def port_tables(module: Module, node: cst.Module) -> None:
    """Tables that are used where they stand, and those that have a name."""
    if not module.imports("torch"):
        return
    if not any(is_device(text) and not module.draft.is_claimed(module.span(text)[0] + 1) for text in _keys(module)):
        return
    for table in module.nodes(cst.Dict):
        if _is_asked(module, table):
            _decide(module, list(_entries(table)))
    for uses in _named(module).values():
        _decide(module, uses)


@visit(cst.Call, order=74)
def report_keywords(module: Module, node: cst.Call) -> None:
    """`dict(cuda=f, cpu=g)`."""
    if not isinstance(node.func, cst.Name) or node.func.value != "dict" or not module.imports("torch"):
        return
    names = {arg.keyword.value: arg.keyword for arg in node.args if arg.keyword is not None}
    if "cuda" in names and len(names_of("word") & set(names)) > 1 and "musa" not in names:
        message = "the key cuda of dict() is left, while the type of a device is musa in the port"
        module.report(names["cuda"], "device-table", message, severity=Severity.WARNING, name="cuda")


def _keys(module: Module) -> Iterator[cst.BaseExpression]:
    yield from (entry.key for entry in module.nodes(cst.DictElement))
    yield from (key for item in module.nodes(cst.Subscript) if (key := string_key(item)) is not None)


def _entries(table: cst.Dict) -> Iterator[Use]:
    for entry in table.elements:
        if isinstance(entry, cst.DictElement):
            yield Use(entry.key, True, entry.value)


def _is_asked(module: Module, table: cst.Dict) -> bool:
    """`{...}[device.type]`, `{...}.get(kind)`: with something that is no literal."""
    parent = module.parent(table)
    if isinstance(parent, cst.Subscript):
        return parent.value is table and string_key(parent) is None and not _asks_other(module, _index(parent))
    call = module.parent(parent) if isinstance(parent, cst.Attribute) and parent.attr.value in _ASKING else None
    return isinstance(call, cst.Call) and bool(call.args) and not _asks_other(module, call.args[0].value)


def _index(item: cst.Subscript) -> cst.BaseExpression | None:
    index = item.slice[0].slice if len(item.slice) == 1 else None
    return index.value if isinstance(index, cst.Index) else None


def _asks_other(module: Module, key: cst.BaseExpression | None) -> bool:
    """Whether a table is asked with something that may be no device: `TABLE[platform]`."""
    for choice in choices(key) if key is not None else ():
        is_known = isinstance(choice, cst.SimpleString) or ends_in_device(choice) or becomes_device(module, choice)
        if not is_known and not is_device_name((dotted(choice) or [""])[-1]):
            return True
    return False


def _named(module: Module) -> dict[Place, list[Use]]:
    """The uses of each table that has a name, by where the file keeps it."""
    found: dict[Place, list[Use]] = defaultdict(list)
    bindings: list[cst.Assign | cst.AnnAssign] = [*module.nodes(cst.Assign), *module.nodes(cst.AnnAssign)]
    for node in bindings:
        targets = [target.target for target in node.targets] if isinstance(node, cst.Assign) else [node.target]
        if isinstance(node.value, cst.Dict):
            for given in targets:
                _add(module, found, given, list(_entries(node.value)))
    for item in module.nodes(cst.Subscript):
        if (key := _index(item)) is not None:
            is_entry = isinstance(module.parent(item), cst.AssignTarget)
            _add(module, found, item.value, [Use(key, is_entry, _assigned(module, item) if is_entry else None)])
    for call in module.nodes(cst.Call):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _ASKING and call.args:
            _add(module, found, call.func.value, [Use(call.args[0].value)])
    for comparison in module.nodes(cst.Comparison):
        for target in comparison.comparisons:
            if isinstance(target.operator, (cst.In, cst.NotIn)):
                _add(module, found, target.comparator, [Use(comparison.left)])
    return found


def _assigned(module: Module, item: cst.Subscript) -> cst.BaseExpression | None:
    target = module.parent(item)
    statement = module.parent(target) if target is not None else None
    return statement.value if isinstance(statement, cst.Assign) else None


def _add(module: Module, found: dict[Place, list[Use]], node: cst.BaseExpression, uses: list[Use]) -> None:
    place = flow(module).place(node)
    if place is not None:
        found[place] += uses


def _decide(module: Module, uses: list[Use]) -> None:
    """Change the keys when some are other kinds of devices, and nothing says that they are something else."""
    entries = [use for use in uses if use.is_entry]
    kinds = {plain(use.key).partition(":")[0] for use in entries if is_device_word(use.key)}
    if "cuda" not in kinds or len(kinds) < 2 or any(_asks_other(module, use.key) for use in uses):
        return
    for use in uses:
        for choice in choices(use.key):
            if is_device(choice):
                port_value(module, choice, "device-table")
                if use.value is not None:
                    port_backend(module, use.value)
