"""What the redirect changes: patches of one name each, and switches, in groups.

A file in `groups/` registers some. A patch replaces `module:attribute` by what its function makes of the original.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

#: In place of an original that is not there.
MISSING: Any = type("MISSING", (), {"__repr__": lambda self: "MISSING", "__bool__": lambda self: False})()
Maker = Callable[[Any], Any]


@dataclass(frozen=True)
class Keep:
    """Returned by the maker of a patch that leaves its target alone."""

    why: str


@dataclass(frozen=True)
class Patch:
    """One name. `make` gets the original, or MISSING, and returns the replacement, or a Keep.

    target: `torch.amp.autocast_mode:autocast.__init__`. reason: what it is for. since, until: first version of torch
    it is for, and the first it is no longer for. create: the target may be missing.
    """

    group: str
    target: str
    reason: str
    make: Maker
    since: str = ""
    until: str = ""
    create: bool = False

    @property
    def module(self) -> str:
        """The module of the target."""
        return self.target.partition(":")[0]

    @property
    def path(self) -> list[str]:
        """The attributes below the module."""
        return self.target.partition(":")[2].split(".")

    @property
    def versions(self) -> str:
        """The versions of torch as text."""
        parts = [f">={self.since}" if self.since else "", f"<{self.until}" if self.until else ""]
        return ",".join(filter(None, parts)) or "any"

    def unfit(self, version: str) -> str:
        """Why a version of torch is not meant; empty if it is."""
        number = _number(version)
        late_enough = not self.since or number >= _number(self.since)
        early_enough = not self.until or number < _number(self.until)
        return "" if late_enough and early_enough else f"for torch {self.versions}; this is {version}"


@dataclass(frozen=True)
class Switch:
    """Something that is put on and off and is no name in a module."""

    group: str
    target: str
    reason: str
    on: Callable[[], None]
    off: Callable[[], None]
    versions: str = "any"


_patches: list[Patch] = []
_switches: list[Switch] = []
_sources: list[Callable[[], Iterable[Patch]]] = []


def patch(
    group: str, *targets: str, reason: str, since: str = "", until: str = "", create: bool = False
) -> Callable[[Maker], Maker]:
    """Register the decorated function as the maker of one patch or of several alike."""

    def register(make: Maker) -> Maker:
        for target in targets:
            _patches.append(Patch(group, target, reason, make, since, until, create))
        return make

    return register


def switch(group: str, target: str, reason: str, on: Callable[[], None], off: Callable[[], None]) -> None:
    """Register a switch."""
    _switches.append(Switch(group, target, reason, on, off))


def source(function: Callable[[], Iterable[Patch]]) -> Callable[[], Iterable[Patch]]:
    """Register a function that lists patches once torch.musa is there."""
    _sources.append(function)
    return function


@cache
def registered() -> tuple[Patch | Switch, ...]:
    """All patches, then all switches, in the order in which they are applied. Needs torch.musa."""
    package = importlib.import_module("musa_compat.redirect.groups")
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")
    return (*_patches, *(found for function in _sources for found in function()), *_switches)


def always(replacement: Any) -> Maker:
    """A maker that does not look at the original."""
    return lambda original: replacement


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split(".")[:2] if part.isdigit())
