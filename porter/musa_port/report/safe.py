"""Making text from foreign sources safe to show: file names and source lines may hold anything."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_KEPT_SPACES = "\u00a0\u3000"


def printable(text: str) -> str:
    """`text` on one line, where control, direction-changing and undecodable characters are written as escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in _KEPT_SPACES else _escape(char) for char in text)


def encodable(text: str, backslash: str = "\\") -> str:
    """`text` with the undecodable bytes of file names (lone surrogates) written as `\\xNN`.

    Inside JSON text a backslash is written doubled: pass it as `backslash`.
    """
    return _SURROGATE.sub(lambda match: backslash + _escape(match[0])[1:], text)


def clip(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, the end replaced by an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def clip_path(path: str, limit: int) -> str:
    """At most `limit` characters of `path`, the start replaced by an ellipsis."""
    return path if len(path) <= limit else "…" + path[1 - limit :]


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # os.fsdecode's stand-in for the byte 0x80..0xFF
        return f"\\x{code & 0xFF:02x}"
    return char.encode("unicode_escape").decode("ascii")
