"""Process groups by the names of NCCL: the backend is MCCL."""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch

from musa_compat.redirect.devices import switch
from musa_compat.redirect.registry import Keep, patch
from musa_compat.redirect.wrapping import arguments

_NAMES = {"nccl": "mccl", "cuda": "musa"}
_BACK = {musa: cuda for cuda, musa in _NAMES.items()}


def backend_of_musa(name: Any) -> Any:
    """`nccl` -> `mccl`, `cpu:gloo,cuda:nccl` -> `cpu:gloo,musa:mccl`."""
    return _renamed(name.lower(), _NAMES) if isinstance(name, str) and switch.on else name


def backend_of_cuda(name: str) -> str:
    """The reverse."""
    return _renamed(name, _BACK) if switch.on else name


def _renamed(text: str, names: dict[str, str]) -> str:
    pairs = (":".join(names.get(word, word) for word in pair.split(":")) for pair in text.split(","))
    return ",".join(pairs)


@patch("distributed", "torch.distributed.distributed_c10d:Backend.__new__", reason="nccl, and cpu:gloo,cuda:nccl")
def _backend(original: Any) -> Any:
    new = original.__func__

    @wraps(new)
    def __new__(cls: Any, name: str) -> Any:
        return new(cls, backend_of_musa(name))

    return staticmethod(__new__)


@patch("distributed", "torch.distributed:get_backend", reason='programs compare it with "nccl"')
def _get_backend(original: Any) -> Any:
    # PyTorch itself asks distributed_c10d.get_backend, and goes on getting "mccl".
    @wraps(original)
    def get_backend(group: Any = None) -> str:
        return backend_of_cuda(original(group))

    return get_backend


@patch("distributed", "torch.distributed:is_nccl_available", reason="whether there is mccl")
def _is_nccl_available(original: Any) -> Any:
    return lambda: bool(getattr(torch.distributed, "is_mccl_available", lambda: False)())


@patch("distributed", "torch.distributed:ProcessGroupNCCL", reason="the class of MCCL, for its Options", create=True)
def _process_group(original: Any) -> Any:
    native = getattr(torch.musa, "_MUSAC", None)
    return getattr(native, "ProcessGroupMCCL", None) or Keep("this torch_musa has no ProcessGroupMCCL")


patch(
    "distributed",
    *(
        f"{module}:{name}"
        for module in ("torch.distributed.distributed_c10d", "torch.distributed")
        for name in ("init_process_group", "new_group")
    ),
    reason='device_id=torch.device("cuda:0")',
)(arguments())

patch(
    "distributed",
    "torch.distributed.device_mesh:DeviceMesh.__init__",
    "torch.distributed.device_mesh:init_device_mesh",
    "torch.distributed:init_device_mesh",
    reason='init_device_mesh("cuda", ...)',
)(arguments())
patch("distributed", "torch.distributed.distributed_c10d:get_default_backend_for_device", reason="mccl for cuda")(
    arguments()
)
