"""Macros that emit instructions of NVIDIA's: `tilelang.intrinsics`."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted
from musa_port.python.uses import is_use

_PACKAGE = re.compile(r"tilelang\.(cuda\.)?intrinsics(\.|$)")
_OF_NVIDIA = re.compile(r"(?i)tensorcore|mma|ldmatrix|ldsm|tcgen05|swizzle_layout")


@visit(cst.ImportFrom, order=8)
def report_import(module: Module, node: cst.ImportFrom) -> None:
    """`from tilelang.intrinsics import TensorCoreIntrinEmitter`."""
    if node.module is None or node.relative or isinstance(node.names, cst.ImportStar):
        return
    package = ".".join(dotted(node.module))
    for alias in node.names if _PACKAGE.match(package) else ():
        _report(module, alias, f"{package}.{dotted(alias.name)[0]}")


@visit(cst.Attribute, order=8)
def report_name(module: Module, node: cst.Attribute) -> None:
    """`tilelang.intrinsics.TensorCoreIntrinEmitter`."""
    if _OF_NVIDIA.search(node.attr.value) and is_use(module, node) and module.imports("tilelang"):
        _report(module, node, module.qualified(node))


def _report(module: Module, node: cst.CSTNode, full: str) -> None:
    name = full.rpartition(".")[2]
    if _PACKAGE.match(full) and _OF_NVIDIA.search(name):
        message = f"{name} emits instructions of NVIDIA's matrix units, or lays out tiles for them"
        module.report(node, "kernel-ptx", message, advice="Write the kernel with T.gemm.", name=full, once=full)
