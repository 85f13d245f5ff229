"""Device arguments."""

from __future__ import annotations

from typing import Any

import torch

from musa_compat.sim.native import native

_library = native().library


def _get_musa_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    if device is None:
        return int(_library.musa_sim_get_device())
    if isinstance(device, int):
        return device if device >= 0 else int(_library.musa_sim_get_device())
    if not isinstance(device, (str, torch.device)):
        device = device.device
    found = torch.device(device)
    if allow_cpu and found.type == "cpu":
        return -1
    if found.type != "musa":
        raise ValueError(f"Expected a musa device, but got: {found}")
    return int(_library.musa_sim_get_device()) if found.index is None else int(found.index)


def _device(device: Any) -> Any:
    return torch.device("musa", _get_musa_device_index(device))
