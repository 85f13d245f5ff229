"""`torch.cuda.X` is `torch.musa.X`, in torch.cuda and in the submodules that define X."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import torch

from musa_compat.redirect import counterparts
from musa_compat.redirect.registry import Patch, source


@source
def _names() -> Iterator[Patch]:
    for name in counterparts.names():
        make = partial(_make, name)
        known = counterparts.RENAMED.get(name, name)
        for module in _modules(name):
            yield Patch("cuda", f"{module}:{name}", f"torch.musa.{known}", make, create=True)


def _make(name: str, original: Any) -> Any:
    return counterparts.translating(counterparts.counterpart(name), original)


def _modules(name: str) -> Iterator[str]:
    yield "torch.cuda"
    for submodule in counterparts.SUBMODULES:
        module = getattr(torch.cuda, submodule, None)
        if isinstance(module, ModuleType) and name in vars(module):
            yield f"torch.cuda.{submodule}"
