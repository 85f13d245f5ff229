"""Python sources are written in the encoding that they declare; libcst counts positions in UTF-8."""

from __future__ import annotations

import io
import tokenize
from bisect import bisect_left
from itertools import accumulate

_BOM = b"\xef\xbb\xbf"


class Source:
    """The text of a file, and where the bytes of its UTF-8 form are in the file itself."""

    def __init__(self, data: bytes) -> None:
        """Raises SyntaxError or UnicodeDecodeError when the file is not written as it declares."""
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        self._offset = len(_BOM) if data.startswith(_BOM) else 0
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        self.text = data[self._offset :].decode(encoding)
        self._positions: tuple[list[int], list[int]] | None = None
        if encoding not in ("utf-8", "ascii") and not data.isascii():
            self._positions = _ends(self.text, "utf-8"), _ends(self.text, encoding)

    def offset(self, position: int) -> int:
        """The offset in the file for an offset in the UTF-8 form of the text."""
        if self._positions is None:
            return position + self._offset
        utf8, native = self._positions
        index = bisect_left(utf8, position)
        return native[min(index, len(native) - 1)]


def _ends(text: str, encoding: str) -> list[int]:
    """Offsets of the beginning, and of the end of each character."""
    return [0, *accumulate(len(char.encode(encoding)) for char in text)]
