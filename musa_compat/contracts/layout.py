"""Memory layouts: majorness, the aligned layout of scales, alignment of addresses.

Source of the contract: DeepGEMM 2.6.1, host checks of operands (majorness) and of scale tensors (TMA alignment).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from musa_compat.contracts.checks import Contract
from musa_compat.contracts.errors import describe
from musa_compat.contracts.tensors import DTYPES, TensorLike, dtype_name

Majorness = Literal["k", "mn"]
"""Which logical dimension of an operand is contiguous."""

#: Bulk copies of the hardware move units of this many bytes from addresses that are multiples of it.
COPY_BYTES = 16


def ceil_div(x: int, y: int) -> int:
    """x / y, rounded up."""
    return -(-x // y)


def align(x: int, y: int) -> int:
    """The smallest multiple of y that is not below x."""
    return ceil_div(x, y) * y


def is_row_major(tensor: TensorLike) -> bool:
    """Whether the last dimension is contiguous; the pitch of rows may be larger than their length."""
    return tensor.stride()[-1] == 1


def majorness(tensor: TensorLike) -> Majorness | None:
    """Of an operand `[..., MN, K]`: `k` if K is contiguous, else `mn` if MN is, else None."""
    strides = tensor.stride()
    if strides[-1] == 1:
        return "k"
    return "mn" if strides[-2] == 1 else None


def operand_majorness(check: Contract, name: str, tensor: TensorLike) -> Majorness:
    """The majorness of an operand `[MN, K]` or `[G, MN, K]`.

    Raises the contract's error if neither dimension is contiguous, or if the groups of a 3-D operand do not lie one
    after the other without a gap.
    """
    found = majorness(tensor)
    if found is None:
        check.fail(
            name,
            "a stride of 1 in one of the last two dimensions",
            describe(tensor),
            f"call {name}.contiguous(), which copies",
        )
    if len(tensor.shape) == 3:
        dense = tensor.shape[1] * tensor.shape[2]
        if tensor.stride()[0] != dense:
            check.fail(
                name,
                f"groups one after the other: stride(0) = size(1) * size(2) = {dense}",
                describe(tensor),
                f"call {name}.contiguous(), which copies",
            )
    return found


def tma_aligned_size(mn: int, element_size: int) -> int:
    """The pitch of one K-block of scales: mn elements, up to a multiple of 16 bytes."""
    return align(mn, COPY_BYTES // element_size)


def mn_major_tma_strides(shape: Sequence[int], element_size: int = 4) -> tuple[int, ...]:
    """Strides of scales `[MN, KB]` or `[G, MN, KB]` in the layout that upstream calls MN-major TMA-aligned."""
    *_, mn, blocks = shape
    pitch = tma_aligned_size(mn, element_size)
    return (pitch * blocks, 1, pitch)[-len(shape) :]


def is_mn_major_tma_aligned(tensor: TensorLike) -> bool:
    """Whether scales lie as `mn_major_tma_strides` says. The stride of a dimension of size 1 in MN does not count."""
    shape, strides = tensor.shape, tensor.stride()
    size = DTYPES.get(dtype_name(tensor.dtype), 4)
    pitch = tma_aligned_size(shape[-2], size)
    return (
        (strides[-2] == 1 or shape[-2] == 1)
        and strides[-1] == pitch
        and (len(shape) < 3 or strides[-3] == strides[-1] * shape[-1])
    )


def unaligned(name: str, tensor: TensorLike) -> str | None:
    """Why bulk copies cannot read a tensor, for a provider's capability test; None if they can.

    The address and every stride but that of the contiguous dimension have to be multiples of 16 bytes.
    """
    size = DTYPES.get(dtype_name(tensor.dtype), 1)
    if tensor.data_ptr() % COPY_BYTES:
        return f"{name} does not start at a multiple of {COPY_BYTES} bytes"
    for dimension, (length, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        if length > 1 and stride != 1 and stride * size % COPY_BYTES:
            return f"stride({dimension}) of {name} is {stride * size} bytes, no multiple of {COPY_BYTES}"
    return None
