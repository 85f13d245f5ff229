"""The core of musa-compat: what lets CUDA-written AI code run on Moore Threads GPUs."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__"]

try:
    __version__ = version("musa-compat")
except PackageNotFoundError:  # the source tree on PYTHONPATH, not installed
    __version__ = "0+unknown"
