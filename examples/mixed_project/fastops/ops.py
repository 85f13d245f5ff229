"""The operators."""

from __future__ import annotations

import torch
import torch.nn.functional as F

try:
    from fastops import _C
except ImportError:  # not built: no toolkit, or a machine without a GPU
    _C = None


def has_extension() -> bool:
    """Whether the kernels are built."""
    return _C is not None


def _use_kernel(x: torch.Tensor) -> bool:
    """The kernels are for the GPU, and have no backward."""
    return _C is not None and x.is_cuda and not (torch.is_grad_enabled() and x.requires_grad)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    """`x / sqrt(mean(x * x) + eps) * weight` over the last dimension; statistics in float32."""
    if weight.shape != x.shape[-1:]:
        raise ValueError(f"weight: expected shape {tuple(x.shape[-1:])}, got {tuple(weight.shape)}")
    if _use_kernel(x):
        return _C.rms_norm(x.contiguous(), weight.contiguous(), eps)
    values = x.float()
    scale = torch.rsqrt(values.square().mean(-1, keepdim=True) + eps)
    return (values * scale * weight.float()).to(x.dtype)


def silu_and_mul(x: torch.Tensor) -> torch.Tensor:
    """`silu(a) * b` of the two halves of the last dimension, `[..., 2 * n]` to `[..., n]`; computed in float32."""
    if x.shape[-1] % 2:
        raise ValueError(f"x: expected an even number of columns, got {x.shape[-1]}")
    if _use_kernel(x):
        return _C.silu_and_mul(x.contiguous())
    gate, value = x.float().chunk(2, dim=-1)
    return (F.silu(gate) * value).to(x.dtype)
