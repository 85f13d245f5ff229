"""Devices."""

from __future__ import annotations

from typing import Any

import torch

from musa_compat.sim.native import native

from .._MUSAC import _MusaDeviceProperties
from ._utils import _device, _get_musa_device_index

_library = native().library
_settings = native().settings


def _set(index: int) -> None:
    if _library.musa_sim_set_device(index):
        raise RuntimeError(
            f"MUSA error: invalid device ordinal (musa:{index} was asked for, but {_settings.devices} simulated)"
        )


class Device:
    """Context manager: the current device."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _get_musa_device_index(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = current_device()
        if self.idx >= 0:
            _set(self.idx)

    def __exit__(self, *args: Any) -> None:
        _set(self.prev_idx)


class DeviceOf(Device):
    """Context manager: the device of a tensor; nothing for a tensor that is elsewhere."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.device.type == "musa" else None)


class _DeviceGuard:
    def __init__(self, index: int) -> None:
        self.idx = index
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = _exchange_device(self.idx)

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:  # noqa: A002
        _exchange_device(self.prev_idx)


def is_available() -> bool:
    """Whether there is a device."""
    return _settings.devices > 0


def device_count() -> int:
    """The number of simulated devices."""
    return _settings.devices


def current_device() -> int:
    """The index of this thread's device."""
    return int(_library.musa_sim_get_device())


def set_device(device: Any) -> None:
    """Make a device this thread's; negatives are ignored."""
    if not isinstance(device, int) or device >= 0:
        _set(_get_musa_device_index(device))


def _exchange_device(device: int) -> int:
    previous = current_device()
    if device >= 0:
        _set(device)
    return previous


def _maybe_exchange_device(device: int) -> int:
    return _exchange_device(device)


def synchronize(device: Any = None) -> None:
    """Wait until a device has nothing left to do."""
    torch.accelerator.synchronize(_device(device))


def get_device_properties(device: Any = None) -> _MusaDeviceProperties:
    """What the simulation pretends to be. Raises AssertionError for an index that is not there."""
    if not 0 <= _get_musa_device_index(device) < _settings.devices:
        raise AssertionError("Invalid device id")
    return _MusaDeviceProperties(
        "Simulated MUSA device", *_settings.capability, _settings.memory, _settings.multiprocessors
    )


def get_device_name(device: Any = None) -> str:
    """`Simulated MUSA device`."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """(3, 1) for mp_31, (2, 2) for mp_22, or what `enable(cuda_capability=)` said."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def get_arch_list() -> list[str]:
    """Architectures as torch_musa writes them: `'31'`."""
    return [_settings.arch.removeprefix("mp_")]


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """True for two different devices."""
    a, b = _get_musa_device_index(device), _get_musa_device_index(peer_device)
    return a != b and max(a, b) < _settings.devices


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """True from capability 2.2 on."""
    return _settings.arch != "mp_21"


def is_tf32_supported() -> bool:
    """True; the numbers are the CPU's float32 all the same."""
    return True
