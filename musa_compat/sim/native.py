"""The loaded library, and the settings it was started with."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from musa_compat.sim.settings import Settings

_SIGNATURES = {
    "start": (None, ctypes.c_int),
    "get_device": (ctypes.c_int,),
    "set_device": (ctypes.c_int, ctypes.c_int),
    "capturing": (ctypes.c_int,),
    "sleep": (None, ctypes.c_int64),
    "elapsed": (ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p),
    "set_limit": (None, ctypes.c_int, ctypes.c_uint64),
    "allocated": (ctypes.c_int64, ctypes.c_int, ctypes.c_int),
    "operations": (ctypes.c_int64,),
    "host_syncs": (ctypes.c_int64,),
    "strict": (None, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_void_p),
}


@dataclass(frozen=True)
class Native:
    """What `enable` started."""

    library: ctypes.CDLL
    settings: Settings


_native: Native | None = None


class NotEnabledError(RuntimeError):
    """The simulated device is used before it is enabled."""


def load(path: str, settings: Settings) -> Native:
    """Load the built library and start it. Once a process."""
    global _native
    library = ctypes.CDLL(path)
    for name, (result, *arguments) in _SIGNATURES.items():
        function = getattr(library, f"musa_sim_{name}")
        function.restype, function.argtypes = result, arguments
    library.musa_sim_start(settings.devices)
    for device in range(settings.devices):
        library.musa_sim_set_limit(device, settings.memory)
    _native = Native(library, settings)
    return _native


def native() -> Native:
    """The running simulation. Raises NotEnabledError."""
    if _native is None:
        raise NotEnabledError("the simulated MUSA device is not enabled; call musa_compat.sim.enable() first")
    return _native


def started() -> bool:
    """Whether `load` was called."""
    return _native is not None
