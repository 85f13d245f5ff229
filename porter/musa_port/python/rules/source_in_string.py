"""CUDA source in strings that a run-time compiler is given."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from musa_port.model import Severity
from musa_port.python.extensions import builds
from musa_port.python.flow import flow
from musa_port.python.fragments import port_source
from musa_port.python.joined import name_of
from musa_port.python.literals import is_docstring
from musa_port.python.messages import is_message
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.words import is_decided
from musa_port.rules import Rule, register

SOURCE = register(
    Rule(
        "P25",
        "source-in-string",
        Severity.WARNING,
        "Ports CUDA source in a string that is given to load_inline or another compiler; reports other such text.",
        why="The source is compiled for MUSA, as a file would be. Findings about it carry the rules for C++ sources.",
        example=(
            "from torch.utils.cpp_extension import load_inline\n"
            'load_inline("m", "", cuda_sources="void f() { cudaDeviceSynchronize(); }")',
            "from torch_musa.utils.musa_extension import load_inline\n"
            'load_inline("m", "", musa_sources="void f() { musaDeviceSynchronize(); }")',
        ),
        advice="Port the text by hand, or give it to the compiler call in the same file.",
    )
)
#: Compilers of other packages -> the keyword of the source, which is their first argument.
_COMPILERS = {
    "cupy.RawKernel": "code",
    "cupy.RawModule": "code",
    "cupy.core.RawKernel": "code",
    "pycuda.compiler.SourceModule": "source",
    "pycuda.compiler.compile": "source",
    "torch.cuda._compile_kernel": "kernel_source",
    "cuda.nvrtc.nvrtcCreateProgram": "src",
    "cuda.bindings.nvrtc.nvrtcCreateProgram": "src",
    "cuda.core.Program": "code",
    "cuda.core.experimental.Program": "code",
}
_LAST = {full.rpartition(".")[2] for full in _COMPILERS}
#: Methods and functions that give back the text that they are given, more or less.
_METHODS = frozenset("format replace substitute safe_substitute strip lstrip rstrip encode format_map".split())
_FUNCTIONS = frozenset("dedent Template str encode bytes cleandoc".split())
_KERNEL = re.compile(
    r"\b__(?:global|device)__\s+\w|<<<.*>>>|#\s*include\s*[<\"](?:cuda|ATen/cuda|c10/cuda|nccl).*?\n", re.S
)
Literal = cst.SimpleString | cst.FormattedString


@visit(cst.Module, order=31)
def port_inline(module: Module, node: cst.Module) -> None:
    """`load_inline(cpp_sources=..., cuda_sources=...)`."""
    for build in builds(module):
        for name in ("cpp_sources", "cuda_sources"):
            for value in build.values(name):
                _port(module, value)


@visit(cst.Call, order=31)
def port_compiled(module: Module, node: cst.Call) -> None:
    """`cupy.RawKernel(source, name)` and its relatives."""
    name = name_of(node.func)
    if name == "cdef" and node.args and module.imports("cffi"):
        _port(module, node.args[0].value)
    if name not in _LAST and not isinstance(node.func, cst.Name):
        return
    full = module.one_of(node.func, _COMPILERS)
    for position, arg in enumerate(node.args if full else ()):
        if arg.keyword.value == _COMPILERS[full] if arg.keyword is not None else position == 0:
            _port(module, arg.value)


def _port(module: Module, value: cst.BaseExpression) -> None:
    """Port what a source is put together from, as far as the file holds it."""
    literals = list(dict.fromkeys(_literals(module, value, 5)))
    for literal in literals:
        port_source(module, literal, "source-in-string")
    if not literals and not _is_empty(value):
        message = "the source that is compiled here does not stand in this file"
        module.report(value, "source-in-string", message, severity=Severity.INFO)


def _is_empty(value: cst.BaseExpression) -> bool:
    if isinstance(value, (cst.List, cst.Tuple)):
        return not value.elements
    return isinstance(value, cst.Name) and value.value == "None"


def _literals(module: Module, node: cst.BaseExpression, depth: int) -> Iterator[Literal]:
    for element in flow(module).elements(node):
        for value in flow(module).values(element):
            if isinstance(value, (cst.SimpleString, cst.FormattedString)):
                yield value
            elif isinstance(value, cst.ConcatenatedString):
                yield from _parts(value)
            elif depth:
                for inner in _sources(value):
                    yield from _literals(module, inner, depth - 1)


def _parts(node: cst.ConcatenatedString) -> Iterator[Literal]:
    for part in (node.left, node.right):
        if isinstance(part, cst.ConcatenatedString):
            yield from _parts(part)
        elif isinstance(part, (cst.SimpleString, cst.FormattedString)):
            yield part


def _sources(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What the text of an expression is made of: `a + b`, `a % b`, `a.replace(...)`, `Template(a)`."""
    if isinstance(node, cst.BinaryOperation):
        yield node.left
        if isinstance(node.operator, cst.Add):
            yield node.right
    elif isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in _METHODS:
            yield node.func.value
        if name_of(node.func) in _FUNCTIONS | {"join"} and node.args:
            yield node.args[0].value
    elif isinstance(node, (cst.List, cst.Tuple)):
        yield node


@visit(cst.SimpleString, cst.FormattedString, order=80)
def report_source(module: Module, node: Literal) -> None:
    """Kernel source in any other string."""
    if isinstance(node, cst.SimpleString):
        text = node.raw_value
    else:
        text = "".join(part.value for part in node.parts if isinstance(part, cst.FormattedStringText))
    if not _KERNEL.search(text) or is_decided(module, node):
        return
    if not is_docstring(module, node) and not is_message(module, node):
        message = "CUDA source in a string that no compiler call in this file takes is left"
        once = module.function_name(node) or f"{module.span(node)[0]}"
        module.report(node, "source-in-string", message, once=once)
