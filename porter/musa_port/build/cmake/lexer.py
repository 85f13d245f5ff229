"""The tokens of CMake's language, with their places in bytes. Joined, they are the file again."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from typing import NamedTuple


class Kind(enum.Enum):
    """What a token is. ERROR is text that CMake would refuse, such as a quote that nothing closes."""

    SPACE = "space"
    NEWLINE = "newline"
    COMMENT = "comment"
    OPEN = "("
    CLOSE = ")"
    BRACKET = "bracket argument"
    QUOTED = "quoted argument"
    UNQUOTED = "unquoted argument"
    ERROR = "error"


class Token(NamedTuple):
    """One token; the span includes quotes and brackets."""

    kind: Kind
    start: int
    end: int


_SIMPLE = re.compile(
    rb"""
    (?P<SPACE>[ \t\r\f\v\0]+|\xef\xbb\xbf)
  | (?P<NEWLINE>\n)
  | (?P<OPEN>\()
  | (?P<CLOSE>\))
  | (?P<QUOTED>"(?:\\.|[^"\\])*")
  | (?P<UNQUOTED>(?:\\.|\$\([\w./]*\)|[^\s\0()\#"\\])(?:\\.|\$\([\w./]*\)|[^\s\0()\#"\\]|"(?:\\.|[^"\\])*")*)
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACKET = re.compile(rb"\[(=*)\[")


def tokens(data: bytes) -> Iterator[Token]:
    """Every token of a file, in order and without gaps."""
    brackets = _Brackets(data)
    position = 0
    while position < len(data):
        token = _bracket(data, position, brackets) or _simple(data, position)
        yield token
        position = token.end


def _bracket(data: bytes, position: int, brackets: _Brackets) -> Token | None:
    """A comment, or a bracket argument, if one starts here."""
    if data[position] == ord("#"):
        end = brackets.end(position + 1)
        if end < 0:
            line = data.find(b"\n", position)
            end = line if line >= 0 else len(data)
            # The carriage return belongs to the end of the line.
            end -= data[end - 1] == ord("\r") and end - 1 > position
        return Token(Kind.COMMENT, position, end)
    end = brackets.end(position)
    return Token(Kind.BRACKET, position, end) if end >= 0 else None


def _simple(data: bytes, position: int) -> Token:
    match = _SIMPLE.match(data, position)
    if match is None or match.lastgroup is None:
        return Token(Kind.ERROR, position, position + 1)
    return Token(Kind[match.lastgroup], position, match.end())


class _Brackets:
    """Finds where `[==[` ends; remembers which lengths are closed nowhere further on."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._missing: set[bytes] = set()

    def end(self, position: int) -> int:
        """The offset after the bracket that opens at `position`; -1 when none does, or nothing closes it."""
        match = _BRACKET.match(self._data, position)
        if match is None or match.group(1) in self._missing:
            return -1
        closer = b"]" + match.group(1) + b"]"
        found = self._data.find(closer, match.end())
        if found < 0:
            self._missing.add(match.group(1))
            return -1
        return found + len(closer)
