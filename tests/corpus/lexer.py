"""A lexer of C-family sources that shares nothing with musa-port: the checks need a second opinion.

It works on text in which every byte is one character (Latin-1), so offsets are byte offsets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

# Names are ASCII here; bytes beyond it are glued to names, so that no API name is found inside a foreign word.
_WORD = r"[A-Za-z_\x80-\xff][\w\x80-\xff]*"
_TEXT = r"""
      (?P<comment> //(?:\\\r?\n|[^\n])* | /\*.*?(?:\*/|\Z) )
    | (?P<message> ^[ \t]*\#[ \t]*(?:error|warning|pragma[ \t]+message)\b(?:\\\r?\n|[^\n])* )
    | (?P<include> (?:^[ \t]*\#[ \t]*(?:include|include_next|import)|\b__has_include(?:_next)?[ \t]*\()[ \t]*
                   (?P<target><[^>\n]+>|"[^"\n]+") )
    | (?P<raw>     \b(?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\(.*?(?:\)(?P=fence)"|\Z) )
    | (?P<string>  (?:\b(?:u8|[uUL]))?"(?:\\\r\n|\\.|[^"\\\n])*" | (?:\b(?:u8|[uUL]))?'(?:\\.|[^'\\\n])+' )
    | (?P<number>  \.?\b\d(?:[eEpP][+-]|'\w|[\w.])* )
"""
_CODE = rf"""
    | (?P<word>    {_WORD} )
    | (?P<mark>    ::|->|\.\.\.|\#\#|[^\s\\] )
"""
_FLAGS = re.X | re.S | re.M | re.A
_TOKEN = re.compile(_TEXT + _CODE, _FLAGS)
_ANY_WORD = re.compile(_WORD, re.A)
#: For a look at includes alone: everything that may hold the text of one, so that it is passed over.
_INCLUDE = re.compile(_TEXT, _FLAGS)


class Token(NamedTuple):
    """A piece of code. `kind` is word, mark, number, string, raw or include, whose text is `<path>` or `"path"`."""

    kind: str
    text: str
    start: int


def tokens(text: str) -> Iterator[Token]:
    """The code in a source: no comments, no space, and no text of `#error` lines."""
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if match["include"] is not None:
            yield Token("include", match["target"], match.start("target"))
        elif kind not in ("comment", "message"):
            yield Token("raw" if match["raw"] is not None else kind, match[0], match.start())


class Source:
    """One source, and what its tokens say."""

    def __init__(self, data: bytes) -> None:
        self.text = data.decode("latin-1")

    @cached_property
    def tokens(self) -> list[Token]:
        return list(tokens(self.text))

    @property
    def includes(self) -> list[str]:
        """The targets of the includes in order, with their quotes."""
        return [match["target"] for match in _INCLUDE.finditer(self.text) if match["include"] is not None]

    @cached_property
    def words(self) -> set[str]:
        """Every word of the text, wherever it stands."""
        return set(_ANY_WORD.findall(self.text))

    def place(self, start: int) -> tuple[int, str]:
        """The number and the text of the line of an offset."""
        line = self.text.count("\n", 0, start)
        return line + 1, self.text.split("\n")[line].strip()
