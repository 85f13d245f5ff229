"""What scales mean in numbers, in torch. The definition that kernels are measured against.

Needs torch. Works on any device, and waits for none.
"""

from __future__ import annotations

from typing import Any

from musa_compat.contracts.scales import Recipe


def unpack_ue8m0(packed: Any, blocks: int) -> Any:
    """Packed UE8M0 scales, int32 `[..., ceil(blocks / 4)]`, as float32 `[..., blocks]`.

    An exponent byte e stands for 2 ** (e - 127): the exponent of a float32. A byte of 0 gives 0, as these bits do.
    """
    import torch

    # Shifts rather than a view of bytes: a view needs a contiguous last dimension, and scales are often MN-major.
    shifts = torch.arange(0, 32, 8, dtype=torch.int32, device=packed.device)
    exponents = (packed.unsqueeze(-1) >> shifts) & 0xFF
    return (exponents << 23).view(torch.float32).flatten(-2)[..., :blocks]


def pack_ue8m0(scales: Any) -> Any:
    """Float32 `[..., blocks]`, powers of two, as int32 `[..., ceil(blocks / 4)]`; missing blocks are byte 0.

    Only the exponent is kept, so a scale that is no power of two is rounded down.
    """
    import torch

    exponents = (scales.contiguous().view(torch.int32) >> 23) & 0xFF
    exponents = torch.nn.functional.pad(exponents, (0, -exponents.shape[-1] % 4))
    exponents = exponents.view(*exponents.shape[:-1], exponents.shape[-1] // 4, 4)
    shifts = torch.arange(0, 32, 8, dtype=torch.int32, device=scales.device)
    return (exponents << shifts).sum(-1, dtype=torch.int32)


def expand_scales(scales: Any, recipe: Recipe, mn: int, k: int) -> Any:
    """Scales of either format as float32 `[..., mn, k]`: the factor of each element of the operand."""
    import torch

    if scales.dtype == torch.int32:
        scales = unpack_ue8m0(scales, -(-k // recipe.k))
    rows = scales.repeat_interleave(recipe.mn, dim=-2)[..., :mn, :] if recipe.mn != 1 else scales
    return rows.repeat_interleave(recipe.k, dim=-1)[..., :k]
