"""Fragments that a product can take by way of a shared tile: where the tile goes, and what it is called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from musa_port.python.module import Module
from musa_port.tilelang.kernels import Buffer, Kernel
from musa_port.tilelang.products import WORDS, Product
from musa_port.tilelang.recognise import keyword

_UNSYNCHRONISED = (b"TL_DISABLE_THREAD_STORAGE_SYNC", b"tl.disable_thread_storage_sync")


@dataclass(frozen=True, slots=True)
class Staging:
    """A product of a fragment and a shared tile, in a form that can be rewritten.

    operand    the fragment where the product names it
    buffer     its allocation
    tile       the name of the shared tile
    language   how the file calls the language: `T`
    must_sync  whether the kernel has to wait itself between the copy and the product
    """

    product: Product
    operand: cst.Name
    buffer: Buffer
    tile: str
    language: str
    must_sync: bool


def fragment_of(product: Product) -> str | None:
    """`A` or `B`: the fragment, when the other one is a shared tile."""
    scopes = {product.scope(name): name for name in "AB"}
    return scopes["fragment"] if set(scopes) == {"fragment", "shared"} else None


def staging(product: Product) -> Staging | None:
    """How the product is rewritten; None when that is not plain enough."""
    name = fragment_of(product)
    operand, buffer = (product.operand(name), product.buffer(name)) if name else (None, None)
    kernel, module = product.kernel, product.module
    if not isinstance(operand, cst.Name) or buffer is None or kernel is None or product.use.macro is not None:
        return None
    if not _is_line(module, product.call) or not _is_line(module, buffer.call) or not _is_plain(buffer):
        return None
    if any(True for _ in kernel.uses("ws", "WarpSpecialize")):
        return None  # producers and consumers would have to agree on one more tile
    tile = f"{buffer.name}_shared"
    if tile in module.identifiers or not isinstance(buffer.call.func, cst.Attribute):
        return None
    must_sync = module.draft.mentions(*_UNSYNCHRONISED)
    return Staging(product, operand, buffer, tile, module.code(buffer.call.func.value), must_sync)


def _is_line(module: Module, call: cst.Call) -> bool:
    """Whether a call, or the assignment of its result, is all of a line in a block."""
    line = module.parent(module.parent(call) or call)
    return (
        isinstance(line, cst.SimpleStatementLine)
        and len(line.body) == 1
        and isinstance(module.parent(line), cst.IndentedBlock)
    )


def _is_plain(buffer: Buffer) -> bool:
    """Whether the allocation gives a shape and a type, and no memory of its own choice."""
    args = buffer.call.args
    return len(args) == 2 and not keyword(buffer.call, "scope") and not any(arg.star for arg in args)


def staged(kernel: Kernel) -> Iterator[Buffer]:
    """The fragments of a kernel that get a shared tile, each once."""
    seen: set[Buffer] = set()
    for use in kernel.uses(*WORDS):
        found = staging(Product(kernel.module, use, kernel))
        if found is not None and found.buffer not in seen:
            seen.add(found.buffer)
            yield found.buffer
