"""Random numbers: a generator for each device, apart from the CPU's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from musa_compat.sim.native import native

from ._utils import _get_musa_device_index

default_generators = tuple(torch.ops.musa_sim.default_generator(i) for i in range(native().settings.devices))


def _generator(device: Any = None) -> Any:
    return default_generators[_get_musa_device_index(device)]


def get_rng_state(device: Any = "musa") -> Any:
    """Seed and offset: a CPU tensor of 16 bytes."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[Any]:
    """One state for each device."""
    return [generator.get_state() for generator in default_generators]


def set_rng_state(new_state: Any, device: Any = "musa") -> None:
    """Take a state that `get_rng_state` gave."""
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """One state for each device."""
    for generator, state in zip(default_generators, new_states, strict=False):
        generator.set_state(state)


def manual_seed(seed: int) -> None:
    """Seed the current device."""
    _generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed every device."""
    for generator in default_generators:
        generator.manual_seed(int(seed))


def seed() -> None:
    """Seed the current device by chance."""
    _generator().seed()


def seed_all() -> None:
    """Seed every device by one chance."""
    _generator().seed()
    manual_seed_all(initial_seed())


def initial_seed() -> int:
    """The seed of the current device."""
    return int(_generator().initial_seed())


def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "musa",
) -> Any:
    """`torch.random.fork_rng` for musa."""
    return torch.random.fork_rng(devices, enabled, _caller, _devices_kw, device_type=device_type)
