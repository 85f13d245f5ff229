"""Device strings and the places where a string is a device."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from musa_port.python.literals import choices, plain, text_of
from musa_port.python.module import Module
from musa_port.python.tree import dotted

#: Keywords whose value is a device, whatever they are given to.
KEYWORDS = frozenset("device device_type map_location pin_memory_device device_types dst_device target_device".split())
_DEVICE = re.compile(r"cuda(:\d+)?")
_CUDA = "cuda"


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


def port_value(module: Module, value: cst.BaseExpression, rule: str, *, keys: bool = False) -> None:
    """Change the device strings that an expression in a device position may give. With `keys`, those of a dict too."""
    for choice in choices(value):
        if isinstance(choice, cst.Dict) and keys:
            for element in choice.elements:
                if isinstance(element, cst.DictElement):
                    port_value(module, element.key, rule)
                    port_value(module, element.value, rule)
            continue
        for node, is_built in _literals(choice):
            _port_literal(module, node, is_built, rule)


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
