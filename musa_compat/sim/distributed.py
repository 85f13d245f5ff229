"""The backend `mccl`: gloo on the host memory of the device tensors."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

_COLLECTIVES = """send recv_ recv_any_source_ reduce_ broadcast_ allreduce_ allreduce_coalesced_ allgather_
_allgather_base_ allgather_coalesced_ allgather_into_tensor_coalesced_ reduce_scatter_ _reduce_scatter_base_
reduce_scatter_tensor_coalesced_ gather_ scatter_ alltoall_ alltoall_base_ barrier monitored_barrier_""".split()


def register() -> None:
    """Register `mccl` for musa tensors and let the collectives of c10d see their host memory."""
    dist.Backend.register_backend("mccl", _create, devices=["musa"])
    dist.is_mccl_available = lambda: True
    for name in _COLLECTIVES:
        if hasattr(torch.ops.c10d, name):
            torch.ops.musa_sim.wrap_collective(name)


def _create(store: Any, rank: int, size: int, timeout: Any) -> Any:
    return dist.ProcessGroupGloo(store, rank, size, timeout=timeout)
