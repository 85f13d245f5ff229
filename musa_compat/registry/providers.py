"""A provider: a function that computes an operator, and when it can."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from musa_compat import packages
from musa_compat.device import KINDS, Kind, Target

Supports = Callable[[Any], "str | None"]
"""Takes the signature of a call; returns None for yes, or the reason why not."""


@dataclass(frozen=True)
class Family:
    """What the providers of one name have in common."""

    on: tuple[Kind, ...]
    priority: int
    """Higher is asked first."""
    archs: tuple[str, ...] = ()
    """MUSA architectures that it is for; empty means all."""


#: On MUSA: mate, tilelang, torch; on CUDA: tilelang, torch; on the simulated device and on CPU: torch.
FAMILIES: dict[str, Family] = {
    "mate": Family(("musa",), 300, ("mp_31",)),
    "tilelang": Family(("musa", "cuda"), 200),
    "torch": Family(KINDS, 100),
}


@dataclass
class Provider:
    """One way to compute an operator."""

    name: str
    implementation: Callable[..., Any] | str
    """The function, or `module:function`, which is imported when it is selected for the first time."""
    supports: Supports | None
    needs: tuple[str, ...]
    """The conditions that `supports` tests, in words, for who asks without a signature."""
    family: Family
    _loaded: Callable[..., Any] | None = field(default=None, repr=False)
    _load_error: str | None = field(default=None, repr=False)

    def mismatch(self, target: Target) -> str | None:
        """Why it is not for a target; None if it is."""
        if target.kind not in self.family.on:
            return f"runs on {' and '.join(self.family.on)}; this is {target.kind}"
        archs = self.family.archs
        if archs and target.kind in {"musa", "sim"} and target.arch not in archs:
            return f"runs on {' and '.join(archs)}; this is {target.arch}"
        return None

    def absence(self, target: Target) -> str | None:
        """Why it is not there on this machine; None if it is, as far as can be told before loading it."""
        package = packages.provider_package(self.name, target.kind)
        return (packages.missing(package) if package else None) or self._load_error

    def objection(self, target: Target, signature: Any) -> str | None:
        """Why it cannot run a call on a target, or None, and then it is loaded."""
        reason = self.mismatch(target) or self.absence(target) or self.refusal(signature)
        if reason is None and self._loaded is None:
            self._try_to_load()
        return reason or self._load_error

    def refusal(self, signature: Any) -> str | None:
        """Why it cannot serve a call, wherever it runs; None if it can."""
        return self.supports(signature) if self.supports else None

    def load(self) -> Callable[..., Any]:
        """The function. Raises RuntimeError if it cannot be imported."""
        if self._loaded is None:
            self._try_to_load()
        if self._loaded is None:
            raise RuntimeError(f"provider {self.name} {self._load_error}")
        return self._loaded

    def _try_to_load(self) -> None:
        try:
            self._loaded = _resolve(self.implementation)
        # What a package raises that does not fit the machine: TileLang without a card, a library that is missing.
        except (ImportError, OSError, RuntimeError, AttributeError) as error:
            self._load_error = f"cannot be loaded: {type(error).__name__}: {error}"

    def forget(self) -> None:
        """Try to load it again next time."""
        self._load_error = None


def _resolve(implementation: Callable[..., Any] | str) -> Callable[..., Any]:
    if not isinstance(implementation, str):
        return implementation
    module, _, name = implementation.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def family_of(name: str, on: tuple[Kind, ...] | None, priority: int | None, archs: tuple[str, ...] | None) -> Family:
    """The family of a provider, with what its registration says otherwise.

    Raises TypeError if the name is not in `FAMILIES` and the registration does not say enough, ValueError for an
    unknown kind of accelerator.
    """
    known = FAMILIES.get(name)
    if known is None and (on is None or priority is None):
        raise TypeError(
            f"provider {name!r} is none of {', '.join(FAMILIES)}; say what it runs on and when it is asked: "
            "on=('musa',), priority=250 (mate has 300, tilelang 200, torch 100)"
        )
    for which in on or ():
        if which not in KINDS:
            raise ValueError(f"provider {name!r}: on={on!r} holds {which!r}; expected a tuple of {', '.join(KINDS)}")
    base = known or Family((), 0)
    return Family(
        base.on if on is None else tuple(on),
        base.priority if priority is None else priority,
        base.archs if archs is None else tuple(archs),
    )
