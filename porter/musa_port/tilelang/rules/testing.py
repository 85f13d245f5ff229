"""Tests of kernels: which devices they need, and what they expect in the generated source."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.flags import architecture
from musa_port.model import Severity
from musa_port.python.literals import plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.recognise import is_tilelang, last_name

REQUIRES = register(
    Rule(
        "H21",
        "tests-require-musa",
        Severity.INFO,
        "Changes the compute version that a test requires; rule P24 renames requires_cuda to requires_musa.",
        why="MUSA devices count (2, 2) and (3, 1): a requirement of (9, 0) would skip the test everywhere.",
        example=(
            "@tilelang.testing.requires_cuda_compute_version_ge(9, 0)\ndef test_gemm(): ...",
            "@tilelang.testing.requires_musa_compute_version_ge(3, 1)\ndef test_gemm(): ...",
        ),
        evidence="132 such changes between the tests of TileLang and those of tilelang-musa",
    )
)
SOURCE = register(
    Rule(
        "H22",
        "expected-source",
        Severity.WARNING,
        "Changes `__syncthreads()` in what a test expects of generated source; reports what needs another test.",
        why="MUSA source says __syncthreads_lm(), aligns shared memory to 4096 bytes, moves FP8 in types of its own, "
        "and has neither wgmma nor mma.sync.",
        example=(
            'assert "__syncthreads()" in kernel.get_kernel_source()',
            'assert "__syncthreads_lm()" in kernel.get_kernel_source()',
        ),
        advice="Compile for MUSA, read the source, and expect what it says.",
    )
)
_REQUIRES = re.compile(r"tilelang\.testing\.requires_cuda_compute_version(_\w\w)?")
_SYNC = "__syncthreads()"
_CUDA_TEXT = re.compile(r"wgmma|mma\.sync|ldmatrix|cp\.async|tcgen05|__align__\(1024\)|\buint4\b|tma_load|mbarrier")


@visit(cst.Call, order=8)
def port_requirement(module: Module, node: cst.Call) -> None:
    """`requires_cuda_compute_version_ge(9, 0)`."""
    if not is_tilelang(module) or not _REQUIRES.fullmatch(module.qualified(node.func)):
        return
    numbers = [arg.value.value for arg in node.args if arg.keyword is None and isinstance(arg.value, cst.Integer)]
    known = _version(numbers) if len(numbers) == len(node.args) else None
    if known is None:
        message = "the required compute version is left"
        module.report(node, "tests-require-musa", message, severity=Severity.WARNING)
        return
    start, end = module.span(node.args[0].value)[0], module.span(node.args[-1].value)[1]
    module.edit(start, end, f"{known[:-1]}, {known[-1]}", "tests-require-musa", musa=False)


def _version(numbers: list[str]) -> str | None:
    """`31` for `9, 0` and above, by the table of architectures; None when it is not known."""
    if len(numbers) not in (1, 2):
        return None
    return "31" if int(numbers[0]) > 9 else architecture("".join([*numbers, "0"][:2]))


@visit(cst.SimpleString, order=8)
def port_expectation(module: Module, node: cst.SimpleString) -> None:
    """`"__syncthreads()" in source`, `source.count("wgmma")`."""
    if not is_tilelang(module):
        return
    if not (_SYNC in node.value or _CUDA_TEXT.search(node.value)) or not _is_expected(module, node):
        return
    text = text_of(module, node)
    if text is not None and _SYNC in text.value:
        start = text.start + len(text.value[: text.value.index(_SYNC)].encode())
        module.edit(start, start + len(_SYNC), "__syncthreads_lm()", "expected-source", musa=False)
    found = _CUDA_TEXT.search(plain(node))
    if found:
        message = f"{found.group()} is expected in the generated source, which is MUSA source in the port"
        module.report(node, "expected-source", message, name=found.group())


def _is_expected(module: Module, node: cst.SimpleString) -> bool:
    """Whether the string is looked for in something: `x in source`, `source.count(x)`, `re.search(x, source)`."""
    parent = module.parent(node)
    if isinstance(parent, cst.Comparison):
        return any(isinstance(target.operator, (cst.In, cst.NotIn)) for target in parent.comparisons)
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return False
    return last_name(call.func) in ("count", "find", "index", "search", "findall", "match", "finditer", "startswith")
