"""A name that a program sets on torch.cuda is set on torch.musa too, and the reverse."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch

from musa_compat.redirect import counterparts
from musa_compat.redirect.registry import MISSING, switch

_BACK = {known: name for name, known in counterparts.RENAMED.items() if name.startswith("CUDA")}
#: Values that we put on torch.cuda <-> what torch.musa has in their place.
_pairs: dict[int, tuple[Any, Any]] = {}
_classes: dict[str, type[ModuleType]] = {}


class _Cuda(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        _reflect(self, torch.musa, name, counterparts.RENAMED.get(name, name), value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        _forget(self, torch.musa, name)
        super().__delattr__(name)


class _Musa(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        _reflect(self, torch.cuda, name, _BACK.get(name, name), value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        _forget(self, torch.cuda, name)
        super().__delattr__(name)


def _reflect(here: Any, there: Any, name: str, name_there: str, value: Any) -> None:
    shared = name in here.__dict__ and name_there in there.__dict__
    new = name not in here.__dict__ and name_there not in there.__dict__
    apart = name.startswith("__") or name in counterparts.APART or isinstance(value, ModuleType)
    if (shared or new) and not apart:
        there.__dict__[name_there] = _pairs[id(value)][1] if id(value) in _pairs else value


def _forget(here: Any, there: Any, name: str) -> None:
    if there.__dict__.get(name, MISSING) is here.__dict__.get(name):
        there.__dict__.pop(name, None)


def _on() -> None:
    for name in counterparts.names():
        ours, theirs = getattr(torch.cuda, name), counterparts.counterpart(name)
        if ours is not theirs:
            _pairs[id(ours)], _pairs[id(theirs)] = (ours, theirs), (theirs, ours)
    for name, module, kind in (("cuda", torch.cuda, _Cuda), ("musa", torch.musa, _Musa)):
        if type(module) is ModuleType:  # else somebody else's class is there
            _classes[name] = type(module)
            module.__class__ = kind


def _off() -> None:
    for name in list(_classes):
        module = getattr(torch, name)
        if type(module) in (_Cuda, _Musa):
            module.__class__ = _classes.pop(name)
    _pairs.clear()


switch("cuda", "torch.cuda and torch.musa", "a name that is set on one is set on the other", _on, _off)
