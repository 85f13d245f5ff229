"""What `enable` does once the library runs: tell PyTorch about the device, as importing torch_musa does."""

from __future__ import annotations

import importlib
from types import ModuleType

import torch

from musa_compat.sim import distributed, dynamo, native, profiler, rnn


def register() -> ModuleType:
    """Import `torch_musa`, make it `torch.musa`, and add what it adds to torch."""
    module = importlib.import_module("torch_musa")
    module.__simulated_arch__ = native.native().settings.arch  # type: ignore[attr-defined]
    torch._register_device_module("musa", module)
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    torch.UntypedStorage.is_cuda = property(lambda self: self.device.type == "musa")
    torch.version.musa = "simulated"
    if hasattr(torch._C._profiler, "ProfilerActivity"):
        torch.profiler.ProfilerActivity.MUSA = torch.profiler.ProfilerActivity.PrivateUse1
    dynamo.register(module)
    profiler.register()
    rnn.register()
    if torch.distributed.is_available():
        distributed.register()
    return module
