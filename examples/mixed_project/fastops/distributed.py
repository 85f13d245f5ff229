"""One process for each GPU, as torchrun starts them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist


@contextmanager
def process_group() -> Iterator[torch.device]:
    """Join the processes of this run; gives the device of this process."""
    if torch.cuda.is_available():
        device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', '0')}")
        torch.cuda.set_device(device)
        dist.init_process_group(backend="nccl")
    else:
        device = torch.device("cpu")
        dist.init_process_group(backend="gloo")
    try:
        yield device
    finally:
        dist.destroy_process_group()


def average(value: torch.Tensor) -> torch.Tensor:
    """The mean over all processes."""
    total = value.clone()
    dist.all_reduce(total)
    return total / dist.get_world_size()
