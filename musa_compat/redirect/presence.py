"""Whether there is a MUSA device to redirect to."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from musa_compat import device


class NoDeviceError(RuntimeError):
    """There is no MUSA device, real or simulated."""


def require() -> Any:
    """Import torch and return `torch.musa`. Starts the simulated device when `MUSA_COMPAT_SIM=1` asks for it.

    Raises NoDeviceError without a device, ImportError without torch.
    """
    import torch

    if not hasattr(torch, "musa"):
        if device.simulated():
            from musa_compat import sim

            sim.enable()
        elif importlib.util.find_spec("torch_musa") is not None:
            importlib.import_module("torch_musa")
    musa = getattr(torch, "musa", None)
    if musa is None or musa.device_count() == 0:
        found = "torch_musa is not here" if musa is None else "torch.musa.device_count() is 0"
        raise NoDeviceError(
            f"musa_compat.activate: expected a MUSA device; {found}. Install torch_musa on a machine with a Moore "
            "Threads card, or simulate one: musa_compat.sim.enable() before activate(), or MUSA_COMPAT_SIM=1 in the "
            "environment (`musa-compat doctor` says what is missing)"
        )
    return musa
