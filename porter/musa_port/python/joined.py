"""Paths that a program puts together: `os.path.join(home, "bin", "nvcc")`, `home / "lib64"`, `f"{home}/include"`."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.python.extensions import PACKAGE
from musa_port.python.flow import flow, string_key
from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.python.tree import dotted

#: Variables that hold the folder of the toolkit.
ROOTS = frozenset({"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
_HOME = f"{PACKAGE}.CUDA_HOME"
_LOOKS_LIKE_ROOT = re.compile(r"_*cuda_?(toolkit_?)?(home|path|root|dir|prefix)\w*", re.I)
_JOINS = frozenset({"join", "joinpath"})
_WRAPPERS = frozenset("str Path PurePath PosixPath abspath realpath normpath expanduser resolve fspath".split())
_READERS = frozenset("get getenv pop".split())


def name_of(node: cst.CSTNode) -> str:
    """The last name of a chain, also of one that begins with a call."""
    return node.attr.value if isinstance(node, cst.Attribute) else (dotted(node) or [""])[-1]


def first(node: cst.BaseExpression) -> cst.BaseExpression:
    """What a path begins with."""
    while True:
        if isinstance(node, cst.Call) and name_of(node.func) in _JOINS | _WRAPPERS:
            is_method = name_of(node.func) in ("joinpath", "resolve", "expanduser")
            if is_method and isinstance(node.func, cst.Attribute):
                node = node.func.value
            elif node.args:
                node = node.args[0].value
            else:
                return node
        elif isinstance(node, cst.BinaryOperation):
            node = node.left
        elif isinstance(node, cst.FormattedString) and node.parts:
            part = node.parts[0]
            if not isinstance(part, cst.FormattedStringExpression):
                return node
            node = part.expression
        else:
            return node


def last(node: cst.BaseExpression) -> cst.BaseExpression:
    """What a path ends with."""
    while True:
        if isinstance(node, cst.Call) and name_of(node.func) in _JOINS | _WRAPPERS and node.args:
            node = node.args[-1].value
        elif isinstance(node, cst.BinaryOperation):
            node = node.right
        else:
            return node


def whole(module: Module, node: cst.BaseExpression) -> cst.BaseExpression:
    """The path that a string is a part of; the string itself when it is none."""
    while True:
        parent = module.parent(node)
        call = module.parent(parent) if isinstance(parent, cst.Arg) else None
        if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, (cst.Add, cst.Divide)):
            node = parent
        elif isinstance(call, cst.Call) and name_of(call.func) in _JOINS | _WRAPPERS:
            node = call
        else:
            return node


def is_toolkit(module: Module, node: cst.BaseExpression) -> bool:
    """Whether an expression is the folder of the toolkit, as far as the file shows."""
    return any(_is_folder(module, first(value)) for value in flow(module).values(node))


def _is_folder(module: Module, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call):
        is_read = name_of(node.func) in _READERS and bool(node.args) and plain(node.args[0].value) in ROOTS
        return is_read and _names_os(module, node.func)
    if isinstance(node, cst.Subscript):
        key = string_key(node)
        return key is not None and plain(key) in ROOTS and _names_os(module, node.value)
    return bool(module.one_of(node, (_HOME,)))


def _names_os(module: Module, node: cst.BaseExpression) -> bool:
    """`os.environ`, `os.environ.get` or `os.getenv`."""
    names = ("os.environ", "os.environ.get", "os.environ.pop", "os.getenv")
    return bool(module.one_of(node, names))


def looks_like_toolkit(node: cst.BaseExpression) -> bool:
    """Whether a name reads as if it held the folder of the toolkit."""
    name = name_of(node.func) if isinstance(node, cst.Call) else name_of(node)
    return _LOOKS_LIKE_ROOT.fullmatch(re.sub(r"^_?(get|find)_", "", name)) is not None
