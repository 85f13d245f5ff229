"""The profiler: `ProfilerActivity.CUDA` means the activity of MUSA."""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch

from musa_compat.redirect.devices import switch, to_musa
from musa_compat.redirect.registry import patch

_Activity = torch.profiler.ProfilerActivity


def _activity(value: Any) -> Any:
    if isinstance(value, dict):
        return {_activity(key): names for key, names in value.items()}
    return _Activity.PrivateUse1 if value == _Activity.CUDA and switch.on else value


@patch("profiler", "torch.profiler.profiler:_KinetoProfile.__init__", reason="activities=[ProfilerActivity.CUDA]")
def _activities(original: Any) -> Any:
    @wraps(original)
    def __init__(self: Any, *args: Any, activities: Any = None, **kwargs: Any) -> None:
        if activities is not None:
            activities = list(map(_activity, activities))
        original(self, *args, activities=activities, **kwargs)

    return __init__


@patch("profiler", "torch.autograd.profiler:profile.__init__", reason='use_device="cuda", use_cuda=True')
def _use_device(original: Any) -> Any:
    @wraps(original)
    def __init__(self: Any, *args: Any, use_cuda: bool = False, use_device: Any = None, **kwargs: Any) -> None:
        device = "cuda" if use_cuda and use_device is None else use_device
        original(self, *args, use_device=to_musa(device), **kwargs)

    return __init__
