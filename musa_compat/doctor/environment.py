"""A look at the installed distributions and the environment, which the checks then read."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from musa_compat.device import Kind
from musa_compat.registry.discovery import GROUP


def normal(name: str) -> str:
    """A distribution's name as indexes compare it: `deep-gemm` for `Deep_GEMM`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def search_path() -> list[str]:
    """Where a Python that is started in this folder looks, which a command such as this one does not."""
    return list(dict.fromkeys([os.getcwd(), *sys.path]))


@dataclass
class Environment:
    """What the checks may look at. `torch` is what torch said of itself, or empty."""

    path: list[str] = field(default_factory=search_path)
    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    cards: Mapping[Kind, int] = field(default_factory=dict)
    torch: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def distributions(self) -> dict[str, Distribution]:
        """By normal name; of two with one name, the one that comes first on the path."""
        found: dict[str, Distribution] = {}
        for one in distributions(path=self.path):
            # A folder left behind by a broken removal has no name.
            if one.metadata and "Name" in one.metadata:
                name = one.metadata["Name"]
                found.setdefault(normal(name), one)
        return found

    def version(self, name: str) -> str | None:
        """Of a distribution, or None."""
        found = self.distributions.get(normal(name))
        return found.version if found else None

    def place(self, module: str) -> str | None:
        """Where `import` would find a top-level module: its file, or its folder; None if it would not."""
        spec = PathFinder.find_spec(module, self.path)
        if spec is None:
            return None
        if spec.origin:
            return spec.origin
        return next(iter(spec.submodule_search_locations or ()), None)

    def is_namespace(self, module: str) -> bool:
        """Whether `import` would take a folder without `__init__.py` for the module."""
        spec = PathFinder.find_spec(module, self.path)
        return spec is not None and spec.origin is None

    @cached_property
    def _owners(self) -> dict[str, list[Distribution]]:
        found: dict[str, list[Distribution]] = {}
        for one in self.distributions.values():
            for top in {_module(file) for file in _files(one)}:
                found.setdefault(top, []).append(one)
        return found

    def owners(self, module: str) -> list[Distribution]:
        """The distributions that installed files of a top-level module."""
        return self._owners.get(module, [])

    def installed_by(self, place: str) -> Distribution | None:
        """The distribution that installed a file."""
        wanted = os.path.realpath(place)
        module = Path(place).parent.name if Path(place).name.startswith("__init__") else Path(place).stem
        for one in self.owners(module):
            if any(
                os.path.realpath(str(one.locate_file(file))) == wanted for file in _files(one) if _belongs(file, module)
            ):
                return one
        return None


def is_ours(distribution: Distribution) -> bool:
    """Whether a distribution is a part of this project: it has operators to register, or needs the core."""
    if any(entry.group == GROUP for entry in distribution.entry_points):
        return True
    return any(
        normal(re.split(r"[^\w.-]", need, maxsplit=1)[0]) == "musa-compat" for need in distribution.requires or []
    )


def needs(distribution: Distribution, other: str) -> bool:
    """Whether a distribution requires another one."""
    return any(
        normal(re.split(r"[^\w.-]", need, maxsplit=1)[0]) == normal(other) for need in distribution.requires or []
    )


def overwritten(distribution: Distribution, module: str) -> str | None:
    """The first Python file of a module that differs from what the distribution installed, or None."""
    for file in _files(distribution):
        if not _belongs(file, module) or file.suffix != ".py" or file.hash is None:
            continue
        try:
            content = Path(str(file.locate())).read_bytes()
        except OSError:
            continue
        digest = hashlib.new(file.hash.mode, content).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value:
            return str(file)
    return None


def _files(distribution: Distribution) -> Iterable[Any]:
    return distribution.files or ()


def _belongs(file: Any, module: str) -> bool:
    return _module(file) == module


def _module(file: Any) -> str:
    """The top-level module that an installed file belongs to."""
    top: str = file.parts[0]
    return top.partition(".")[0] if len(file.parts) == 1 else top
