"""Fused operators for PyTorch; each falls back to operators of torch where the extension is not built."""

from fastops.ops import has_extension, rms_norm, silu_and_mul

__all__ = ["has_extension", "rms_norm", "silu_and_mul"]
