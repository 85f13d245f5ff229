"""Stands for the native module of torch_musa."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class _MusaDeviceProperties:
    """Exactly the fields of torch_musa 2.7.1, so that code which reads another fails here too."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    is_integrated: int = 0
    is_multi_gpu_board: int = 0


def _musa_getDeviceCount() -> int:
    from .core.device import device_count

    return device_count()


def _musa_getDevice() -> int:
    from .core.device import current_device

    return current_device()
