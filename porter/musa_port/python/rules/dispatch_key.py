"""Dispatch keys and device types under which operators are registered."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.devices import port_value as port_devices
from musa_port.python.flow import flow
from musa_port.python.joined import name_of
from musa_port.python.literals import choices, plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.words import is_decided
from musa_port.rules import Rule, register

KEY = register(
    Rule(
        "P21",
        "torch-dispatch-key",
        Severity.WARNING,
        "Registers operators under PrivateUse1, the dispatch key of MUSA, and under the device type musa.",
        why="torch_musa is a backend outside of torch: its tensors carry the key PrivateUse1, renamed to musa.",
        example=('library.impl("scale", scale, "CUDA")', 'library.impl("scale", scale, "PrivateUse1")'),
        advice="Register the operators of C++ under the same key.",
        evidence="torch_python.csv, c10_aten.csv",
    )
)
_KEY = re.compile(r"(Autograd|Autocast|Sparse|SparseCsr|Quantized|NestedTensor)?CUDA")
_IMPL = "torch.library.impl"
_LIBRARY = "torch.library.Library"
#: Functions -> which argument is a device type.
_TYPES = {
    _IMPL: 1,
    "torch.library.register_kernel": 1,
    "torch.library.register_autocast": 1,
    "torch.library.custom_op": -1,
}
_NAMES = frozenset(full.rpartition(".")[2] for full in (_LIBRARY, *_TYPES))


@visit(cst.Call, order=30)
def port_call(module: Module, node: cst.Call) -> None:
    """`library.impl("op", f, "CUDA")`, `torch.library.impl("ns::op", "CUDA")`, `op.register_kernel("cuda")`."""
    for arg in node.args:
        if arg.keyword is not None and arg.keyword.value == "dispatch_key":
            port_key(module, arg.value)
    name = name_of(node.func)
    if name in ("impl", "fallback") and isinstance(node.func, cst.Attribute):
        _port_method(module, node)
    elif name in ("register_kernel", "register_autocast") and isinstance(node.func, cst.Attribute):
        _port_operator(module, node)
    elif name in _NAMES or isinstance(node.func, cst.Name):
        full = module.one_of(node.func, (_LIBRARY, *_TYPES))
        if full:
            _port_function(module, node, full)


def _port_method(module: Module, node: cst.Call) -> None:
    """`library.impl(name, function, key)`, or the function of torch of the same name."""
    full = module.qualified(node.func)
    if full == _IMPL:
        _port_function(module, node, full)
    elif not full and module.imports("torch") and len(node.args) >= 3 and node.args[2].keyword is None:
        port_key(module, node.args[2].value)
    elif not full and name_of(node.func) == "fallback" and len(node.args) == 2:
        port_key(module, node.args[1].value)


def _port_operator(module: Module, node: cst.Call) -> None:
    """A function of torch.library, or the method of an operator that torch.library.custom_op made."""
    full = module.qualified(node.func)
    if full in _TYPES:
        _port_function(module, node, full)
    elif not full and module.imports("torch") and node.args and node.args[0].keyword is None:
        _port_types(module, node.args[0].value)


def _port_function(module: Module, node: cst.Call, full: str) -> None:
    if full == _LIBRARY:
        if len(node.args) > 2 and node.args[2].keyword is None:
            port_key(module, node.args[2].value)
        return
    position = _TYPES[full]
    if full == _IMPL and node.args and _is_library(module, node.args[0].value):
        position = 2
    if 0 <= position < len(node.args) and node.args[position].keyword is None:
        _port_types(module, node.args[position].value)
    for arg in node.args:
        if arg.keyword is not None and arg.keyword.value in ("types", "device_types", "device_type"):
            _port_types(module, arg.value)


def _is_library(module: Module, node: cst.BaseExpression) -> bool:
    """Whether the function is used as `impl(library, name, key)`."""
    return not isinstance(node, (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)) and any(
        isinstance(value, cst.Call) and bool(module.one_of(value.func, (_LIBRARY,)))
        for value in flow(module).values(node)
    )


def _port_types(module: Module, node: cst.BaseExpression) -> None:
    """Device types, or dispatch keys, which the newer functions take as well."""
    port_key(module, node)
    port_devices(module, node, "torch-dispatch-key")


def port_key(module: Module, node: cst.BaseExpression) -> None:
    """Change the dispatch keys that an expression may give."""
    for choice in choices(node):
        text = text_of(module, choice)
        if isinstance(choice, cst.SimpleString) and text is not None and _KEY.fullmatch(text.value):
            end = text.start + len(text.value)
            module.edit(end - len("CUDA"), end, "PrivateUse1", "torch-dispatch-key", "high")


@visit(cst.Param, order=30)
def port_default(module: Module, node: cst.Param) -> None:
    """`def register(name, function, dispatch_key="CUDA")`."""
    if node.name.value == "dispatch_key" and node.default is not None and module.imports("torch"):
        port_key(module, node.default)


@visit(cst.Assign, order=30)
def port_assignment(module: Module, node: cst.Assign) -> None:
    """`dispatch_key = "CUDA"`."""
    is_key = any(name_of(target.target).lower() == "dispatch_key" for target in node.targets)
    if is_key and module.imports("torch"):
        port_key(module, node.value)


@visit(cst.Attribute, order=30)
def report_private(module: Module, node: cst.Attribute) -> None:
    """`torch._C.DispatchKey.CUDA`."""
    if _KEY.fullmatch(node.attr.value) and module.qualified(node.value) == "torch._C.DispatchKey":
        new = node.attr.value.replace("CUDA", "PrivateUse1")
        message = f"torch._C.DispatchKey.{node.attr.value} is private and is left; the key of MUSA is {new}"
        module.report(node, "torch-dispatch-key", message, severity=Severity.ERROR, name=node.attr.value)


@visit(cst.SimpleString, order=80)
def report_key(module: Module, node: cst.SimpleString) -> None:
    """A dispatch key that private functions of torch are given: `torch._C._dispatch_keys("CUDA")`."""
    if not _KEY.fullmatch(plain(node)) or is_decided(module, node):
        return
    arg = module.parent(node)
    call = module.parent(arg) if isinstance(arg, cst.Arg) else None
    if isinstance(call, cst.Call) and module.qualified(call.func).startswith("torch._C."):
        message = f"the dispatch key {plain(node)} is left in a call of a private function"
        module.report(node, "torch-dispatch-key", message, severity=Severity.ERROR, name=plain(node))
