"""Compiler flags, macros, libraries and folders that an extension is built with."""

from __future__ import annotations

import re
from functools import cache

import libcst as cst

from musa_port.mappings import Row, read_rows
from musa_port.model import Severity
from musa_port.python.extensions import Build, builds
from musa_port.python.flag_lists import Kind, port, port_word
from musa_port.python.flow import Entry, flow
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.rules.cpp_extension import rename_key
from musa_port.rules import Rule, register

FLAGS = register(
    Rule(
        "P16",
        "extension-flags",
        Severity.WARNING,
        "Translates the flags of nvcc, the macros, libraries and folders that an extension is built with, by table.",
        why="mcc takes other flags. Only lists that go into an extension, or into a command of nvcc, are touched.",
        example=(
            "from torch.utils.cpp_extension import CUDAExtension\n"
            'CUDAExtension("ops", ["a.cpp"], extra_compile_args={"cxx": ["-O3"], "nvcc": ["--use_fast_math"]})',
            "from torch_musa.utils.musa_extension import MUSAExtension\n"
            'MUSAExtension("ops", ["a.cpp"], extra_compile_args={"cxx": ["-O3"], "mcc": ["-ffast-math"]})',
        ),
        advice="Compare the two flags; mcc has flags of its own that nvcc lacks, and the other way round.",
        evidence="compiler_flags.csv, libraries.csv, macros.csv, arch.csv",
    )
)
#: Arguments that are lists, and what the lists hold.
_LISTS = {
    "extra_cuda_cflags": Kind(),
    "extra_cflags": Kind(host=True),
    "extra_ldflags": Kind(host=True),
    "extra_link_args": Kind(host=True),
    "libraries": Kind(host=True, prefix="-l"),
    "library_dirs": Kind(host=True, prefix="-L"),
    "runtime_library_dirs": Kind(host=True, prefix="-L"),
    "include_dirs": Kind(host=True, prefix="-I"),
    "extra_include_paths": Kind(host=True, prefix="-I"),
}
_KEY = re.compile(r"(?:extra_compile_args=)?\{'(\w+)': \.\.\.\}")


@visit(cst.Module, order=31)
def port_builds(module: Module, node: cst.Module) -> None:
    """Every extension of the file."""
    for build in builds(module):
        for value in build.values("extra_compile_args"):
            _port_compile_args(module, build, value)
        for name, kind in _LISTS.items():
            for value in build.values(name):
                port(module, value, kind)
        for value in build.values("define_macros"):
            _port_macros(module, value)


@visit(cst.Subscript, order=32)
def port_item(module: Module, node: cst.Subscript) -> None:
    """`extension.extra_compile_args["nvcc"]`, in a build command of the project."""
    if isinstance(node.value, cst.Attribute) and node.value.attr.value == "extra_compile_args":
        for entry in flow(module).entries(node.value):
            _port_compiler(module, entry)


def _port_compile_args(module: Module, build: Build, value: cst.BaseExpression) -> None:
    for entry in flow(module).entries(value):
        _port_compiler(module, entry)
    for part in flow(module).values(value):
        if isinstance(part, (cst.List, cst.Tuple)) and build.is_cuda:
            message = "MUSAExtension takes a dictionary with the keys cxx and mcc here, and no list"
            module.report(part, "extension-flags", message, severity=Severity.ERROR)


def _port_compiler(module: Module, entry: Entry) -> None:
    """One key of `extra_compile_args`, and the flags of this compiler."""
    row = _compilers().get(entry.name)
    target = _KEY.fullmatch(row.musa) if row is not None and row.supported else None
    if row is not None and target is not None:
        rename_key(module, entry.key, target.group(1), "extension-flags", row.confidence)
        port(module, entry.value, Kind())
    elif entry.name == "cxx":
        port(module, entry.value, Kind(host=True))


@cache
def _compilers() -> dict[str, Row]:
    rows = ((_KEY.fullmatch(row.cuda), row) for row in read_rows("compiler_flags"))
    return {match.group(1): row for match, row in rows if match}


def _port_macros(module: Module, value: cst.BaseExpression) -> None:
    """`define_macros=[("WITH_CUDA", None)]`."""
    for element in flow(module).elements(value):
        if isinstance(element, cst.Tuple) and element.elements:
            port_word(module, element.elements[0].value, Kind(host=True, prefix="-D"))
