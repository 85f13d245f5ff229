"""How kernels are run: `execution_backend=`."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import choices, plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.recognise import argument, is_tilelang, last_name

BACKEND = register(
    Rule(
        "H8",
        "execution-backend",
        Severity.INFO,
        "Changes the execution backends nvrtc, cutedsl and torch to tvm_ffi.",
        why="TileLang on MUSA has the backends tvm_ffi and cython.",
        example=(
            'kernel = tilelang.compile(program, execution_backend="nvrtc")',
            'kernel = tilelang.compile(program, execution_backend="tvm_ffi")',
        ),
        evidence="the execution backends that tilelang-musa registers",
    )
)
CYTHON = register(
    Rule(
        "H9",
        "cython-dtypes",
        Severity.INFO,
        "Changes the execution backend cython to tvm_ffi in files that use types which it does not know.",
        why="The table of C types of this backend lacks float8_e4m3fn, float8_e8m0fnu and FP4: kernels with such "
        "parameters fail with 'Unsupported dtype'.",
        example=(
            'DTYPE = T.float8_e4m3fn\nkernel = tilelang.compile(program, execution_backend="cython")',
            'DTYPE = T.float8_e4m3fn\nkernel = tilelang.compile(program, execution_backend="tvm_ffi")',
        ),
    )
)
_COMPILERS = ("tilelang.compile", "tilelang.jit.compile", "tilelang.par_compile", "tilelang.jit.par_compile")
_MISSING = frozenset({"nvrtc", "cutedsl", "torch"})
_VARIABLE = "TILELANG_EXECUTION_BACKEND"
_UNKNOWN_TYPES = (b"float8_e4m3fn", b"e4m3_float8", b"float8_e8m0", b"e8m0_float8", b"float4_", b"e2m1_float4")


@visit(cst.Arg, order=8)
def port_argument(module: Module, node: cst.Arg) -> None:
    """`execution_backend="nvrtc"`."""
    if node.keyword is not None and node.keyword.value == "execution_backend" and is_tilelang(module):
        _port(module, node.value)


@visit(cst.Call, order=8)
def port_position(module: Module, node: cst.Call) -> None:
    """`tilelang.compile(program, [-1], "nvrtc")`."""
    if is_tilelang(module) and module.qualified(node.func) in _COMPILERS:
        given = argument(node, "", 2)
        if given is not None:
            _port(module, given)


@visit(cst.Param, order=8)
def port_default(module: Module, node: cst.Param) -> None:
    """`def build(execution_backend="nvrtc")`."""
    if node.name.value == "execution_backend" and node.default is not None and is_tilelang(module):
        _port(module, node.default)


@visit(cst.DictElement, order=8)
def port_entry(module: Module, node: cst.DictElement) -> None:
    """`{"execution_backend": "nvrtc"}`."""
    if plain(node.key) in ("execution_backend", _VARIABLE) and is_tilelang(module):
        _port(module, node.value)


@visit(cst.Assign, order=8)
def port_assignment(module: Module, node: cst.Assign) -> None:
    """`execution_backend = "nvrtc"`, `os.environ["TILELANG_EXECUTION_BACKEND"] = "nvrtc"`."""
    if is_tilelang(module) and any(_names_backend(target.target) for target in node.targets):
        _port(module, node.value)


def _names_backend(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        return plain(node.slice[0].slice.value) in ("execution_backend", _VARIABLE)
    return last_name(node).lower() == "execution_backend"


def _port(module: Module, value: cst.BaseExpression) -> None:
    for choice in choices(value):
        text = text_of(module, choice) if isinstance(choice, cst.SimpleString) else None
        if text is None:
            continue
        end = text.start + len(text.value)
        if text.value in _MISSING:
            module.edit(text.start, end, "tvm_ffi", "execution-backend", musa=False)
        elif text.value == "cython" and module.draft.mentions(*_UNKNOWN_TYPES):
            module.edit(text.start, end, "tvm_ffi", "cython-dtypes", musa=False)
