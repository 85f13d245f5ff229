"""Matrix products of a file: operands, tiles, threads, and the unit that they are lowered to on mp_31."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import libcst as cst

from musa_port.python.module import Module
from musa_port.tilelang.facts import Dtype, measured_units
from musa_port.tilelang.kernels import Buffer, Kernel, Use, annotated_scope, kernels
from musa_port.tilelang.recognise import argument, calls
from musa_port.tilelang.values import Arguments, evaluate

WORDS = ("gemm", "gemm_v1", "gemm_v2", "wgmma_gemm", "tcgen05_gemm")
_WARP_GROUP = 128
_WARP = 32


@dataclass(frozen=True, slots=True)
class Product:
    """A T.gemm in one kernel; `kernel` is None for one in a macro that no kernel of the file calls."""

    module: Module
    use: Use
    kernel: Kernel | None

    @property
    def call(self) -> cst.Call:
        return self.use.call

    def operand(self, name: str) -> cst.BaseExpression | None:
        """The expression given for A, B or C."""
        return argument(self.call, name, "ABC".index(name))

    def buffer(self, name: str) -> Buffer | None:
        """The tile that A, B or C is, or is a part of."""
        return self.kernel.buffer(self.operand(name), self.use.given) if self.kernel is not None else None

    def scope(self, name: str) -> str:
        """Where A, B or C is: `shared`, `fragment`, ..., "" when that is unclear."""
        if self.kernel is None:
            return annotated_scope(self.module, self.operand(name))
        return self.kernel.scope(self.operand(name), self.use.given)

    def is_transposed(self, name: str) -> bool | None:
        """Whether A or B is given transposed; None when that is unclear."""
        given = argument(self.call, f"transpose_{name}", 3 if name == "A" else 4)
        value = evaluate(self.module, given) if given is not None else False
        return bool(value) if value is not None else None

    def sizes(self, arguments: Arguments) -> Tile:
        """What is known of the tile."""
        kernel = self.kernel
        if kernel is None:
            return Tile(None, None, None, None, None, None)
        values = kernel.values(self.use, arguments)
        found = {name: self.buffer(name) for name in "ABC"}
        shapes = {name: kernel.shape(item, values) if item is not None else None for name, item in found.items()}
        types = {name: kernel.dtype(item, values) if item is not None else None for name, item in found.items()}
        rows, columns = _last_two(shapes["C"])
        depth = _last_two(shapes["A"])[0 if self.is_transposed("A") else 1]
        return Tile(kernel.threads(arguments), rows, columns, depth, types["A"] or types["B"], types["C"])


class Tile(NamedTuple):
    """Threads of the block, extents of the product, types of the operands and of the accumulator; None is unknown."""

    threads: int | None
    m: int | None
    n: int | None
    k: int | None
    dtype: Dtype | None
    accumulator: Dtype | None

    def __str__(self) -> str:
        sides = "x".join("?" if side is None else str(side) for side in (self.m, self.n, self.k))
        return f"a tile of {sides} with {self.threads or '?'} threads"


def _last_two(shape: tuple[int, ...] | None) -> tuple[int | None, int | None]:
    return (shape[-2], shape[-1]) if shape is not None and len(shape) >= 2 else (None, None)


def products(module: Module) -> Iterator[Product]:
    """Every product of the file, once for each kernel that makes it."""
    seen: set[cst.Call] = set()
    for kernel in kernels(module):
        for use in kernel.uses(*WORDS):
            seen.add(use.call)
            yield Product(module, use, kernel)
    for call in calls(module, *WORDS):
        if call not in seen:
            yield Product(module, Use(call, call), None)


class Path(NamedTuple):
    """Where a product goes on mp_31, and why.

    unit  sqmma, wmma, scalar, other (one of the two before), none when it does not compile, "" when nothing is known
    """

    unit: str
    reason: str


#: The smallest extent of K that an instruction takes, by the bits of the operands.
_SMALLEST_K = {8: 32, 16: 16, 32: 8}


def path(tile: Tile) -> Path:
    """The unit that a product of shared tiles is lowered to, as far as it was measured or is documented."""
    if tile.m is not None and tile.m % 8:
        return Path("none", "M must be divisible by 8")
    if tile.threads is None:
        return Path("", "")
    if tile.threads % _WARP:
        return Path("scalar", f"{tile.threads} threads are no whole warps")
    measured = _measured(tile)
    if measured is not None:
        return measured
    if tile.threads % _WARP_GROUP:
        return Path("wmma", f"SQMMA needs a multiple of {_WARP_GROUP} threads, and the block has {tile.threads}")
    return _by_size(tile)


def _measured(tile: Tile) -> Path | None:
    """What was seen, of 16-bit types; failures were the same for every type."""
    if tile.m is None or tile.n is None or tile.threads is None:
        return None
    found = measured_units().get((tile.threads, tile.m, tile.n))
    if found is None or (found[0] != "none" and tile.dtype is not None and tile.dtype.bits != 16):
        return None
    return Path(found[0], found[1] or f"{tile.m}x{tile.n} is too small for {tile.threads} threads")


def _by_size(tile: Tile) -> Path:
    if tile.n is not None and tile.n % 8:
        return Path("scalar", "N must be divisible by 8")
    if tile.dtype is not None and tile.dtype.kind == "float32":
        if any(side is not None and side > 128 for side in (tile.m, tile.n)):
            return Path("wmma", "float32 (TF32) tiles for SQMMA end at 128x128")
        if tile.k is not None and tile.k > 32:
            return Path("wmma", "float32 (TF32) tiles for SQMMA end at K=32")
    smallest = _SMALLEST_K.get(tile.dtype.bits) if tile.dtype is not None else None
    if smallest is not None and tile.k is not None and tile.k % smallest:
        return Path("other", f"K must be divisible by {smallest}")
    return Path("sqmma", "")
