"""torch.compile asks a DeviceInterface about the device; it is registered when Dynamo is loaded."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_NAME = "torch._dynamo.device_interface"


def register(musa: Any) -> None:
    """Register now, or as soon as Dynamo is imported."""
    if _NAME in sys.modules:
        _register(sys.modules[_NAME], musa)
    else:
        sys.meta_path.insert(0, _Hook(musa))


def _register(interfaces: Any, musa: Any) -> None:
    interface = _interface(interfaces.DeviceInterface, musa)
    interfaces.register_interface_for_device("musa", interface)
    for index in range(musa.device_count()):
        interfaces.register_interface_for_device(f"musa:{index}", interface)


def _interface(base: Any, musa: Any) -> Any:
    same = "current_device set_device device_count is_available synchronize current_stream set_stream stream".split()
    same += ["get_device_properties", "memory_allocated"]
    names: dict[str, Any] = {name: staticmethod(getattr(musa, name)) for name in same}
    worker = {name: names[name] for name in ("set_device", "current_device", "get_device_properties")}
    names |= {
        "device": musa.device,
        "Event": musa.Event,
        "Stream": musa.Stream,
        "Worker": type("Worker", (), worker),
        "exchange_device": staticmethod(musa._exchange_device),
        "maybe_exchange_device": staticmethod(musa._maybe_exchange_device),
        "get_raw_stream": staticmethod(lambda index: musa.current_stream(index).stream_id),
        "is_bf16_supported": staticmethod(lambda including_emulation=False: musa.is_bf16_supported()),
        "get_compute_capability": staticmethod(lambda device=None: _integer(musa.get_device_capability(device))),
    }
    return type("MusaInterface", (base,), names)


def _integer(capability: tuple[int, int]) -> int:
    return capability[0] * 10 + capability[1]


class _Hook(importlib.abc.MetaPathFinder):
    def __init__(self, musa: Any) -> None:
        self.musa = musa

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _NAME:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            sys.modules[name] = module
            _register(module, self.musa)

        loader.exec_module = exec_module
        return spec
