"""The names of torch_musa for columns of a profile: `musa_time_total` is what torch calls `device_time_total`."""

from __future__ import annotations

from torch.autograd import profiler_util

_COLUMNS = ("time", "time_total", "memory_usage")


def register() -> None:
    """Give events, and averages of events, the columns by the names of torch_musa."""
    for prefix in ("", "self_"):
        for column in _COLUMNS:
            _alias(f"{prefix}musa_{column}", f"{prefix}device_{column}")


def _alias(name: str, known: str) -> None:
    for owner in (profiler_util.FunctionEvent, profiler_util.FunctionEventAvg):
        setattr(owner, name, property(lambda self: getattr(self, known)))
