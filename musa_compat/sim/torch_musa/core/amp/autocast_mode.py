"""`torch.amp` with the device musa."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch


class autocast(torch.amp.autocast_mode.autocast):
    """`torch.autocast('musa', ...)`."""

    def __init__(self, enabled: bool = True, dtype: Any = torch.float16, cache_enabled: bool = True) -> None:
        super().__init__("musa", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """`torch.amp.custom_fwd` for musa."""
    if fwd is None:
        return partial(custom_fwd, cast_inputs=cast_inputs)
    return torch.amp.custom_fwd(fwd, device_type="musa", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """`torch.amp.custom_bwd` for musa."""
    return torch.amp.custom_bwd(bwd, device_type="musa")
