"""`torch.cuda.cudart()`: the few functions of the MUSA runtime that torch_musa has, under CUDA's names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

_SUCCESS = 0


class CudaRuntime:
    """`cudaMemGetInfo` is `musaMemGetInfo`, and so on. Raises AttributeError for what torch_musa lacks."""

    def __init__(self) -> None:
        self._musart = torch.musa.musart()
        self.cudaError = _Errors()

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cuda"):
            raise AttributeError(f"torch.cuda.cudart() has no attribute {name!r}")
        known = "musa" + name.removeprefix("cuda")
        if not hasattr(self._musart, known):
            raise AttributeError(f"torch.cuda.cudart().{name}: torch.musa.musart() has no {known}")
        return getattr(self._musart, known)

    def cudaGetErrorString(self, error: int) -> str:
        """The text of an error."""
        return str(self._musart.musaGetErrorString(int(error)))

    def cudaProfilerStart(self) -> int:
        """Does nothing: torch_musa has no such call. 0."""
        return _SUCCESS

    def cudaProfilerStop(self) -> int:
        """Does nothing: torch_musa has no such call. 0."""
        return _SUCCESS

    def cudaDeviceSynchronize(self) -> int:
        """`torch.musa.synchronize()`. 0."""
        torch.musa.synchronize()
        return _SUCCESS


class _Errors(SimpleNamespace):
    success = _SUCCESS

    def __call__(self, code: int) -> int:
        return int(code)
