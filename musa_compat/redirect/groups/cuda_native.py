"""Functions of `torch._C` that CUDA builds have and that programs call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from musa_compat.redirect.registry import Patch, always, source

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "_cuda_emptyCache": lambda: torch.musa.empty_cache(),
    "_cuda_exchangeDevice": lambda index: torch.musa._exchange_device(index),
    "_cuda_getCurrentRawStream": lambda index: torch.musa.current_stream(index).musa_stream,
    "_cuda_getDevice": lambda: torch.musa.current_device(),
    "_cuda_init": lambda: torch.musa._lazy_init(),
    "_cuda_ipc_collect": lambda: torch.musa.ipc_collect(),
    "_cuda_isCurrentStreamCapturing": lambda: torch.musa.is_current_stream_capturing(),
    "_cuda_maybeExchangeDevice": lambda index: torch.musa._maybe_exchange_device(index),
    "_cuda_memoryStats": lambda index: torch.musa.memory_stats_as_nested_dict(index),
    "_cuda_setDevice": lambda index: torch.musa.set_device(index),
    "_cuda_synchronize": lambda: torch.musa.synchronize(),
}


@source
def _functions() -> Iterator[Patch]:
    for name, function in _FUNCTIONS.items():
        yield Patch("cuda", f"torch._C:{name}", "by torch.musa", always(function), create=True)
