"""Line and column of byte offsets."""

from __future__ import annotations

import re
from bisect import bisect_right


class Lines:
    """Line and column of byte offsets, and the text of lines."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]

    @property
    def count(self) -> int:
        return len(self._starts)

    def start(self, line: int) -> int:
        """Offset of the first byte of a line."""
        return self._starts[line - 1]

    def number(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column), both from 1; the column counts code points."""
        line = self.number(offset)
        prefix = self._data[self._starts[line - 1] : offset]
        return line, (len(prefix) if prefix.isascii() else len(prefix.decode("utf-8", "replace"))) + 1

    def text(self, line: int, limit: int = 240) -> str:
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self._data)
        return self._data[start : min(end, start + limit)].decode("utf-8", "replace").rstrip()
