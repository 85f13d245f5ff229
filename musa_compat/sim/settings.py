"""What the simulated device pretends to be: number, architecture, memory, capability."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from musa_compat import device

MAX_DEVICES = 16
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass(frozen=True)
class Settings:
    """One simulation. `memory` is bytes for each device; `capability` is what `get_device_capability` answers."""

    devices: int
    arch: str
    memory: int
    capability: tuple[int, int]
    multiprocessors: int
    clock_mhz: int


@cache
def architectures() -> dict[str, Any]:
    """The table arch.json: architecture name -> its figures."""
    table: dict[str, Any] = json.loads(Path(__file__).with_name("arch.json").read_text(encoding="utf-8"))
    return table


def settings(
    devices: int | None = None,
    arch: str | None = None,
    memory: int | str | None = None,
    cuda_capability: str | tuple[int, int] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """The settings from arguments and, where those are None, from `MUSA_COMPAT_SIM_*` variables.

    `MUSA_VISIBLE_DEVICES` lowers the number of devices, as it does on hardware. Raises ValueError.
    """
    arch = arch or environment.get(device.SIMULATED_ARCH) or device.DEFAULT_ARCH["sim"] or ""
    if arch not in architectures():
        raise ValueError(f"arch: expected one of {', '.join(architectures())}; got {arch!r}")
    figures = architectures()[arch]
    if memory is None:
        memory = environment.get("MUSA_COMPAT_SIM_MEMORY") or f"{figures['memory_gib']}G"
    if cuda_capability is None:
        cuda_capability = environment.get("MUSA_COMPAT_SIM_CUDA_CAPABILITY")
    return Settings(
        devices=_devices(devices, environment),
        arch=arch,
        memory=parse_bytes(memory),
        capability=parse_capability(cuda_capability) if cuda_capability else tuple(figures["capability"]),
        multiprocessors=figures["multiprocessors"],
        clock_mhz=figures["clock_mhz"],
    )


def parse_bytes(value: int | str) -> int:
    """A number of bytes, or a text such as `80G`. Raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", str(value).strip().lower())
    if not match or float(match[1]) <= 0:
        raise ValueError(f"memory: expected a positive number of bytes or a text like '80G'; got {value!r}")
    return int(float(match[1]) * _UNITS[match[2]])


def parse_capability(value: str | tuple[int, int]) -> tuple[int, int]:
    """`'9.0'` or `(9, 0)` as a pair. Raises ValueError."""
    text = value if isinstance(value, str) else ".".join(map(str, value))
    match = re.fullmatch(r"(\d+)\.(\d+)", text.strip())
    if not match:
        raise ValueError(f"cuda_capability: expected two numbers such as '9.0'; got {value!r}")
    return int(match[1]), int(match[2])


def _devices(devices: int | None, environment: Mapping[str, str]) -> int:
    text = environment.get("MUSA_COMPAT_SIM_DEVICES") or "2"
    try:
        number = int(text) if devices is None else int(devices)
    except ValueError:
        number = 0
    if not 1 <= number <= MAX_DEVICES:
        got = text if devices is None else devices
        raise ValueError(f"devices: expected 1 to {MAX_DEVICES}; got {got!r}")
    visible = environment.get("MUSA_VISIBLE_DEVICES")
    if visible is None:
        return number
    return min(number, len([x for x in visible.split(",") if x.strip() and x.strip() != "-1"]))
