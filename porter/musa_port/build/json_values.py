"""The strings of a JSON file, each with the keys that lead to it and its place. Comments are passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|[{}\[\],:]', re.S)


class Value(NamedTuple):
    """A string.

    path        the keys from the root of the file; an element of an array has the path of the array
    key         the place of the last key without its quotes; None when there is none
    start, end  the text without its quotes
    """

    path: tuple[str, ...]
    key: tuple[int, int] | None
    start: int
    end: int


def values(text: str) -> Iterator[Value]:
    """Every string that is a value, in order. Text that is no JSON gives what can be understood of it."""
    path: list[str] = []
    #: For each open brace or bracket, how long the path was outside of it, and what opened it.
    opened: list[tuple[int, str]] = []
    key: tuple[int, int] | None = None
    tokens = [match for match in _TOKEN.finditer(text) if not match.group().startswith("/")]
    for token, after in zip_longest(tokens, tokens[1:]):
        kind = token.group()[0]
        if kind == '"' and after is not None and after.group() == ":":
            key = token.start() + 1, token.end() - 1
            del path[opened[-1][0] if opened else 0 :]
            path.append(text[slice(*key)])
        elif kind == '"':
            yield Value(tuple(path), key, token.start() + 1, token.end() - 1)
        elif kind in "{[":
            opened.append((len(path), kind))
        elif kind in "}]" and opened:
            del path[opened.pop()[0] :]
            key = None
