"""Memory accounts."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

from musa_compat.sim.native import native

from ._utils import _device, _get_musa_device_index

_library = native().library
_total = native().settings.memory
_limits: dict[int, int] = {}


def empty_cache() -> None:
    """Nothing is cached."""


def memory_allocated(device: Any = None) -> int:
    """Bytes in use."""
    return int(_library.musa_sim_allocated(_get_musa_device_index(device), 0))


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes in use since the last reset."""
    return int(_library.musa_sim_allocated(_get_musa_device_index(device), 1))


def memory_reserved(device: Any = None) -> int:
    """Bytes in use: nothing more is reserved."""
    return memory_allocated(device)


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes in use since the last reset."""
    return max_memory_allocated(device)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes."""
    limit = _limits.get(_get_musa_device_index(device), _total)
    return limit - memory_allocated(device), _total


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """The dotted keys of torch, such as `allocated_bytes.all.current`."""
    return OrderedDict(torch.accelerator.memory_stats(_device(device)))


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """The same, a dictionary for each dot."""
    nested: dict[str, Any] = {}
    for key, value in memory_stats(device).items():
        *folders, name = key.split(".")
        place = nested
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = value
    return nested


def memory_stats_all() -> OrderedDict[str, Any]:
    """Sums over the devices."""
    total: OrderedDict[str, Any] = OrderedDict()
    for device in range(native().settings.devices):
        for key, value in memory_stats(device).items():
            total[key] = total.get(key, 0) + value
    return total


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The counts as text."""
    wanted = (".current",) if abbreviated else (".current", ".peak")
    return "\n".join(f"{k}: {v}" for k, v in memory_stats(device).items() if k.endswith(wanted))


def memory_snapshot() -> list[Any]:
    """Empty: blocks are not listed."""
    return []


def reset_peak_memory_stats(device: Any = None) -> None:
    """Start the peaks again."""
    torch.accelerator.reset_peak_memory_stats(_device(device))


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Start the sums again."""
    torch.accelerator.reset_accumulated_memory_stats(_device(device))


def reset_max_memory_allocated(device: Any = None) -> None:
    """`reset_peak_memory_stats`."""
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    """`reset_peak_memory_stats`."""
    reset_peak_memory_stats(device)


def get_allocator_backend() -> str:
    """`native`."""
    return "native"


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Lower the limit of a device to a part of its memory."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    index = _get_musa_device_index(device)
    _limits[index] = int(_total * fraction)
    _library.musa_sim_set_limit(index, _limits[index])
