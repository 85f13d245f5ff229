"""A simulated MUSA device on host memory: `musa:N` tensors without Moore Threads hardware.

Not hardware: kernels are the CPU's and run at once, and `torch.musa.get_device_name()` says "Simulated MUSA device".
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from musa_compat.sim import build, finder, native
from musa_compat.sim.build import BuildError
from musa_compat.sim.native import NotEnabledError
from musa_compat.sim.settings import Settings, settings

_is_starting = False

#: Names of `musa_compat.sim.checks`, which needs torch.
_STRICT = ("Finding", "StrictError", "StrictWarning", "allow", "findings", "strict")

__all__ = ["BuildError", "NotEnabledError", "Settings", "as_cpu", "counters", "enable", "from_cpu", "is_enabled"]
__all__ += _STRICT


def __getattr__(name: str) -> Any:
    if name not in _STRICT:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from musa_compat.sim import checks

    return getattr(checks, name)


def enable(
    devices: int | None = None,
    arch: str | None = None,
    memory: int | str | None = None,
    cuda_capability: str | tuple[int, int] | None = None,
    strict: str | None = None,
) -> ModuleType:
    """Register the simulated device with PyTorch and return `torch.musa`.

    devices: 1 to 16 (default 2). arch: `mp_31` (default) or `mp_22`. memory: bytes for each device, or a text such as
    `80G`. cuda_capability: what `get_device_capability` answers in place of the architecture's, such as `9.0`, for code
    that branches on it. strict: `raise`, `warn`, or with checks `warn:streams,syncs`, for strict mode (see `strict`).
    Defaults come from `MUSA_COMPAT_SIM_DEVICES`, `_ARCH`, `_MEMORY`, `_CUDA_CAPABILITY` and `_STRICT`.

    A second call with the same settings changes nothing. PyTorch cannot undo it, and it can be done once a process.
    Raises ValueError for settings, BuildError without compiler or torch, RuntimeError when a MUSA backend is there or
    the settings differ from the running ones.
    """
    given = (devices, arch, memory, cuda_capability) != (None,) * 4
    wanted = settings(devices, arch, memory, cuda_capability)
    if native.started():
        running = native.native().settings
        if wanted != running and given:
            raise RuntimeError(f"the simulated MUSA device runs with {running} already and cannot change to {wanted}")
    else:
        with _starting():
            _start(wanted)
        strict = strict or os.environ.get("MUSA_COMPAT_SIM_STRICT")
    if strict:
        from musa_compat.sim import checks

        checks.from_text(strict)
    return sys.modules["torch_musa"]


def _start(wanted: Settings) -> ModuleType:
    library = build.ensure()
    import torch

    _refuse_other_backend(torch)
    torch.ops.load_library(str(library))
    native.load(str(library), wanted)
    torch.utils.rename_privateuse1_backend("musa")
    finder.install()
    from musa_compat.sim import setup

    return setup.register()


@contextmanager
def _starting() -> Iterator[None]:
    global _is_starting
    _is_starting = True
    try:
        yield
    finally:
        _is_starting = False


def is_starting() -> bool:
    """Whether `enable` is at work in this process; `import torch` within it must not call it a second time."""
    return _is_starting


def is_enabled() -> bool:
    """Whether the simulated device is registered in this process."""
    return native.started()


def as_cpu(tensor: Any) -> Any:
    """The same memory as a CPU tensor, without a copy. tensor: on a simulated device, of any shape, stride, dtype."""
    import torch

    native.native()
    return torch.ops.musa_sim.as_cpu(tensor)


def from_cpu(tensor: Any, device: int = 0) -> Any:
    """The same memory as a tensor on `musa:<device>`, without a copy. tensor: on the CPU."""
    import torch

    native.native()
    return torch.ops.musa_sim.from_cpu(tensor, device)


def counters() -> dict[str, int]:
    """How many operations ran on the device, and how often the host waited for it."""
    library = native.native().library
    return {"device_ops": library.musa_sim_operations(), "host_syncs": library.musa_sim_host_syncs()}


def _refuse_other_backend(torch: Any) -> None:
    if torch._C._get_privateuse1_backend_name() == "musa" or importlib.util.find_spec("torch_musa") is not None:
        raise RuntimeError("torch_musa is installed here, and the simulated MUSA device cannot stand beside it")
    if torch._C._get_privateuse1_backend_name() != "privateuseone":
        other = torch._C._get_privateuse1_backend_name()
        raise RuntimeError(f"PyTorch's place for another backend is taken by {other!r}; use a process without it")
