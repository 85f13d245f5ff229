"""Names of torch.cuda and what they are in torch.musa."""

from __future__ import annotations

import inspect
from functools import wraps
from types import ModuleType
from typing import Any

import torch

from musa_compat.redirect.devices import switch, to_musa
from musa_compat.redirect.registry import MISSING

#: Name in torch.cuda -> name in torch.musa, where they differ.
RENAMED = {
    "CUDAGraph": "MUSAGraph",
    "CUDAPluggableAllocator": "MUSAPluggableAllocator",
    "_device_count_nvml": "device_count",
    "get_stream_from_external": "ExternalStream",
    "memory_cached": "memory_reserved",
    "max_memory_cached": "max_memory_reserved",
}

#: Names that a program may use although they begin with an underscore.
PRIVATE = """_device_count_nvml _dump_snapshot _DeviceGuard _exchange_device _is_in_bad_fork _lazy_call _lazy_init
_maybe_exchange_device _record_memory_history _set_allocator_settings _set_stream_by_id _sleep""".split()

#: Names with patches of their own.
APART = {"is_available", "get_device_properties", "OutOfMemoryError", "AcceleratorError"}

#: Submodules of torch.cuda that define what torch.cuda exports.
SUBMODULES = ("graphs", "memory", "random", "streams")

#: Parameters by which a function is told a device.
_DEVICE_PARAMETERS = {"device", "devices", "peer_device", "args", "kwargs"}


def counterpart(name: str) -> Any:
    """What a name of torch.cuda is in torch.musa, or MISSING. Modules have none."""
    found = getattr(torch.musa, RENAMED.get(name, name), MISSING)
    return MISSING if isinstance(found, ModuleType) else found


def names() -> list[str]:
    """The names of torch.cuda that torch.musa has too."""
    public = [name for name in dir(torch.cuda) if not name.startswith("_")]
    known = sorted({*public, *torch.cuda.__all__, *RENAMED, *PRIVATE} - APART)
    defined = [name for name in known if _defined_by_torch(name)]
    return [name for name in defined if counterpart(name) is not MISSING]


def translating(function: Any, original: Any) -> Any:
    """A function of torch.musa that also takes devices that say cuda; itself where it takes no device.

    A class is returned as it is: it is patched in place, and stays one class under two names.
    """
    if isinstance(function, type) or not callable(function) or not _takes_device(function):
        return function

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not switch.on and original is not MISSING:
            return original(*args, **kwargs)
        return function(*map(to_musa, args), **{name: to_musa(value) for name, value in kwargs.items()})

    return call


def _takes_device(function: Any) -> bool:
    try:
        return not _DEVICE_PARAMETERS.isdisjoint(inspect.signature(function).parameters)
    except ValueError:  # compiled, without a signature
        return True


def _defined_by_torch(name: str) -> bool:
    """Not what torch.cuda merely imports, such as `os` and `Any`."""
    value = getattr(torch.cuda, name, MISSING)
    if value is MISSING or name in torch.cuda.__all__:
        return True
    return str(getattr(value, "__module__", "")).startswith("torch.cuda")
