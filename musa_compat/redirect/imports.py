"""Calls back once a module has been imported, for patches in modules that are slow to import or optional."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_waiting: dict[str, Callable[[], None]] = {}


def when_imported(module: str, then: Callable[[], None]) -> None:
    """Call `then` after the import of a module that is not there yet. One callback a module."""
    _waiting[module] = then
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


def forget() -> None:
    """Wait for nothing any more."""
    _waiting.clear()
    if _Finder in sys.meta_path:
        sys.meta_path.remove(_Finder)


class _Finder:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec that the other finders give, with a call at the end of its execution."""
        then = _waiting.pop(name, None)
        if then is None:
            return None
        spec = importlib.util.find_spec(name)
        loader: Any = spec and spec.loader
        if loader is None:
            return spec
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            then()

        loader.exec_module = exec_module
        return spec
