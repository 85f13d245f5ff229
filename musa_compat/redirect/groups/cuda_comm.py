"""Copies between the devices of one process: torch.cuda.comm, nn.DataParallel. torch_musa has its own, if patched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch

from musa_compat.redirect.devices import Device
from musa_compat.redirect.registry import MISSING, Keep, Patch, always, patch, source


def _device(index: int) -> Any:
    return Device("cpu") if index < 0 else Device("musa", index)


def _broadcast(tensor: Any, devices: Sequence[int]) -> list[Any]:
    return [tensor.to(_device(index)) for index in devices]


def _broadcast_out(tensor: Any, out: Sequence[Any]) -> Sequence[Any]:
    for place in out:
        place.copy_(tensor)
    return out


def _broadcast_coalesced(tensors: Sequence[Any], devices: Sequence[int], buffer_size: int) -> list[list[Any]]:
    return [[tensor.to(_device(index)) for tensor in tensors] for index in devices]


def _scatter(
    tensor: Any, devices: Sequence[int], chunk_sizes: Any = None, dim: int = 0, streams: Any = None
) -> list[Any]:
    parts = tensor.split(chunk_sizes, dim) if chunk_sizes else tensor.chunk(len(devices), dim)
    return [part.to(_device(index)) for part, index in zip(parts, devices, strict=False)]


def _scatter_out(tensor: Any, out: Sequence[Any], dim: int = 0, streams: Any = None) -> Sequence[Any]:
    for place, part in zip(out, tensor.split([place.size(dim) for place in out], dim), strict=True):
        place.copy_(part)
    return out


def _gather(tensors: Sequence[Any], dim: int, destination: int | None = None) -> Any:
    index = torch.musa.current_device() if destination is None else destination
    return torch.cat([tensor.to(_device(index)) for tensor in tensors], dim)


def _gather_out(tensors: Sequence[Any], out: Any, dim: int) -> Any:
    return out.copy_(_gather(tensors, dim, out.get_device()))


_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    _broadcast,
    _broadcast_out,
    _broadcast_coalesced,
    _scatter,
    _scatter_out,
    _gather,
    _gather_out,
)


@source
def _functions() -> Iterator[Patch]:
    for function in _FUNCTIONS:
        make = partial(_make, function)
        yield Patch("cuda", f"torch._C:{function.__name__}", "torch.cuda.comm, nn.DataParallel", make, create=True)


def _make(function: Any, original: Any) -> Any:
    return function if original is MISSING else Keep("torch_musa, or a CUDA build of torch, has it")


patch("cuda", "torch.cuda.nccl:is_available", reason="torch.cuda.comm adds without it")(always(lambda tensors: False))
