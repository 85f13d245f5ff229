"""Products of a fragment with a shared tile, which mp_31 does not have."""

from __future__ import annotations

from functools import lru_cache

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.statements import after_line, indentation, newline
from musa_port.rules import Rule, register
from musa_port.tilelang.facts import having
from musa_port.tilelang.kernels import Buffer
from musa_port.tilelang.products import Product, products
from musa_port.tilelang.recognise import kernel_name
from musa_port.tilelang.samples import fragment, kernel, shared
from musa_port.tilelang.staging import Staging, fragment_of, staging

FRAGMENT = register(
    Rule(
        "K4",
        "gemm-fragment",
        Severity.WARNING,
        "Copies a fragment to a shared tile before it is multiplied with another shared tile.",
        why="mp_31 multiplies two shared tiles, or two fragments on the slower WMMA. Attention kernels on CUDA "
        "multiply the fragment P with the shared tile V. Products in macros and in warp-specialised kernels are left, "
        "and are an error.",
        example=(
            kernel(fragment("p", 64, 64, "float16"), shared("v", 64, 64), fragment("o", 64, 64), "T.gemm(p, v, o)"),
            kernel(
                fragment("p", 64, 64, "float16"),
                shared("p_shared", 64, 64),
                shared("v", 64, 64),
                fragment("o", 64, 64),
                "T.copy(p, p_shared)",
                "T.gemm(p_shared, v, o)",
            ),
        ),
        advice="The tile takes shared memory and a pass through it. Where a shared tile of this shape is free at that "
        "point, copy into that one.",
        evidence="lowering with tilelang-musa 0.1.12: Unsupported gemm combination; MATE goes through shared memory",
    )
)


@visit(cst.Module, order=6)
def port_fragments(module: Module, node: cst.Module) -> None:
    """`T.gemm(fragment, shared, accumulator)`."""
    if not having(module.options.arch, "sqmma"):
        return
    for product in products(module):
        name = fragment_of(product)
        found = staging(product)
        if found is not None:
            _rewrite(module, found)
        elif name is not None:
            _report(product, name)


def _report(product: Product, name: str) -> None:
    module, where = product.module, kernel_name(product.module, product.call)
    message = f"{name} of T.gemm in {where} is a fragment and the other operand shared, which mp_31 does not have"
    advice = "Allocate a shared tile of the same shape and type, T.copy the fragment into it, and multiply that."
    place = str(module.span(product.call)[0])
    module.report(product.call, "gemm-fragment", message, severity=Severity.ERROR, advice=advice, once=place)


def _rewrite(module: Module, found: Staging) -> None:
    """One more allocation behind that of the fragment, and a copy before the product."""
    language, ending = found.language, newline(module)
    if found.buffer not in _allocated(module):
        _allocated(module).add(found.buffer)
        shape, dtype = (module.code(arg) for arg in found.buffer.call.args)
        line = f"{found.tile} = {language}.alloc_shared({shape.rstrip(', ')}, {dtype.rstrip(', ')})"
        position = after_line(module, found.buffer.statement)
        _insert(module, position, f"{indentation(module, found.buffer.statement)}{line}{ending}")
    indent = indentation(module, found.product.call)
    lines = [f"{language}.copy({found.operand.value}, {found.tile})"]
    lines += [f"{language}.sync_threads()"] if found.must_sync else []
    start = module.span(found.product.call)[0] - len(indent.encode())
    _insert(module, start, "".join(f"{indent}{line}{ending}" for line in lines))
    module.replace(found.operand, found.tile, "gemm-fragment", musa=False)
    where = kernel_name(module, found.product.call)
    message = f"the fragment {found.operand.value} goes to T.gemm in {where} by way of the shared tile {found.tile}"
    module.report(found.operand, "gemm-fragment", message, new=found.tile, name=found.operand.value)


def _insert(module: Module, position: int, text: str) -> None:
    module.edit(position, position, text, "gemm-fragment", musa=False)


@lru_cache(maxsize=1)
def _allocated(module: Module) -> set[Buffer]:
    """The fragments that have got their tile."""
    return set()
