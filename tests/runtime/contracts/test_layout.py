"""Majorness, aligned layouts, alignment; against torch and against bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musa_compat.contracts import (
    Contract,
    ContractError,
    align,
    ceil_div,
    is_mn_major_tma_aligned,
    is_row_major,
    majorness,
    mn_major_tma_strides,
    operand_majorness,
    tma_aligned_size,
    unaligned,
)

torch = pytest.importorskip("torch")
CHECK = Contract("lib.op")
sizes = st.integers(1, 40)


@given(x=st.integers(0, 10**6), y=st.integers(1, 1000))
def test_rounding(x: int, y: int) -> None:
    assert ceil_div(x, y) == x // y + (x % y > 0)
    assert align(x, y) in range(x, x + y)
    assert align(x, y) % y == 0


def test_majorness() -> None:
    x = torch.empty(6, 8)
    assert majorness(x) == "k"
    assert majorness(x.t()) == "mn"
    assert majorness(x[:, :4]) == "k"
    assert majorness(x[::2, ::2]) is None
    assert majorness(torch.empty(5, 1)) == "k", "both strides are 1: counts as K-major"
    assert is_row_major(x[:, :4])
    assert not is_row_major(x.t())


def test_majorness_of_operands() -> None:
    grouped = torch.empty(2, 6, 8)
    assert operand_majorness(CHECK, "b", grouped) == "k"
    assert operand_majorness(CHECK, "b", grouped.transpose(1, 2)) == "mn"
    with pytest.raises(
        ContractError, match=r"argument b: expected a stride of 1 in one of the last two .* strides \(16, 2\)"
    ):
        operand_majorness(CHECK, "b", torch.empty(6, 16)[:, ::2])
    with pytest.raises(ContractError, match=r"groups one after the other: stride\(0\) = size\(1\) \* size\(2\) = 24"):
        operand_majorness(CHECK, "b", torch.empty(2, 6, 8)[:, :3])


@given(mn=sizes, element=st.sampled_from([1, 2, 4, 8]))
def test_aligned_size_is_a_multiple_of_16_bytes(mn: int, element: int) -> None:
    size = tma_aligned_size(mn, element)
    assert size * element % 16 == 0
    assert 0 <= size - mn < 16 // element


@given(groups=st.one_of(st.none(), st.integers(1, 3)), mn=sizes, blocks=st.integers(1, 9))
def test_aligned_layout_has_each_block_in_16_byte_units(groups: int | None, mn: int, blocks: int) -> None:
    """Against addresses: each K-block starts at a multiple of 16 bytes, rows of it follow one another."""
    shape = (mn, blocks) if groups is None else (groups, mn, blocks)
    strides = mn_major_tma_strides(shape)
    assert len(strides) == len(shape)
    scales = torch.empty_strided(shape, strides)
    assert is_mn_major_tma_aligned(scales)
    assert len(set(addresses(scales))) == scales.numel(), "no two elements share an address"
    for block in range(blocks):
        column = scales[..., block] if groups is None else scales[0, :, block]
        assert (column.data_ptr() - scales.data_ptr()) % 16 == 0
        assert [address - column.data_ptr() for address in addresses(column)] == list(range(0, 4 * mn, 4))


def addresses(tensor: Any) -> list[int]:
    """Of every element, by stepping through it."""
    indices = torch.cartesian_prod(*(torch.arange(size) for size in tensor.shape)).view(-1, tensor.dim())
    offsets = (indices * torch.tensor(tensor.stride())).sum(-1)
    return [tensor.data_ptr() + 4 * int(offset) for offset in offsets]


def test_what_is_not_the_aligned_layout() -> None:
    assert not is_mn_major_tma_aligned(torch.empty(6, 3))
    assert not is_mn_major_tma_aligned(torch.empty(3, 6).t()), "a pitch of 6 floats is 24 bytes"
    assert is_mn_major_tma_aligned(torch.empty(3, 8).t())
    assert not is_mn_major_tma_aligned(torch.empty_strided((2, 8, 3), (32, 1, 8)))
    assert is_mn_major_tma_aligned(torch.empty_strided((1, 3), (7, 4))), "the stride of one row does not count"


def test_alignment_for_bulk_copies() -> None:
    x = torch.empty(16, 64, dtype=torch.bfloat16)
    assert unaligned("x", x) is None
    assert unaligned("x", x.t()) is None
    assert unaligned("x", x[:, 8:]) is None
    assert unaligned("x", x[:, 1:]) == "x does not start at a multiple of 16 bytes"
    assert unaligned("x", torch.empty(4, 9, dtype=torch.bfloat16)) == "stride(0) of x is 18 bytes, no multiple of 16"
    assert unaligned("x", torch.empty(1, 9, dtype=torch.bfloat16)) is None, "one row has no pitch"
