"""Mixed precision. The classes of torch.cuda.amp build upon these."""

from __future__ import annotations

from typing import Any

import torch

from musa_compat.redirect.devices import switch, to_musa
from musa_compat.redirect.registry import patch
from musa_compat.redirect.wrapping import arguments

patch(
    "autocast",
    "torch.amp.autocast_mode:autocast.__init__",
    reason='torch.autocast("cuda"), torch.cuda.amp.autocast()',
)(arguments())

patch(
    "autocast",
    "torch.amp.grad_scaler:GradScaler.__init__",
    reason='torch.amp.GradScaler("cuda"), torch.cuda.amp.GradScaler()',
)(arguments())

patch(
    "autocast", "torch.amp.autocast_mode:_cast", reason='custom_fwd(device_type="cuda") casts what is on this device'
)(arguments())

patch(
    "autocast",
    "torch.amp.autocast_mode:is_autocast_available",
    "torch.amp:is_autocast_available",
    "torch._C:_is_autocast_available",
    *(f"torch:{name}" for name in ("get_autocast_dtype", "set_autocast_dtype")),
    *(f"torch._C:{name}" for name in ("get_autocast_dtype", "set_autocast_dtype")),
    reason="the state of a device type",
)(arguments())


@patch(
    "autocast",
    *(f"{place}:{name}" for name in ("is_autocast_enabled", "set_autocast_enabled") for place in ("torch", "torch._C")),
    reason="the state of a device type; without one the accelerator's",
)
def _enabled(original: Any) -> Any:
    # The old forms `is_autocast_enabled()` and `set_autocast_enabled(True)` mean CUDA.
    def call(*args: Any, **kwargs: Any) -> Any:
        named = [*args, *kwargs.values()]
        if switch.on and not any(isinstance(value, str) for value in named):
            return original("musa", *named)
        return original(*map(to_musa, args), **{name: to_musa(value) for name, value in kwargs.items()})

    call.__name__ = original.__name__
    return call


@patch(
    "autocast",
    "torch:get_autocast_gpu_dtype",
    "torch._C:get_autocast_gpu_dtype",
    reason="the older name of get_autocast_dtype",
)
def _get_gpu_dtype(original: Any) -> Any:
    return lambda: torch.get_autocast_dtype("musa")


@patch(
    "autocast",
    "torch:set_autocast_gpu_dtype",
    "torch._C:set_autocast_gpu_dtype",
    reason="the older name of set_autocast_dtype",
)
def _set_gpu_dtype(original: Any) -> Any:
    return lambda dtype: torch.set_autocast_dtype("musa", dtype)
