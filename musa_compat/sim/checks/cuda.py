"""CUDA calls that reach no MUSA counterpart: they fail, or answer as if there were no accelerator.

Watched: names of `torch.cuda` that the program asks for, tensors asked for on a CUDA device, `Tensor.is_cuda` of a
device tensor, autocast and gradient scalers for CUDA. What a redirect serves, which lies in a file of this package or
of torch_musa, is no finding; a redirect that meets a name without counterpart calls `cuda_call`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from musa_compat.sim.checks import findings, places
from musa_compat.sim.checks.findings import Finding

_PACKAGE = str(Path(__file__).parents[2])


def cuda_call(name: str, counterpart: str | None = None, what: str = "reaches no MUSA counterpart") -> None:
    """Report a CUDA name in the user's present line. Does nothing while the check is off.

    name: as written, `torch.cuda.nvtx`. counterpart: what to use in its place. Raises StrictError in mode `raise`.
    """
    if findings.mode is None or "cuda" not in findings.mode.checks:
        return
    if counterpart:
        advice = f"use {counterpart}, or a redirect of CUDA names to MUSA"
    else:
        advice = "torch.musa has nothing for it: leave it out where `torch.version.musa` is set"
    findings.report(Finding("cuda", f"{name} {what}", advice, places.at(places.here()), operator=name))


def counterpart(name: str) -> str | None:
    """What `torch.musa` has for a name of `torch.cuda`; None if it has nothing."""
    table = _table()
    if name in table["counterparts"]:
        return str(table["counterparts"][name])
    return f"torch.musa.{name}" if name not in table["lacks"] and hasattr(torch.musa, name) else None


def watch(on: bool) -> None:
    """Begin or end to watch."""
    for patch in _PATCHES:
        patch(on)


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(Path(__file__).with_name("cuda_names.json").read_text(encoding="utf-8"))
    return table


# ---- torch.cuda.NAME -------------------------------------------------------------------------------------------------


def _module(on: bool) -> None:
    kind = type(torch.cuda)
    if on and not hasattr(kind, "_musa_watch"):
        torch.cuda.__class__ = type("module", (kind,), {"__getattribute__": _attribute, "_musa_watch": True})
    elif not on and "_musa_watch" in vars(kind):
        torch.cuda.__class__ = kind.__base__


def _attribute(self: ModuleType, name: str) -> Any:
    value = ModuleType.__getattribute__(self, name)
    if name.startswith("_") or name in _table()["answers"] or places.is_inner(sys._getframe(1).f_code.co_filename):
        return value
    if not _is_redirected(value):
        cuda_call(f"torch.cuda.{name}", counterpart(name))
    return value


def _is_redirected(value: Any) -> bool:
    module = str(value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", ""))
    file = getattr(getattr(value, "__code__", None), "co_filename", "")
    return module.split(".")[0] in ("torch_musa", "musa_compat") or file.startswith(_PACKAGE)


# ---- functions and constructors --------------------------------------------------------------------------------------


def _wrapped(owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[[bool], None]:
    """A patch of one attribute. It is taken back only while nobody has put something over it."""
    undo: list[tuple[Any, Any]] = []

    def patch(on: bool) -> None:
        if on and not undo:
            original = getattr(owner, name)
            ours = wraps(original)(make(original))
            setattr(owner, name, ours)
            undo.append((ours, original))
        elif undo and not on and getattr(owner, name) is undo[-1][0]:
            setattr(owner, name, undo.pop()[1])

    return patch


def _lazy_init(original: Callable[..., Any]) -> Callable[..., Any]:
    def lazy_init(*arguments: Any) -> Any:
        cuda_call("a CUDA device", "the device 'musa'", "is asked for, and there is none")
        return original(*arguments)

    return lazy_init


def _constructor(what: str, device: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def construct(self: Any, *arguments: Any, **keywords: Any) -> None:
            original(self, *arguments, **keywords)
            if getattr(self, device, None) == "cuda":
                cuda_call(f"{what} for 'cuda'", f"{what} with 'musa'", "does nothing here")

        return construct

    return make


def _is_cuda(on: bool) -> None:
    present = vars(torch.Tensor).get("is_cuda")
    if on and present is None:
        torch.Tensor.is_cuda = _IS_CUDA
    elif not on and present is _IS_CUDA:
        del torch.Tensor.is_cuda


def _read_is_cuda(self: Any) -> bool:
    answer = bool(torch._C.TensorBase.is_cuda.__get__(self))
    if not answer and self.device.type == "musa" and not places.is_inner(sys._getframe(1).f_code.co_filename):
        cuda_call("Tensor.is_cuda", "Tensor.is_musa", "is false for a tensor on musa")
    return answer


_IS_CUDA = property(_read_is_cuda)

_PATCHES: list[Callable[[bool], None]] = [
    _module,
    _is_cuda,
    _wrapped(torch.cuda, "_lazy_init", _lazy_init),
    _wrapped(torch.autocast, "__init__", _constructor("torch.autocast", "device")),
    _wrapped(torch.amp.GradScaler, "__init__", _constructor("torch.amp.GradScaler", "_device")),
]
