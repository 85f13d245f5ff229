"""Stands for NVTX: there is no such tool for MUSA, so ranges and marks do nothing."""

from __future__ import annotations

import threading
from itertools import count
from typing import Any


class NoNvtx:
    """What `torch.cuda.nvtx` calls. It keeps the depth of nested ranges, and numbers ranges."""

    def __init__(self) -> None:
        self._thread = threading.local()
        self._ids = count(1)

    def rangePushA(self, message: str) -> int:
        """The depth before."""
        depth: int = getattr(self._thread, "depth", 0)
        self._thread.depth = depth + 1
        return depth

    def rangePop(self) -> int:
        """The depth after, or -1 if there was no range."""
        depth: int = getattr(self._thread, "depth", 0) - 1
        self._thread.depth = max(depth, 0)
        return depth

    def rangeStartA(self, message: str) -> int:
        """A number for `rangeEnd`."""
        return next(self._ids)

    def rangeEnd(self, range_id: int) -> None:
        """Nothing."""

    def markA(self, message: str) -> None:
        """Nothing."""

    def deviceRangeStart(self, message: str, stream: Any) -> int:
        """A number for `deviceRangeEnd`."""
        return next(self._ids)

    def deviceRangeEnd(self, handle: int, stream: Any) -> None:
        """Nothing."""
