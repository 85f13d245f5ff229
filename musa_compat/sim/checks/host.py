"""Reads by the host that are no operation: `numpy()` and `tolist()` of a pinned tensor."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

_NAMES = ("numpy", "tolist")


def watch(on: bool) -> None:
    """Let the two methods say what they read, or put them back."""
    for name in _NAMES:
        is_on = name in torch.Tensor.__dict__
        if on and not is_on:
            setattr(torch.Tensor, name, _watched(name))
        elif is_on and not on:
            delattr(torch.Tensor, name)


def _watched(name: str) -> Callable[..., Any]:
    method = getattr(torch._C.TensorBase, name)

    @wraps(method)
    def watched(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if self.is_cpu and self.layout is torch.strided and type(self) in (torch.Tensor, torch.nn.Parameter):
            torch.ops.musa_sim.host_reads(self.detach(), name)
        return method(self, *arguments, **keywords)

    return watched
