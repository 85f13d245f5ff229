"""Products that add up in 16 bits, which MUSA's matrix units do not."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.kernels import Buffer
from musa_port.tilelang.products import Product, products
from musa_port.tilelang.recognise import kernel_name, word
from musa_port.tilelang.samples import fragment, kernel, shared

HALF = register(
    Rule(
        "K5",
        "gemm-half-accumulator",
        Severity.WARNING,
        "Makes an accumulator of 16 bits one of float32, where its allocation says the type.",
        why="The matrix units of MUSA add up in float32, and in int32 for integers. T.copy to the result converts.",
        example=(
            kernel(shared("a", 64, 64), shared("b", 64, 64), fragment("c", 64, 64, "float16"), "T.gemm(a, b, c)"),
            kernel(shared("a", 64, 64), shared("b", 64, 64), fragment("c", 64, 64, "float32"), "T.gemm(a, b, c)"),
        ),
        advice="Where the type is a parameter, give float32 for the accumulator.",
    )
)


@visit(cst.Module, order=6)
def port_accumulators(module: Module, node: cst.Module) -> None:
    """The accumulator of each product, once for its allocation."""
    found = list(products(module))
    operands = {product.buffer(name) for product in found for name in "AB"}
    for product in found:
        buffer = product.buffer("C")
        if buffer is None or not _is_half(product, buffer):
            continue
        where = kernel_name(module, product.call)
        if buffer not in operands and _rewrite(module, buffer):
            message = f"the accumulator {buffer.name} of T.gemm in {where} became float32"
            module.report(buffer.call, "gemm-half-accumulator", message, new="float32", once=buffer.name + where)
        else:
            message = f"T.gemm in {where} adds up in 16 bits, in {buffer.name}: no matrix unit of MUSA does"
            module.report(product.call, "gemm-half-accumulator", message, name=buffer.name, once=buffer.name + where)


def _is_half(product: Product, buffer: Buffer) -> bool:
    if product.kernel is None:
        return False
    types = (product.kernel.dtype(buffer, arguments) for arguments in product.kernel.arguments)
    return any(dtype is not None and dtype.kind in ("float16", "bfloat16") for dtype in types)


def _rewrite(module: Module, buffer: Buffer) -> bool:
    """Write float32 where the allocation says the type itself; whether it does."""
    dtype = buffer.dtype
    text = text_of(module, dtype) if isinstance(dtype, cst.SimpleString) else None
    if text is not None:
        start = text.start
        module.edit(start, start + len(text.value), "float32", "gemm-half-accumulator", musa=False)
        return True
    if isinstance(dtype, cst.Attribute) and word(module, dtype):
        module.replace(dtype.attr, "float32", "gemm-half-accumulator", musa=False)
        return True
    return False
