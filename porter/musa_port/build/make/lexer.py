"""The lines of makefiles and the words in them, with their places in bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Line(NamedTuple):
    """A logical line, without its comment.

    kind          "assignment", "rule", "recipe", "condition", "directive" or "text"
    start, end    the line
    name          the span of the variable that an assignment gives a value to, or of the targets of a rule
    value         the span of the value, of the prerequisites, or of the whole text of other lines
    """

    kind: str
    start: int
    end: int
    name: tuple[int, int]
    value: tuple[int, int]


class Word(NamedTuple):
    """A word. `level` numbers the list that it is in: the line itself, or one argument of a function."""

    start: int
    end: int
    text: str
    level: int
    function: str


_LOGICAL = re.compile(r"(?:[^\\\n]|\\\r?\n|\\(?:.|\Z))*(?:\n|\Z)", re.DOTALL)
_ASSIGNMENT = re.compile(
    r"(?P<lead>[ ]*(?:(?:export|override|private|define)[ \t]+)*)(?P<name>[^\s:#=+?!]+)[ \t]*(?P<op>[:?+!]?=|:::?=)"
)
_DEFINE = re.compile(r"\s*(?:override[ \t]+)?define[ \t]+(?P<name>[^\s=:+?!]+)")
_CONDITION = re.compile(r"\s*(?:else[ \t]+)?(?:ifeq|ifneq|ifdef|ifndef)\b")
_DIRECTIVE = re.compile(r"\s*(?:-?include|sinclude|export|unexport|undefine|vpath|else|endif|endef)\b")
_SPACE = re.compile(r"(?:\s|\\\r?\n)+")
#: An expansion; one of several dollars is left for the shell, or for make when it reads the text again.
_EXPANSION = re.compile(r"\$+[({]")
_FUNCTION = re.compile(r"(?<!\$)\$[({]([a-z][a-z-]*)\s+|\$+[({](shell|eval|call|info|warning|error|foreach)\s+")
#: Functions whose arguments commas separate, and how many they have; the last one may hold commas.
_ARGUMENTS = {
    "subst": 3, "patsubst": 3, "filter": 2, "filter-out": 2, "findstring": 2, "word": 2, "wordlist": 3,
    "foreach": 3, "if": 3, "addprefix": 2, "addsuffix": 2, "join": 2, "or": 99, "and": 99, "call": 99,
}  # fmt: skip


def lines(text: str) -> Iterator[Line]:
    """The logical lines of a makefile that hold anything."""
    in_rule = False
    for match in _LOGICAL.finditer(text):
        if not match.group().strip():
            continue
        if match.group().startswith("\t"):
            kind = "recipe" if in_rule or not _ASSIGNMENT.match(text, match.start() + 1) else ""
            yield _recipe(text, match) if kind else _line(text, match.start() + 1, match.end())
            continue
        line = _line(text, match.start(), match.end())
        if line.kind in ("rule", "assignment"):
            in_rule = line.kind == "rule"
        if line.value[1] > line.value[0] or line.name[1] > line.name[0]:
            yield line


def _recipe(text: str, match: re.Match[str]) -> Line:
    end = len(match.group().rstrip("\r\n")) + match.start()
    return Line("recipe", match.start(), end, (match.start(), match.start()), (match.start() + 1, end))


def _line(text: str, start: int, end: int) -> Line:
    end = _without_comment(text, start, end)
    nothing = start, start
    if match := _DEFINE.match(text, start, end):
        return Line("assignment", start, end, match.span("name"), (end, end))
    if _CONDITION.match(text, start, end):
        return Line("condition", start, end, nothing, (start, end))
    if match := _ASSIGNMENT.match(text, start, end):
        return Line("assignment", start, end, match.span("name"), (match.end(), end))
    if _DIRECTIVE.match(text, start, end):
        return Line("directive", start, end, nothing, (start, end))
    colon = _outside(text, start, end, ":")
    if colon < 0:
        return Line("text", start, end, nothing, (start, end))
    if match := _ASSIGNMENT.match(text, _after_space(text, colon + 1, end), end):
        return Line("assignment", start, end, match.span("name"), (match.end(), end))
    return Line("rule", start, end, (start, colon), (colon + 1, end))


def _after_space(text: str, position: int, end: int) -> int:
    match = _SPACE.match(text, position, end)
    return match.end() if match else position


def _without_comment(text: str, start: int, end: int) -> int:
    hash_sign = _outside(text, start, end, "#")
    end = hash_sign if hash_sign >= 0 else end
    return start + len(text[start:end].rstrip())


def _outside(text: str, start: int, end: int, wanted: str) -> int:
    """Where a character stands that no backslash escapes and no `$(...)` holds; -1 when nowhere."""
    position = start
    while position < end:
        if text[position] == wanted:
            return position
        position = _step(text, position, end)
    return -1


def _step(text: str, position: int, end: int) -> int:
    """The place after one character, escaped character or `$(...)`."""
    if text[position] == "\\":
        return position + 2
    if match := _EXPANSION.match(text, position, end):
        return closing(text, match.end() - 1, end) + 1
    if text[position] == "$":
        return position + 2
    return position + 1


def closing(text: str, position: int, end: int) -> int:
    """The place of the parenthesis that closes the one at `position`, or `end - 1` when nothing does."""
    opener, closer = text[position], ")" if text[position] == "(" else "}"
    depth = 0
    for place in range(position, end):
        depth += (text[place] == opener) - (text[place] == closer)
        if depth == 0:
            return place
    return end - 1


#: Functions whose arguments may be names of variables.
_TAKES_NAMES = re.compile(r"\$([({])(?:call|eval|foreach)\s")


def named_arguments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The calls, in a stretch, of functions that may be given the name of a variable, with what closes them."""
    for match in _TAKES_NAMES.finditer(text, start, end):
        yield match.end() - 1, closing(text, match.start(1), end) + 1


