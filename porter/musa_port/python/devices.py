"""Device strings and the places where a string is a device."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from functools import cache, lru_cache

import libcst as cst

from musa_port.mappings import read_table
from musa_port.python.literals import choices, plain, text_of
from musa_port.python.module import Module
from musa_port.python.tree import dotted

_DEVICE = re.compile(r"cuda(:\d+)?")
_CUDA = "cuda"
#: Ends of names that tell something else than a device, although the words are the same.
_OTHERS = ("name", "fix", "tag", "label", "path", "dir", "file", "backend", "platform", "mode", "variant", "extra")


@cache
def names_of(kind: str) -> frozenset[str]:
    """What torch_devices.csv lists under a kind."""
    return frozenset(row["name"] for row in read_table("torch_devices") if row["kind"] == kind)


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, sorted(names_of(kind)))))


@lru_cache(maxsize=4096)
def is_keyword(name: str) -> bool:
    """Whether a keyword of this name takes a device, whatever it is given to."""
    return _pattern("keyword").match(name) is not None or bool(mapping_of(name))


@lru_cache(maxsize=4096)
def mapping_of(name: str) -> str:
    """Where a mapping that has this name holds devices: in its "values", in "both" keys and values, or nowhere ("")."""
    return next((kind for kind in ("values", "both") if _pattern(kind).match(name)), "")


def is_device(node: cst.BaseExpression) -> bool:
    """Whether an expression is the literal name of a CUDA device."""
    return _DEVICE.fullmatch(plain(node)) is not None


def is_device_word(node: cst.BaseExpression) -> bool:
    """Whether an expression is the literal name of some kind of device."""
    return plain(node).partition(":")[0] in names_of("word")


def names_other_thing(name: str) -> bool:
    """Whether a variable of this name holds a word that may be one of a device and means something else."""
    return name.lower().endswith(_OTHERS)


def is_device_name(name: str) -> bool:
    """Whether a variable of this name holds a device."""
    return "dev" in name.lower() and not _is_platform(name)


def _is_platform(name: str) -> bool:
    """Whether it is a constant such as VLLM_TARGET_DEVICE, by which a project tells platforms apart."""
    return name.isupper() and name.endswith("_TARGET_DEVICE")


def ends_in_device(node: cst.CSTNode) -> bool:
    """Whether an expression reads as a device or as its type: `x.type`, `self.device`, `device_type`, `c["device"]`."""
    if isinstance(node, cst.Call):
        return _is_text_of_device(node)
    if isinstance(node, cst.Subscript):
        return _is_item_of_device(node)
    name = (dotted(node) or [node.attr.value if isinstance(node, cst.Attribute) else ""])[-1]
    if isinstance(node, cst.Attribute) and name == "type":
        return True
    if _is_platform(name):
        return False
    name = name.lower()
    return name.endswith(("device", "dev", "device_type", "devicetype", "device_str", "device_name"))


def _is_text_of_device(call: cst.Call) -> bool:
    """`str(device)`, `device.lower()`, `torch.device(x).type` is an attribute and no call."""
    if dotted(call.func) == ["str"] and len(call.args) == 1:
        return ends_in_device(call.args[0].value)
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in ("lower", "strip", "get", "split", "partition"):
        if call.func.attr.value == "get":
            return bool(call.args) and is_device_name(plain(call.args[0].value))
        return ends_in_device(call.func.value)
    return False


def _is_item_of_device(node: cst.Subscript) -> bool:
    """`device.split(":")[0]`, `config["device"]`."""
    if isinstance(node.value, cst.Call):
        return _is_text_of_device(node.value)
    key = node.slice[0].slice if len(node.slice) == 1 else None
    return isinstance(key, cst.Index) and plain(key.value).lower().endswith(("device", "device_type"))


def port_value(module: Module, value: cst.BaseExpression, rule: str, *, mapping: str = "") -> None:
    """Change the device strings that an expression in a device position may give, and those in a mapping there."""
    for choice in choices(value):
        if mapping and isinstance(choice, (cst.Dict, cst.DictComp)):
            for part in _parts(choice, mapping):
                port_value(module, part, rule)
        for node, is_built in _literals(choice):
            _port_literal(module, node, is_built, rule)


def port_place(module: Module, value: cst.BaseExpression, rule: str, *, mapping: str = "") -> None:
    """Change what stands in a place that takes a device; names there are followed when the file has been seen."""
    port_value(module, value, rule, mapping=mapping)
    module.device_places.append(value)


def port_named(module: Module, name: str, value: cst.BaseExpression, rule: str) -> None:
    """Change what is given to something of this name, if that holds a device."""
    if is_keyword(name) or is_device_name(name):
        port_value(module, value, rule, mapping=mapping_of(name))


def _parts(node: cst.Dict | cst.DictComp, mapping: str) -> Iterator[cst.BaseExpression]:
    entries = [node] if isinstance(node, cst.DictComp) else node.elements
    for entry in entries:
        if isinstance(entry, (cst.DictElement, cst.DictComp)):
            yield entry.value
            if mapping == "both":
                yield entry.key


def _literals(node: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """The literals that say which kind of device it is, and whether something is added to them."""
    if isinstance(node, cst.SimpleString):
        yield node, False
    elif isinstance(node, cst.FormattedString):
        yield node, True
    elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Add, cst.Modulo)):
        for literal, _ in _literals(node.left):
            yield literal, True
    elif isinstance(node, cst.Call):
        yield from _literals_of_call(node)


def _literals_of_call(node: cst.Call) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """`"cuda:{}".format(i)`, and the default of `config.get("device", "cuda")`."""
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "format":
        for literal, _ in _literals(node.func.value):
            yield literal, True
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else (dotted(node.func) or [""])[-1]
    position = {"get": 1, "pop": 1, "getenv": 1, "setdefault": 1, "getattr": 2}.get(name)
    if position is not None and len(node.args) > position:
        for choice in choices(node.args[position].value):
            yield from _literals(choice)


def _port_literal(module: Module, node: cst.BaseExpression, is_built: bool, rule: str) -> None:
    text = text_of(module, node)
    if text is None or module.draft.is_claimed(text.start):
        return
    if is_built:
        if text.value == _CUDA or text.value.startswith("cuda:"):
            module.edit(text.start, text.start + len(_CUDA), "musa", "device-string")
    elif _DEVICE.fullmatch(text.value):
        module.edit(text.start, text.start + len(_CUDA), "musa", rule)
