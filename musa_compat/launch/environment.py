"""The environment of a program that `musa-compat run` starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.metadata import entry_points
from typing import Literal

from musa_compat import device

DEVICES = ("auto", *device.KINDS)
#: Who redirects CUDA calls: musa_compat.redirect, the package torchada, nobody.
ADAPTERS = ("own", "torchada", "none")
Adapter = Literal["own", "torchada", "none"]

#: Names the adapter that `import torch` starts.
ADAPTER = "MUSA_COMPAT_ADAPTER"
STRICT = "MUSA_COMPAT_SIM_STRICT"
#: 0 keeps `import torch` from loading torch_musa and from calling us.
AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
_SIMULATION = {
    "devices": "MUSA_COMPAT_SIM_DEVICES",
    "arch": device.SIMULATED_ARCH,
    "memory": "MUSA_COMPAT_SIM_MEMORY",
    "cuda_capability": "MUSA_COMPAT_SIM_CUDA_CAPABILITY",
    "strict": STRICT,
}


class LaunchError(RuntimeError):
    """The program cannot be started as asked; the text says what is missing and how to get it."""


@dataclass(frozen=True)
class Options:
    """What `musa-compat run` was told. The last five are the simulation's; None leaves their variables as they are."""

    device: str = "auto"
    adapter: str = "own"
    devices: int | None = None
    arch: str | None = None
    memory: str | None = None
    cuda_capability: str | None = None
    strict: str | None = None


def environment(options: Options, base: Mapping[str, str]) -> dict[str, str]:
    """The variables of the program. Raises LaunchError if the device or the adapter cannot be had."""
    chosen = _device(options, base)
    result = {name: value for name, value in base.items() if name not in (device.SIMULATE, ADAPTER, device.CHOICE)}
    result[device.CHOICE] = chosen
    if chosen in ("musa", "sim"):
        _require_entry_point()
        result.pop(AUTOLOAD, None)
        result |= _adapter(options.adapter)
        result |= _visible_devices(base)
    if chosen == "sim":
        result[device.SIMULATE] = "1"
        result |= _simulation(options)
    elif chosen == "cpu":
        result |= {"CUDA_VISIBLE_DEVICES": "", "MUSA_VISIBLE_DEVICES": "", AUTOLOAD: "0"}
    return result


def _device(options: Options, base: Mapping[str, str]) -> str:
    chosen = options.device
    if chosen == "auto":
        asked = base.get(device.CHOICE, "auto")
        chosen = asked if asked in device.KINDS else "musa" if _has("torch_musa") else "sim"
    _require_packages(chosen)
    unused = [name for name in _SIMULATION if getattr(options, name) is not None]
    if chosen != "sim" and unused:
        option = "--" + unused[0].replace("_", "-")
        raise LaunchError(f"{option} is for the simulated device, and the device is {chosen}; add --device sim")
    return chosen


def _require_packages(chosen: str) -> None:
    if not _has("torch"):
        raise LaunchError("PyTorch is not installed here; install it (`pip install torch`) in the version you deploy")
    if chosen == "musa" and not _has("torch_musa"):
        raise LaunchError(
            "--device musa needs torch_musa, which is not installed here; `musa-compat doctor` says how to get it, "
            "or use --device sim"
        )
    if chosen == "sim" and _has("torch_musa"):
        raise LaunchError(
            "--device sim: torch_musa is installed here, and the simulated device cannot stand beside it; "
            "use another virtual environment"
        )


def _adapter(adapter: str) -> dict[str, str]:
    if adapter == "none":
        return {}
    if adapter == "torchada" and not _has("torchada"):
        raise LaunchError("--adapter torchada needs the package torchada (`pip install torchada`); or use own")
    return {ADAPTER: adapter}


def _visible_devices(base: Mapping[str, str]) -> dict[str, str]:
    """torch_musa reads MUSA_VISIBLE_DEVICES alone, once, when torch is imported."""
    if "CUDA_VISIBLE_DEVICES" in base and "MUSA_VISIBLE_DEVICES" not in base:
        return {"MUSA_VISIBLE_DEVICES": base["CUDA_VISIBLE_DEVICES"]}
    return {}


def _simulation(options: Options) -> dict[str, str]:
    given = {variable: getattr(options, name) for name, variable in _SIMULATION.items()}
    return {variable: str(value) for variable, value in given.items() if value is not None}


def _require_entry_point() -> None:
    if not any(entry.value.startswith("musa_compat.launch.") for entry in entry_points(group="torch.backends")):
        raise LaunchError(
            "musa-compat is importable here but not installed, or installed by another version, so `import torch` "
            "would not call it; install it (`pip install .` in its source tree)"
        )


def _has(module: str) -> bool:
    return PathFinder.find_spec(module) is not None
