"""Handles of shared libraries: `ctypes.CDLL("libcudart.so")`, and the names and attributes that hold one."""

from __future__ import annotations

import libcst as cst

from musa_port.python.flow import flow
from musa_port.python.joined import name_of
from musa_port.python.module import Module

#: Functions that open the library that their first argument names.
LOADERS = frozenset(
    "ctypes.CDLL ctypes.PyDLL ctypes.WinDLL ctypes.OleDLL ctypes.cdll.LoadLibrary ctypes.pydll.LoadLibrary "
    "ctypes.windll.LoadLibrary ctypes.oledll.LoadLibrary".split()
)
_TYPES = frozenset({"ctypes.CDLL", "ctypes.PyDLL"})
_DEPTH = 6


def opens_library(module: Module, node: cst.CSTNode) -> bool:
    """Whether a call opens a shared library: by ctypes, or by `dlopen` of a cffi object."""
    if not isinstance(node, cst.Call) or not node.args:
        return False
    if name_of(node.func) == "dlopen" and isinstance(node.func, cst.Attribute):
        return module.imports("cffi")
    return bool(module.one_of(node.func, LOADERS))


def is_handle(module: Module, node: cst.BaseExpression, depth: int = _DEPTH) -> bool:
    """Whether an expression is a shared library that the module opened."""
    if opens_library(module, node):
        return True
    if not depth or not isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        return False
    if isinstance(node, cst.Name) and _is_annotated(module, node):
        return True
    values = [value for value in flow(module).values(node) if value is not node]
    return any(is_handle(module, value, depth - 1) for value in values)


def _is_annotated(module: Module, node: cst.Name) -> bool:
    """`def f(lib: ctypes.CDLL)`."""
    return any(
        param.annotation is not None and bool(module.one_of(param.annotation.annotation, _TYPES))
        for param in flow(module).parameters(node)
    )
