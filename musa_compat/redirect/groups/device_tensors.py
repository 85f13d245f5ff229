"""Methods of tensors that name CUDA otherwise than by the keyword `device`."""

from __future__ import annotations

from typing import Any

import torch

from musa_compat.redirect.devices import Device, is_musa
from musa_compat.redirect.mode import intercept, positional
from musa_compat.redirect.typed import TypedTensor, typed_tensor

Tensor = torch.Tensor

intercept(Tensor.to, torch._C._nn._parse_to, torch.get_device_module)(positional)


@intercept(Tensor.pin_memory, Tensor.is_pinned)
def _pin(function: Any, tensor: Any, device: Any = None) -> Any:
    # The argument is deprecated and means the accelerator that is there.
    return function(tensor)


@intercept(Tensor.cuda)
def _cuda(
    function: Any,
    tensor: Any,
    device: Any = None,
    non_blocking: bool = False,
    memory_format: Any = torch.preserve_format,
) -> Any:
    if isinstance(device, str):
        device = Device(device)
    index = device if device is None or isinstance(device, int) else device.index
    target = Device("musa") if index is None else Device("musa", index)
    return tensor.to(target, non_blocking=non_blocking, memory_format=memory_format)


@intercept(Tensor.is_cuda.__get__)
def _is_cuda(function: Any, tensor: Any) -> bool:
    return is_musa(tensor) or bool(function(tensor))


@intercept(Tensor.type)
def _type(function: Any, tensor: Any, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    if dtype is None:
        return function(tensor).replace("torch.musa.", "torch.cuda.")
    wanted = typed_tensor(dtype) if isinstance(dtype, str) else dtype
    if isinstance(wanted, TypedTensor):
        device = tensor.device if is_musa(tensor) else Device("musa")
        return tensor.to(device, wanted.dtype, non_blocking=non_blocking)
    return function(tensor, dtype, non_blocking, **kwargs)
