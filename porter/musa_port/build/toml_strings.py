"""The strings of a TOML file, each with the keys that lead to it and its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\r?\n)|(?P<comment>\#[^\n]*)"""
    r'''|(?P<string>"""(?:\\.|(?!""").)*"{3,5}|\'\'\'(?:(?!\'\'\').)*\'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')'''
    r"""|(?P<bare>[^\s\#"'\[\]{}=,.]+)|(?P<mark>.)""",
    re.S,
)


class String(NamedTuple):
    """A string that is a value.

    path          keys from the root of the file; an element of an array has the path of the array
    start, end    the text without its quotes
    outer         the text with its quotes
    in_array      whether it is an element of an array
    key           the place of the last key
    """

    path: tuple[str, ...]
    start: int
    end: int
    outer: tuple[int, int]
    in_array: bool
    key: tuple[int, int]


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def strings(text: str) -> Iterator[String]:
    """Every string that is a value, in order. Text that is no TOML gives what can be understood of it."""
    yield from _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens = [_Token(match.lastgroup or "", match.group(), *match.span()) for match in _TOKEN.finditer(text)]
        self._position = 0

    def read(self) -> Iterator[String]:
        table: tuple[str, ...] = ()
        while (token := self._peek()) is not None:
            before = self._position
            if token.text == "[":
                table = self._header()
            elif token.kind in ("bare", "string"):
                yield from self._pair(table, 0)
            self._position = max(self._position, before + 1)

    def _peek(self) -> _Token | None:
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def _skip(self, *, lines: bool) -> None:
        while (token := self._peek()) is not None and (
            (token.kind == "blank" and (lines or "\n" not in token.text)) or (lines and token.kind == "comment")
        ):
            self._position += 1

    def _header(self) -> tuple[str, ...]:
        """`[a.b]` or `[[a.b]]`, up to the end of the line."""
        keys: list[str] = []
        while (token := self._peek()) is not None and "\n" not in token.text:
            if token.kind in ("bare", "string"):
                keys.append(_key(token))
            self._position += 1
        return tuple(keys)

    def _pair(self, table: tuple[str, ...], depth: int) -> Iterator[String]:
        """`key.key = value`."""
        keys: list[str] = []
        place = (0, 0)
        while (token := self._peek()) is not None and token.text != "=":
            if (token.kind == "blank" and "\n" in token.text) or token.text in ("}", "]", ","):
                return
            if token.kind in ("bare", "string"):
                keys.append(_key(token))
                place = token.start, token.end
            self._position += 1
        self._position += 1
        yield from self._value((*table, *keys), place, False, depth)

    def _value(self, path: tuple[str, ...], key: tuple[int, int], in_array: bool, depth: int) -> Iterator[String]:
        self._skip(lines=in_array)
        token = self._peek()
        if token is None or depth > _DEPTH:
            return
        if token.kind == "string":
            self._position += 1
            size = 3 if token.text.startswith(('"""', "'''")) else 1
            yield String(path, token.start + size, token.end - size, (token.start, token.end), in_array, key)
        elif token.text == "[":
            self._position += 1
            yield from self._array(path, key, depth + 1)
        elif token.text == "{":
            self._position += 1
            yield from self._inline_table(path, depth + 1)
        else:
            while (token := self._peek()) is not None and token.kind in ("bare", "mark") and token.text not in ",]}":
                self._position += 1

    def _array(self, path: tuple[str, ...], key: tuple[int, int], depth: int) -> Iterator[String]:
        while True:
            self._skip(lines=True)
            token = self._peek()
            if token is None:
                return
            if token.text == "]":
                self._position += 1
                return
            before = self._position
            if token.text != ",":
                yield from self._value(path, key, True, depth)
            self._position = max(self._position, before + 1)

    def _inline_table(self, path: tuple[str, ...], depth: int) -> Iterator[String]:
        while True:
            self._skip(lines=True)
            token = self._peek()
            if token is None:
                return
            if token.text == "}":
                self._position += 1
                return
            before = self._position
            if token.text != ",":
                yield from self._pair(path, depth)
            self._position = max(self._position, before + 1)


#: Values nested deeper than this are passed over.
_DEPTH = 60


def _key(token: _Token) -> str:
    return token.text.strip("\"'") if token.kind == "string" else token.text
