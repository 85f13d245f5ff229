"""Flags that a kernel is compiled with: `compile_flags=`, and the entry of the pass configuration for them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from musa_port.flags import Translation, translate
from musa_port.model import Severity
from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.bindings import assigned
from musa_port.tilelang.changes import Item, delete_items
from musa_port.tilelang.facts import dropped_flags
from musa_port.tilelang.recognise import is_tilelang
from musa_port.tilelang.rules.pass_configs import config_of

FLAGS = register(
    Rule(
        "H10",
        "kernel-flags",
        Severity.INFO,
        "Translates the compiler flags of kernels by the table of mcc's flags.",
        example=(
            'kernel = tilelang.compile(program, compile_flags=["--use_fast_math", "-O3"])',
            'kernel = tilelang.compile(program, compile_flags=["-ffast-math", "-O3"])',
        ),
        evidence="compiler_flags.csv",
    )
)
DROPPED = register(
    Rule(
        "H11",
        "kernel-flags-dropped",
        Severity.INFO,
        "Drops compiler flags of kernels that mean nothing to mcc: for ptxas, registers, line tables, architectures.",
        why="mcc has no ptxas and no limit of registers, and the target says the architecture.",
        example=(
            'kernel = tilelang.compile(program, compile_flags=["-O3", "--ptxas-options=-v"])',
            'kernel = tilelang.compile(program, compile_flags=["-O3"])',
        ),
        advice="Where a flag was there for a reason, such as a limit of registers, smaller tiles may do.",
    )
)


@visit(cst.Arg, order=8)
def port_argument(module: Module, node: cst.Arg) -> None:
    """`compile_flags=[...]`."""
    if node.keyword is not None and node.keyword.value == "compile_flags" and is_tilelang(module):
        for value in _values(module, node.value):
            _port(module, value)


@visit(cst.DictElement, order=8)
def port_entry(module: Module, node: cst.DictElement) -> None:
    """`{PassConfigKey.TL_DEVICE_COMPILE_FLAGS: [...]}`."""
    if is_tilelang(module) and config_of(module, node.key) == "TL_DEVICE_COMPILE_FLAGS":
        for value in _values(module, node.value):
            _port(module, value)


def _values(module: Module, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The expression, both sides of a sum, or what the file assigns to a name."""
    if isinstance(node, cst.Name):
        yield from assigned(module, node)
    elif isinstance(node, cst.BinaryOperation):
        yield from _values(module, node.left)
        yield from _values(module, node.right)
    else:
        yield node


def _port(module: Module, node: cst.BaseExpression) -> None:
    if module.is_claimed(node):
        return
    if isinstance(node, cst.SimpleString):
        _port_text(module, node)
    elif isinstance(node, (cst.List, cst.Tuple)):
        _port_list(module, node)


def _port_text(module: Module, node: cst.SimpleString) -> None:
    """All flags in one string."""
    tokens = plain(node).split()
    decided = _decided(module, node, tokens)
    new = list(tokens)
    for entry in reversed(decided):
        new[entry.start : entry.start + entry.count] = entry.new
    if new != tokens:
        rule = "kernel-flags" if any(entry.new for entry in decided) else "kernel-flags-dropped"
        module.replace(node, _quoted(node, " ".join(new)), rule, musa=False)


def _port_list(module: Module, node: cst.List | cst.Tuple) -> None:
    """Each string of a list holds a flag, a part of one, or several."""
    words = [(element, word) for element in node.elements for word in plain(element.value).split() or [""]]
    entries = {entry.start: entry for entry in _decided(module, node, [word for _, word in words])}
    written: dict[cst.BaseElement, list[str]] = {element: [] for element in node.elements}
    rules: dict[cst.BaseElement, str] = {}
    position = 0
    while position < len(words):
        element, word = words[position]
        entry = entries.get(position)
        written[element] += entry.new if entry else (word,)
        for owner, _ in words[position : position + entry.count] if entry else ():
            rules[owner] = "kernel-flags" if entry and entry.new else "kernel-flags-dropped"
        position += entry.count if entry else 1

    def rule_for(item: Item) -> str:
        return rules.get(item, "") if isinstance(item, cst.Element) and not any(written[item]) else ""

    delete_items(module, node.elements, rule_for)
    for element, rule in rules.items():
        if any(written[element]) and isinstance(element.value, cst.SimpleString):
            module.replace(element.value, _literals(element.value, written[element]), rule, musa=False)


def _literals(node: cst.SimpleString, flags: list[str]) -> str:
    """The flags as text of Python: in one string where one held several before, else in a string each."""
    if len(plain(node).split()) > 1:
        return _quoted(node, " ".join(flags))
    return ", ".join(_quoted(node, flag) for flag in flags)


def _quoted(node: cst.SimpleString, text: str) -> str:
    return f"{node.prefix}{node.quote}{text}{node.quote}"


def _decided(module: Module, node: cst.BaseExpression, tokens: list[str]) -> list[Translation]:
    """What becomes of the flags that change, with a finding for each that goes or that somebody should look at."""
    decided = []
    for entry in translate(tokens, module.options.arch):
        old = tokens[entry.start : entry.start + entry.count]
        dropped = dropped_flags().get(old[0].partition("=")[0])
        if dropped is not None:
            entry = Translation(entry.start, entry.count, (), entry.row, dropped[1], dropped[0])
        _report(module, node, " ".join(old), entry)
        if list(entry.new) != old:
            decided.append(entry)
    return decided


def _report(module: Module, node: cst.BaseExpression, old: str, entry: Translation) -> None:
    new = " ".join(entry.new)
    note = f": {entry.note}" if entry.note else ""
    if not new:
        severity = entry.severity or Severity.INFO
        module.report(node, "kernel-flags-dropped", f"the flag {old} went{note}", severity=severity, name=old)
    elif entry.severity is not None:
        severity = Severity.ERROR if entry.severity is Severity.ERROR else Severity.INFO
        verb = "is left" if new == old else f"became {new}"
        module.report(node, "kernel-flags", f"the flag {old} {verb}{note}", severity=severity, name=old)
