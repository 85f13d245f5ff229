"""Names of torch.cuda that are not simply another name of torch.musa."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from musa_compat.redirect import activation
from musa_compat.redirect.cudart import CudaRuntime
from musa_compat.redirect.devices import to_musa
from musa_compat.redirect.nvtx import NoNvtx
from musa_compat.redirect.registry import Keep, patch


@patch("cuda", "torch.cuda:is_available", reason="torch.musa.is_available, by choice")
def _is_available(original: Any) -> Any:
    if not activation.current_options().cuda_is_available:
        return Keep("chosen: cuda_is_available=False")
    return torch.musa.is_available


@patch("cuda", "torch.version:cuda", reason="a version of CUDA, by choice")
def _version(original: Any) -> Any:
    return activation.current_options().cuda_version or Keep("chosen: cuda_version=None")


@patch("cuda", "torch._C:_cuda_getDeviceCount", reason="what torch.cuda._is_compiled() looks for", create=True)
def _count(original: Any) -> Any:
    if not activation.current_options().cuda_is_available:
        return Keep("chosen: cuda_is_available=False")
    return lambda: torch.musa.device_count()


@patch("cuda", "torch.backends.cuda:is_built", reason="torch is built for an accelerator")
def _is_built(original: Any) -> Any:
    return lambda: True


@patch("cuda", "torch.cuda:get_device_properties", reason="torch.musa.get_device_properties, of the current device too")
def _properties(original: Any) -> Any:
    def get_device_properties(device: Any = None) -> Any:
        return torch.musa.get_device_properties(torch.musa.current_device() if device is None else to_musa(device))

    return get_device_properties


@patch(
    "cuda",
    "torch.cuda:_get_device_index",
    "torch.cuda._utils:_get_device_index",
    "torch.cuda.memory:_get_device_index",
    reason="an index of a MUSA device, or of a CUDA one",
)
def _index(original: Any) -> Any:
    def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
        if isinstance(device, torch.musa.device):
            return int(device.idx)
        return int(torch._utils._get_device_index(to_musa(device), optional, allow_cpu))

    return _get_device_index


@patch("cuda", "torch.cuda:get_gencode_flags", reason="the flags of mcc")
def _gencode(original: Any) -> Any:
    return lambda: " ".join(f"--offload-arch=mp_{number}" for number in torch.musa.get_arch_list())


@patch("cuda", "torch._C:_cuda_get_sync_debug_mode", reason="torch_musa has no such mode: 0", create=True)
def _sync_mode(original: Any) -> Any:
    return lambda: 0


@patch("cuda", "torch._C:_cuda_set_sync_debug_mode", reason="torch_musa has no such mode", create=True)
def _set_sync_mode(original: Any) -> Any:
    def set_sync_debug_mode(mode: int) -> None:
        if mode:
            warnings.warn("torch.cuda.set_sync_debug_mode: torch_musa does not look for synchronisation", stacklevel=3)

    return set_sync_debug_mode


@patch("cuda", "torch.cuda:_cudart", reason="torch.musa.musart() under CUDA's names")
def _cudart(original: Any) -> Any:
    return CudaRuntime()


@patch("cuda", "torch.cuda.nvtx:_nvtx", reason="ranges and marks do nothing")
def _nvtx(original: Any) -> Any:
    return NoNvtx()


@patch("cuda", "torch.cuda.nccl:version", reason="torch.musa.mccl.version")
def _nccl_version(original: Any) -> Any:
    return lambda: torch.musa.mccl.version()
