"""The core of musa-compat: what lets CUDA-written AI code run on Moore Threads GPUs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Modules that are there as attributes once they are asked for, so that importing the package costs next to nothing.
_MODULES = ("contracts", "device", "doctor", "redirect", "registry", "sim")

#: Names of the redirect that are there too.
_REDIRECT = ("activate", "activated", "deactivate", "status")

__all__ = ["__version__", *_MODULES, *_REDIRECT]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _REDIRECT:
        return getattr(import_module(f"{__name__}.redirect"), name)
    if name == "__version__":
        globals()[name] = found = _version()
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("musa-compat")
    except PackageNotFoundError:  # the source tree on PYTHONPATH, not installed
        return "0+unknown"
