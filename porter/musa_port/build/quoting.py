"""Where the characters of a quoted or folded text stand in the source that it was read from."""

from __future__ import annotations

import re

from musa_port.build.fragment import Fragment

_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|\r\n|.)", re.S)
_SPACE = " \t\r\n"


def align(value: str, source: Fragment, *, escapes: bool) -> Fragment | None:
    """`value` as a fragment, each character at its place in `source`; None when the two do not fit together.

    The source may hold indentation and doubled quotes that the value does not, and line ends where it has spaces;
    `escapes` tells that backslashes mean something. An edit checks the bytes at its place, so that a character
    without a place of its own cannot spoil anything.
    """
    places: list[int] = []
    position = 0
    for char in value:
        found = _next(char, source.text, position, escapes)
        if found is None:
            return None
        places.append(source.at[found[0]])
        position = found[1]
    return Fragment(source.draft, value, places)


def _next(char: str, source: str, position: int, escapes: bool) -> tuple[int, int] | None:
    """Where `char` stands from `position` on, and where to go on."""
    while position < len(source):
        held = source[position]
        if escapes and held == "\\" and (match := _ESCAPE.match(source, position)):
            escaped = match.group()[1:]
            if escaped[0] not in "\r\n":
                return position + (escaped == char), match.end()
            position = match.end()
        elif char == held or (char in _SPACE and held in _SPACE):
            return position, position + 1
        elif held in _SPACE or (held == "'" and not escapes):
            position += 1
        else:
            return None
    return (len(source) - 1, position) if char in _SPACE and source else None