class _Words:
    def __init__(self, text: str) -> None:
        self._text = text
        self._levels = 0
        self.found: list[Word] = []

    def collect(self, start: int, end: int, function: str = "", depth: int = 0) -> None:
        """The words of a stretch, then those of the functions in it."""
        level = self._levels
        self._levels += 1
        inside: list[tuple[int, int]] = []
        position = start
        while position < end:
            position = _after_space(self._text, position, end)
            stop = self._word(position, end, inside)
            if stop > position:
                self.found.append(Word(position, stop, self._text[position:stop], level, function))
            position = max(stop, position + 1)
        for place, stop in inside if depth < 50 else ():
            self._function(place, stop, depth)

    def _word(self, position: int, end: int, inside: list[tuple[int, int]]) -> int:
        text, quote = self._text, ""
        while position < end:
            char = text[position]
            if not quote and _SPACE.match(text, position, end):
                break
            if char in "\"'" and quote in ("", char):
                quote = "" if quote else char
            stop = min(_step(text, position, end), end)
            if char == "$" and stop > position + 2:
                inside.append((position, stop))
            position = stop
        return position

    def _function(self, start: int, end: int, depth: int) -> None:
        match = _FUNCTION.match(self._text, start, end)
        if match is None:
            opened = _EXPANSION.match(self._text, start, end)
            inside = opened.end() if opened else end
            if "$" in self._text[inside:end] or (opened and re.match(r"\$\$+\(", opened.group())):
                self.collect(inside, end - 1, "", depth + 1)
            return
        name, position = match.group(match.lastindex or 1), match.end()
        for _ in range(_ARGUMENTS.get(name, 1) - 1):
            comma = _outside(self._text, position, end - 1, ",")
            if comma < 0:
                break
            self.collect(position, comma, name, depth + 1)
            position = comma + 1
        self.collect(position, end - 1, name, depth + 1)


def words(text: str, start: int, end: int) -> list[Word]:
    """The words of a stretch of a makefile, and the words inside the functions that it calls."""
    collector = _Words(text)
    collector.collect(start, end)
    return collector.found
