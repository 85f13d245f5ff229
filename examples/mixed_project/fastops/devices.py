"""Which device to use, and what it is."""

from __future__ import annotations

import torch


def default_device() -> torch.device:
    """The GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def describe(device: torch.device) -> str:
    """A line for the log, such as `NVIDIA H100 80GB HBM3, 132 multiprocessors, 79 GiB`."""
    if device.type != "cuda":
        return f"{device.type}, {torch.get_num_threads()} threads"
    properties = torch.cuda.get_device_properties(device)
    memory = properties.total_memory >> 30
    return f"{properties.name}, {properties.multi_processor_count} multiprocessors, {memory} GiB"


def synchronize(device: torch.device) -> None:
    """Wait for what was launched on the device."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def seed(value: int) -> None:
    """Seed every generator."""
    torch.manual_seed(value)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(value)
