"""Functions of shared libraries: attributes of a handle, names that are looked up, and tables of such names."""

from __future__ import annotations

import re
from functools import lru_cache

import libcst as cst

from musa_port.mappings import Row
from musa_port.model import Severity
from musa_port.python.flow import flow
from musa_port.python.handles import is_handle, opens_library
from musa_port.python.literals import is_docstring, plain, text_of
from musa_port.python.messages import is_message
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register

SYMBOL = register(
    Rule(
        "P20",
        "ctypes-symbol",
        Severity.WARNING,
        "Renames the functions that a program takes from a shared library, and tables of their names.",
        why="A handle is followed through the variables, attributes and functions of the file; other objects stay.",
        example=(
            'lib = ctypes.CDLL("libcudart.so")\nlib.cudaFree(p)',
            'lib = ctypes.CDLL("libmusart.so")\nlib.musaFree(p)',
        ),
        advice="Check the arguments against the MUSA header: ctypes does not.",
        evidence="the tables of API names",
    )
)
_LOOK_UP = frozenset({"getattr", "hasattr", "setattr"})


@visit(cst.Attribute, order=33)
def port_attribute(module: Module, node: cst.Attribute) -> None:
    """`lib.cudaMalloc`."""
    row = _row(module, node.attr.value)
    if row is None and not _looks_like_symbol(module, node.attr.value):
        return
    if module.qualified(node) or not is_handle(module, node.value):
        return
    if row is not None:
        _apply(module, node.attr, *module.span(node.attr), row)
    else:
        _report_unknown(module, node.attr, node.attr.value)


def _looks_like_symbol(module: Module, name: str) -> bool:
    """Whether a name in no table is spelled like one of the toolkit."""
    names = module.draft.names
    return bool(name) and _mentions_library(module) and name not in names.identifiers and names.family(name) is not None


def _report_unknown(module: Module, node: cst.CSTNode, name: str) -> None:
    message = f"{name} is in no table and is left"
    module.draft.use(name, "unknown")
    module.report(node, "ctypes-symbol", message, name=name, once=name)


@visit(cst.Call, order=33)
def port_lookup(module: Module, node: cst.Call) -> None:
    """`getattr(lib, "cudaFree")`."""
    if len(node.args) < 2 or dotted(node.func) not in ([name] for name in _LOOK_UP):
        return
    name = node.args[1].value
    is_other = isinstance(name, cst.SimpleString) and _row(module, plain(name)) is None
    if is_other and not _looks_like_symbol(module, plain(name)):
        return
    if _mentions_library(module) and is_handle(module, node.args[0].value):
        for value in flow(module).values(name):
            _port_string(module, value)
            if _looks_like_symbol(module, plain(value)):
                _report_unknown(module, value, plain(value))


@visit(cst.Subscript, order=33)
def port_item(module: Module, node: cst.Subscript) -> None:
    """`lib["cudaFree"]`."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    name = index.value if isinstance(index, cst.Index) else None
    if name is not None and _row(module, plain(name)) is not None and is_handle(module, node.value):
        _port_string(module, name)


@visit(cst.SimpleString, order=34)
def port_table(module: Module, node: cst.SimpleString) -> None:
    """`Function("cudaSetDevice", ...)`, in a file that looks such names up in a library."""
    if _row(module, plain(node)) is None or not _looks_names_up(module):
        return
    if not is_docstring(module, node) and not is_message(module, node):
        _port_string(module, node)


@lru_cache(maxsize=1)
def _looks_names_up(module: Module) -> bool:
    """Whether the file asks a handle for names that are no literals."""
    if not _mentions_library(module) or not any(opens_library(module, call) for call in module.nodes(cst.Call)):
        return False
    for call in module.nodes(cst.Call):
        if len(call.args) < 2 or dotted(call.func) not in ([name] for name in _LOOK_UP):
            continue
        if not isinstance(call.args[1].value, cst.SimpleString) and is_handle(module, call.args[0].value):
            return True
    return any(_is_open_item(module, node) for node in module.nodes(cst.Subscript))


def _is_open_item(module: Module, node: cst.Subscript) -> bool:
    """`lib[name]`."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    if not isinstance(index, cst.Index) or not isinstance(index.value, (cst.Name, cst.Attribute)):
        return False
    return is_handle(module, node.value)


def _mentions_library(module: Module) -> bool:
    return module.draft.mentions(b"ctypes", b"dlopen")


def _row(module: Module, name: str) -> Row | None:
    row = module.draft.names.identifiers.get(name) if name else None
    return row if row is not None and _mentions_library(module) and row.musa != row.cuda else None


def _port_string(module: Module, node: cst.BaseExpression) -> None:
    row = _row(module, plain(node))
    text = text_of(module, node)
    if row is not None and text is not None and isinstance(node, cst.SimpleString):
        _apply(module, node, text.start, text.start + len(text.value), row)


def _apply(module: Module, node: cst.CSTNode, start: int, end: int, row: Row) -> None:
    if module.draft.is_claimed(start) or row.cuda in module.draft.names.keep:
        return
    note = f": {row.note}" if row.note else ""
    if not row.supported or not re.fullmatch(r"\w+", row.musa):
        module.draft.claim(start, end)
        module.draft.use(row.cuda, "unsupported")
        message = f"{row.cuda} has no MUSA counterpart and is left{note}"
        module.report(node, "ctypes-symbol", message, severity=Severity.ERROR, name=row.cuda)
        return
    if not module.draft.names.allowed(row):
        module.draft.claim(start, end)
        module.report(
            node, "unproven-name", f"{row.cuda} is left: confidence {row.confidence}", name=row.cuda, once=row.cuda
        )
        return
    module.edit(start, end, row.musa, "ctypes-symbol", row.confidence, musa=False)
    module.draft.use(row.cuda, row.confidence)
    if row.confidence in ("low", "medium-low", "derived", "unknown"):
        message = f"{row.cuda} became {row.musa} on weak evidence (confidence {row.confidence}){note}"
        module.report(node, "unproven-name", message, new=row.musa, name=row.cuda, once=row.cuda)
    elif row.flag:
        message = f"{row.cuda} became {row.musa}{note}"
        module.report(node, "ctypes-symbol", message, new=row.musa, name=row.cuda, once=row.cuda)
