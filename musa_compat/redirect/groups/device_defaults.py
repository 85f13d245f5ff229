"""`torch.set_default_tensor_type("torch.cuda.FloatTensor")`: a default dtype, and a default device."""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch

from musa_compat.redirect.registry import patch
from musa_compat.redirect.typed import TypedTensor, typed_tensor


@patch("device", "torch:set_default_tensor_type", reason='set_default_tensor_type("torch.cuda.FloatTensor")')
def _default_type(original: Any) -> Any:
    @wraps(original)
    def set_default_tensor_type(t: Any) -> None:
        wanted = typed_tensor(t) if isinstance(t, str) else t
        if isinstance(wanted, TypedTensor):
            torch.set_default_dtype(wanted.dtype)
            torch.set_default_device("musa")
            return
        original(t)
        torch.set_default_device(None)

    return set_default_tensor_type
