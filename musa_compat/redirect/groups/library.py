"""Dispatch keys: an operator that is registered for CUDA is registered for MUSA (PrivateUse1)."""

from __future__ import annotations

from typing import Any

from musa_compat.redirect.devices import switch
from musa_compat.redirect.registry import patch
from musa_compat.redirect.wrapping import arguments

_KEYS = {
    f"{kind}{name}": f"{kind}PrivateUse1"
    for name in ("CUDA", "MUSA")
    for kind in ("", "Autograd", "Autocast", "Sparse", "SparseCsr", "Quantized", "NestedTensor")
}


def key_of_musa(value: Any) -> Any:
    """`CUDA` -> `PrivateUse1`, `AutogradCUDA` -> `AutogradPrivateUse1`; anything else is left alone."""
    return _KEYS.get(value, value) if isinstance(value, str) and switch.on else value


# torch.library.impl, register_kernel and custom_op come down to these.
patch(
    "library",
    *(f"torch.library:Library.{name}" for name in ("__init__", "impl", "fallback")),
    reason='Library(ns, kind, "CUDA"), impl(name, function, "CUDA")',
)(arguments(key_of_musa))
patch("library", "torch.library:get_kernel", reason='get_kernel(op, "CUDA")', since="2.9")(arguments(key_of_musa))
patch(
    "library",
    "torch.library:register_autocast",
    "torch._library.custom_ops:CustomOpDef.register_autocast",
    reason='register_autocast(op, "cuda", dtype)',
)(arguments())
