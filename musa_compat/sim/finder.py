"""Serves the package `musa_compat/sim/torch_musa` under the name `torch_musa`, with a real `__spec__`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).with_name("torch_musa")


class TorchMusaFinder:
    """A finder of the import system: it knows one name."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of `torch_musa`; submodules are then found in its folder."""
        if name != "torch_musa":
            return None
        return importlib.util.spec_from_file_location(
            name, PACKAGE / "__init__.py", submodule_search_locations=[str(PACKAGE)]
        )


def install() -> None:
    """Add the finder, last: an installed torch_musa would be found first."""
    if TorchMusaFinder not in sys.meta_path:
        sys.meta_path.append(TorchMusaFinder)
