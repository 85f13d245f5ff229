"""Classes of torch.musa that are under torch.cuda too: they take CUDA's devices, keywords and attributes."""

from __future__ import annotations

import functools
from typing import Any

from musa_compat.redirect.devices import to_musa
from musa_compat.redirect.registry import MISSING, patch


@patch(
    "cuda",
    "torch:musa.Stream.__new__",
    "torch:musa.ExternalStream.__new__",
    reason='torch.cuda.Stream(device="cuda:1")',
)
def _stream(original: Any) -> Any:
    new = getattr(original, "__func__", original)

    @functools.wraps(new)
    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return new(cls, *map(to_musa, args), **{name: to_musa(value) for name, value in kwargs.items()})

    return staticmethod(__new__)


@patch("cuda", "torch:musa.device.__init__", reason='with torch.cuda.device("cuda:1")')
def _device(original: Any) -> Any:
    @functools.wraps(original)
    def __init__(self: Any, device: Any) -> None:
        original(self, to_musa(device))

    return __init__


@patch("cuda", "torch:musa.graph.__init__", reason="torch.cuda.graph(cuda_graph=...)")
def _graph(original: Any) -> Any:
    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if "cuda_graph" in kwargs:
            kwargs["musa_graph"] = kwargs.pop("cuda_graph")
        for name in ("enable_annotations", "check_input_liveness"):
            if not kwargs.get(name, True):  # torch_musa has neither; false is what it does
                del kwargs[name]
        original(self, *args, **kwargs)

    return __init__


@patch("cuda", "torch:musa.Stream.cuda_stream", reason="torch.musa.Stream.musa_stream", create=True)
def _cuda_stream(original: Any) -> Any:
    return property(lambda self: self.musa_stream) if original is MISSING else original


@patch("cuda", "torch:musa.Event.cuda_event", reason="torch.musa.Event.musa_event", create=True)
def _cuda_event(original: Any) -> Any:
    return property(lambda self: self.musa_event) if original is MISSING else original
