"""What `import torch` calls, by the entry point of the group `torch.backends`, in every process of a program."""

from __future__ import annotations

import importlib
import importlib.util
import os

from musa_compat import device
from musa_compat.launch.environment import ADAPTER, ADAPTERS


def on_import_torch() -> None:
    """Enable the simulated device and start the adapter, if the environment asks for them.

    Raises ValueError for an adapter that is none.
    """
    adapter = os.environ.get(ADAPTER, "none")
    if adapter not in ADAPTERS:
        raise ValueError(f"{ADAPTER}={adapter}: expected {', '.join(ADAPTERS)}; change or unset the variable")
    if device.simulated():
        from musa_compat import sim

        if sim.is_starting():  # by the program itself, which imports torch on the way
            return
        sim.enable()
    elif adapter != "none":
        importlib.import_module("torch_musa")  # whichever of the two entry points comes first
    if adapter != "none":
        _finish_torch()
    if adapter == "own":
        from musa_compat import redirect

        if not redirect.is_active():
            redirect.activate()
    elif adapter == "torchada":
        importlib.import_module("torchada")


def _finish_torch() -> None:
    """PyTorch 2.13 registers kernels for CUDA after calling us; an adapter must not take them for a program's."""
    if importlib.util.find_spec("torch._native") is not None:
        importlib.import_module("torch._native")
