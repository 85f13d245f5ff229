"""Keys of the pass configuration: those that tilelang-musa lacks, and those that do nothing there."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.changes import Item, delete_items, delete_statement
from musa_port.tilelang.facts import PassConfig, pass_configs
from musa_port.tilelang.recognise import is_tilelang, last_name

PTXAS = register(
    Rule(
        "H12",
        "pass-config-ptxas",
        Severity.INFO,
        "Drops the pass configuration for the register usage of ptxas.",
        why="tilelang-musa accepts the key without effect.",
        example=(
            "CONFIGS = {\n    tilelang.PassConfigKey.TL_PTXAS_REGISTER_USAGE_LEVEL: 10,\n"
            "    tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True,\n}",
            "CONFIGS = {\n    tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True,\n}",
        ),
        evidence="the ports of TileKernels drop it",
    )
)
CUDA_ONLY = register(
    Rule(
        "H13",
        "pass-config-cuda-only",
        Severity.INFO,
        "Drops the pass configurations that lower loads and stores to instructions of CUDA.",
        why="tilelang-musa accepts these keys; nothing is lowered that way on MUSA. The key against warnings of "
        "accesses out of bounds stays.",
        example=(
            "CONFIGS = {tilelang.PassConfigKey.TL_ENABLE_LOWER_LDGSTG_PREDICATED: True}",
            "CONFIGS = {}",
        ),
        evidence="the port of TileKernels drops them",
    )
)
MISSING = register(
    Rule(
        "H28",
        "pass-config-missing",
        Severity.WARNING,
        "Drops keys of the pass configuration that tilelang-musa does not have (H12b in the table of rules).",
        why="An unknown key is an error: as a member of PassConfigKey it does not exist, as a string TVM refuses it.",
        example=(
            'CONFIGS = {"tl.enable_auto_schedule": True, "tl.enable_fast_math": True}',
            'CONFIGS = {"tl.enable_fast_math": True}',
        ),
        advice="Where the file is to serve CUDA as well, choose the keys by hasattr(PassConfigKey, name).",
        evidence="the members of PassConfigKey in tilelang 0.1.15 and tilelang-musa 0.1.12",
    )
)
_CLASS = re.compile(r"tilelang(\.\w+)*\.PassConfigKey\.(\w+)(\.value)?")
_STRING = re.compile(r"tl\.\w+")


def config_of(module: Module, node: cst.CSTNode | None) -> str:
    """The name of a key: `TL_ENABLE_FAST_MATH` for that member of PassConfigKey and for `"tl.enable_fast_math"`."""
    if isinstance(node, cst.SimpleString):
        entry = pass_configs().get(plain(node)) if _STRING.fullmatch(plain(node)) else None
        return entry.name if entry else ""
    match = _CLASS.fullmatch(module.qualified(node)) if node is not None else None
    return match.group(2) if match else ""


def _unknown_of(node: cst.CSTNode | None) -> str:
    """A string that only a key of the pass configuration has the form of."""
    return plain(node) if _STRING.fullmatch(plain(node)) else ""


def _known(name: str) -> PassConfig:
    """The row of a key. What is in no row is unknown to tilelang-musa too."""
    note = "tilelang-musa 0.1.12 does not know it"
    return pass_configs().get(name) or PassConfig(name, name, "", "drop", "pass-config-missing", note)


@visit(cst.Dict, order=7)
def port_dictionary(module: Module, node: cst.Dict) -> None:
    """`{PassConfigKey.TL_X: True}`."""
    if not is_tilelang(module):
        return
    entries = [item for item in node.elements if isinstance(item, cst.DictElement)]
    named = {item: name for item in entries if (name := config_of(module, item.key))}
    if named or _is_configuration(module, node):
        named |= {item: name for item in entries if item not in named and (name := _unknown_of(item.key))}
    found = {item: _known(name) for item, name in named.items()}

    def rule_for(item: Item) -> str:
        entry = found.get(item) if isinstance(item, cst.DictElement) else None
        return entry.rule if entry is not None and entry.action == "drop" else ""

    for item in delete_items(module, node.elements, rule_for):
        if isinstance(item, cst.DictElement):
            _report_dropped(module, item, found[item])
    for item, entry in found.items():
        if entry.action == "keep":
            message = f"{entry.name} is left: {entry.note}"
            module.report(item.key, entry.rule, message, name=entry.name, once=entry.name)


def _is_configuration(module: Module, node: cst.Dict) -> bool:
    """Whether a dictionary is given, or assigned, as a pass configuration."""
    parent = module.parent(node)
    if isinstance(parent, cst.Arg) and parent.keyword is not None:
        return parent.keyword.value in ("pass_configs", "pass_config", "config")
    return isinstance(parent, cst.Assign) and _holds_configuration(parent.targets[0].target)


def _holds_configuration(node: cst.CSTNode) -> bool:
    return "pass_config" in last_name(node).lower()


@visit(cst.Assign, order=7)
def port_item(module: Module, node: cst.Assign) -> None:
    """`configs[PassConfigKey.TL_X] = True`."""
    target = node.targets[0].target
    if len(node.targets) != 1 or not isinstance(target, cst.Subscript) or not is_tilelang(module):
        return
    index = target.slice[0].slice if len(target.slice) == 1 else None
    key = index.value if isinstance(index, cst.Index) else None
    name = config_of(module, key) or (_unknown_of(key) if _holds_configuration(target.value) else "")
    entry = _known(name) if name else None
    if entry is not None and entry.action == "drop" and delete_statement(module, node, entry.rule):
        _report_dropped(module, node, entry)


def _report_dropped(module: Module, node: cst.CSTNode, entry: PassConfig) -> None:
    """Say so, unless the key did nothing anyway."""
    if entry.rule == "pass-config-missing":
        module.report(node, entry.rule, f"{entry.name} went: {entry.note}", name=entry.name)


@visit(cst.Attribute, order=9)
def report_other(module: Module, node: cst.Attribute) -> None:
    """A key that tilelang-musa lacks, elsewhere than in a dictionary."""
    if last_name(node.value) != "PassConfigKey" or not is_tilelang(module) or module.is_claimed(node):
        return
    name = config_of(module, node)
    entry = _known(name) if name else None
    if entry is not None and entry.exists in ("", "cuda"):
        message = f"{entry.name} is left: {entry.note}"
        module.report(node, "pass-config-missing", message, severity=Severity.ERROR, name=entry.name)
