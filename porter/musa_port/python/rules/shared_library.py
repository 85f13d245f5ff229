"""Shared libraries that a program opens by name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

import libcst as cst

from musa_port.mappings import Row
from musa_port.model import Severity
from musa_port.python.flow import flow
from musa_port.python.handles import opens_library
from musa_port.python.joined import name_of
from musa_port.python.literals import is_docstring, plain, text_of
from musa_port.python.messages import is_message
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.words import UNKNOWN, is_decided, place, word
from musa_port.rules import Rule, register

LIBRARY = register(
    Rule(
        "P19",
        "ctypes-library",
        Severity.WARNING,
        "Renames the shared libraries of the toolkit that ctypes opens or looks for.",
        why="The number after `.so` is that of the MUSA library, and none that follows from the CUDA number.",
        example=('ctypes.CDLL("libcudart.so.12")', 'ctypes.CDLL("libmusart.so.5")'),
        advice="Compare with the files in the lib folder of your MUSA toolkit.",
        evidence="libraries.csv",
    )
)
_FINDERS = frozenset({"ctypes.util.find_library", "find_library"})
_NAMED = re.compile(
    r"(?:lib)?(cuda|cudart|cublas(?:Lt)?|cudnn|cufft|cupti|curand|cusolver|cusparse|nccl|nvrtc|nvToolsExt|nvidia-ml|"
    r"nvjpeg|nvshmem\w*)(?:[\w$.-]*\.(?:so|dll)[\d.$*]*)?"
)


@visit(cst.Call, order=32)
def port_call(module: Module, node: cst.Call) -> None:
    """`ctypes.CDLL(name)`, `find_library("cudart")`."""
    if not module.draft.mentions(b"ctypes", b"dlopen"):
        return
    if opens_library(module, node):
        for value in _names(module, node.args[0].value):
            _port_library(module, value)
        for value in _searched(module, node.args[0].value):
            _port_stem(module, value)
    elif node.args and module.one_of(node.func, _FINDERS):
        for value in _names(module, node.args[0].value):
            _port_bare_name(module, value)


def _names(module: Module, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What a name may be, the default of `os.environ.get("LIB", "libcudart.so")` too."""
    for value in flow(module).values(node):
        if not isinstance(value, cst.Call):
            yield value
        elif name_of(value.func) in ("get", "getenv", "pop") and len(value.args) == 2:
            yield from flow(module).values(value.args[1].value)
        elif name_of(value.func) in ("str", "fspath") and value.args:
            yield from flow(module).values(value.args[0].value)


def _searched(module: Module, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What a function of the project is asked to find, when a library is opened by its result."""
    for value in flow(module).written(node):
        if isinstance(value, cst.Call):
            yield from (arg.value for arg in value.args if isinstance(arg.value, cst.SimpleString))


def _port_stem(module: Module, node: cst.BaseExpression) -> None:
    """`libcudart`, without what follows it."""
    row = module.draft.names.libraries.get(f"{plain(node)}.so")
    if row is not None and plain(node).startswith("lib") and isinstance(node, cst.SimpleString):
        _rename(module, node, row, row.musa.removesuffix(".so"))


def _port_library(module: Module, node: cst.BaseExpression) -> None:
    name = word(node)
    base = posixpath.basename(name)
    row = module.draft.names.libraries.get(name)
    if row is not None and isinstance(node, cst.SimpleString):
        _rename(module, node, row, row.musa)
    elif _NAMED.fullmatch(base) and name != UNKNOWN and not is_decided(module, node):
        message = f"{name.replace(UNKNOWN, '...')} is left: the file that MUSA has for it is not known"
        module.claim(node)
        module.report(node, "ctypes-library", message, severity=Severity.ERROR, name=base)


def _port_bare_name(module: Module, node: cst.BaseExpression) -> None:
    """`cudart`, which find_library completes."""
    row = module.draft.names.libraries.get(f"lib{plain(node)}.so")
    if row is not None and isinstance(node, cst.SimpleString):
        _rename(module, node, row, row.musa.removeprefix("lib").removesuffix(".so"))


def _rename(module: Module, node: cst.SimpleString, row: Row, new: str) -> None:
    text = text_of(module, node)
    if text is None or module.draft.is_claimed(text.start):
        return
    note = f": {row.note}" if row.note else ""
    if not row.supported:
        module.claim(node)
        message = f"{row.cuda} has no MUSA counterpart and is left{note}"
        module.report(node, "ctypes-library", message, severity=Severity.ERROR, name=row.cuda)
    elif not module.draft.names.allowed(row):
        module.claim(node)
        module.report(node, "ctypes-library", f"{text.value} is left: {row.confidence} confidence", name=row.cuda)
    else:
        module.edit(*place(module, text, 0), new, "ctypes-library", row.confidence, musa=False)
        module.draft.use(row.cuda, row.confidence)
        if row.note or row.flag:
            message = f"{text.value} became {new}{note}"
            severity = Severity.INFO
            module.report(node, "ctypes-library", message, severity=severity, new=new, name=row.cuda, once=row.cuda)


@visit(cst.SimpleString, order=80)
def report_name(module: Module, node: cst.SimpleString) -> None:
    """The file name of a library in any other place."""
    base = posixpath.basename(plain(node))
    if not (base.startswith("lib") or base.endswith(".dll")) or not _NAMED.fullmatch(base):
        return
    if not is_decided(module, node) and not is_docstring(module, node) and not is_message(module, node):
        message = f"{plain(node)} is left: nothing in this file shows that the library is opened"
        module.report(node, "ctypes-library", message, name=base, once=base)
