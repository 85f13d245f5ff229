"""The words of shell scripts: a lexer for what sh, bash and zsh have in common.

It never fails: text that is not finished ends with the script. The spans of the top nodes cover the text without gaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Node(NamedTuple):
    """A piece of a script.

    kind  at the top: blank, newline, comment, operator, word, arithmetic, heredoc;
          in a word: text, escape, single, double, variable, name (of a variable), command, arithmetic, array;
          in a heredoc: body (with its variables and commands) or raw
    """

    kind: str
    start: int
    end: int
    children: tuple[Node, ...] = ()

    def walk(self) -> Iterator[Node]:
        """The node and everything in it, in order."""
        yield self
        for child in self.children:
            yield from child.walk()


def lex(text: str) -> list[Node]:
    """The top nodes of a script."""
    return _Lexer(text).nodes(0, len(text))[0]


#: Substitutions nested deeper than this are text.
_DEPTH = 30
_BLANK = re.compile(r"(?:[ \t\f\v]|\r(?!\n)|\\\r?\n)+")
_NEWLINE = re.compile(r"\r?\n")
_COMMENT = re.compile(r"#(?:[^\r\n]|\r(?!\n))*")
_OPERATOR = re.compile(r"\d+(?=[<>])|;;&|;;|;&|;|&&|&>>|&>|&|\|\||\|&|\||<<<|<<-|<<|<&|<>|<|>>|>&|>\||>|\(|\)")
_DELIMITER = re.compile(r"(?:\\.|'[^'\n]*'|\"[^\"\n]*\"|[^\s;&|<>()'\"\\])+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]\n]*\])?\+?=$")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z_0-9]*)|[0-9*@#?$!-])")
_BRACED = re.compile(r"\$\{[!#^=~]?(?:([A-Za-z_][A-Za-z_0-9]*)|[0-9]+|[*@#?$!-])?")
_IDENTIFIER = re.compile(r"\$?\b([A-Za-z_][A-Za-z_0-9]*)")
#: What a backslash protects between double quotes.
_ESCAPED = frozenset('$`"\\\n')
#: What a command may follow on a line.
_BEFORE_COMMAND = frozenset("&& || ; | & if then else elif while until do for ! {".split())
#: Text without a meaning of its own, by where it stands.
_TEXT = {
    "word": re.compile(r"[^\s;&|<>()'\"`$\\]+", re.ASCII),
    "brace": re.compile(r"[^'\"`$\\}]+"),
    "quoted-brace": re.compile(r"[^\"`$\\}]+"),
    "double": re.compile(r"[^\"`$\\]+"),
    "body": re.compile(r"[^`$\\]+"),
}
#: Characters that end the parts of a word, by where they stand.
_END = {"word": " \t\r\n\f\v;&|<>()", "brace": "}", "quoted-brace": "}", "double": '"', "body": ""}


class _Here(NamedTuple):
    """A here-document that is announced: its delimiter, whether it is quoted, whether tabs come before it."""

    delimiter: str
    quoted: bool
    tabs: bool


class _Lexer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._depth = 0

    def nodes(self, position: int, end: int, closer: str = "") -> tuple[list[Node], int]:
        """Top nodes up to the unbalanced `closer`, and where it stands (`end` when it is missing)."""
        text = self._text
        found: list[Node] = []
        waiting: list[_Here] = []
        open_parentheses = cases = 0
        while position < end:
            if closer and text[position] == closer and not open_parentheses and not cases:
                return found, position
            node = self._node(position, end, found)
            if node.kind == "operator":
                operator = text[node.start : node.end]
                open_parentheses += {"(": 1, ")": -1 if open_parentheses else 0}.get(operator, 0)
                if operator in ("<<", "<<-"):
                    waiting += self._announced(node.end, end, operator == "<<-")
            elif node.kind == "word" and closer:
                word = text[node.start : node.end]
                if word == "case" and _starts_command(text, found):
                    cases += 1
                elif word == "esac" and cases:
                    cases -= 1
            found.append(node)
            position = node.end
            if node.kind == "newline" and waiting:
                for here in waiting:
                    found.append(self._heredoc(position, end, here))
                    position = found[-1].end
                waiting = []
        return [node for node in found if node.end > node.start], end

    def _node(self, position: int, end: int, before: list[Node]) -> Node:
        text = self._text
        for kind, pattern in (("blank", _BLANK), ("newline", _NEWLINE), ("comment", _COMMENT)):
            if match := pattern.match(text, position, end):
                return Node(kind, position, match.end())
        if text.startswith("((", position) and _starts_command(text, before):
            stop = self._arithmetic_end(position + 1, end)
            if stop:
                return Node("arithmetic", position, stop, self._identifiers(position + 2, stop - 2))
        if text[position : position + 2] in ("<(", ">("):
            return self._word(position, end)
        if match := _OPERATOR.match(text, position, end):
            return Node("operator", position, match.end())
        return self._word(position, end)

    # ---- words ------------------------------------------------------------------------------------------------

    def _word(self, position: int, end: int) -> Node:
        parts, stop = self._parts(position, end, "word")
        return Node("word", position, stop, tuple(parts))

    def _parts(self, position: int, end: int, mode: str) -> tuple[list[Node], int]:
        """The parts of a word, of quoted text, of a default value or of a here-document, and where they end."""
        start, parts = position, []
        while position < end:
            if self._text[position] in _END[mode] and not self._continues(start, position, mode):
                break
            part = self._part(start, position, end, mode)
            parts.append(part)
            position = part.end
        return parts, position

    def _continues(self, start: int, position: int, mode: str) -> bool:
        """Whether the parenthesis at `position` belongs to the word: an array, a process, a pattern."""
        text = self._text
        if mode != "word":
            return False
        if text[position] in "<>":
            return position == start and text.startswith("(", position + 1)
        return text[position] == "(" and (
            _ASSIGNMENT.fullmatch(text, start, position) is not None
            or (position > start and text[position - 1] in "?*+@!")
        )

    def _part(self, start: int, position: int, end: int, mode: str) -> Node:
        text = self._text
        char = text[position]
        if char == "\\":
            return self._escape(position, end, mode)
        if char == "'" and mode in ("word", "brace"):
            return self._single(position, position + 1, end)
        if char == '"' and mode != "body":
            return self._double(position, position + 1, end)
        if char == "`":
            return self._backticks(position, end)
        if char == "$":
            return self._dollar(position, end, mode)
        if char in "<>" and mode == "word":
            return self._command(position, position + 2, end)
        if char == "(" and mode == "word":
            kind = "array" if text[position - 1] == "=" else "text"
            return self._group(position, end, kind)
        match = _TEXT[mode].match(text, position, end)
        return Node("text", position, match.end() if match else position + 1)

    def _escape(self, position: int, end: int, mode: str) -> Node:
        text = self._text
        if mode in ("double", "body", "quoted-brace") and text[position + 1 : position + 2] not in _ESCAPED:
            return Node("text", position, position + 1)
        size = 3 if text.startswith("\\\r\n", position) else 2
        return Node("escape", position, min(position + size, end))

    def _single(self, start: int, position: int, end: int) -> Node:
        close = self._text.find("'", position, end)
        return Node("single", start, close + 1 if close >= 0 else end)

    def _ansi(self, start: int, end: int) -> Node:
        match = re.compile(r"\$'(?:[^'\\]|\\.)*'?", re.S).match(self._text, start, end)
        return Node("single", start, match.end() if match else end)

    def _double(self, start: int, position: int, end: int) -> Node:
        parts, stop = self._parts(position, end, "double")
        return Node("double", start, min(stop + 1, end), tuple(parts))

    def _backticks(self, position: int, end: int) -> Node:
        match = re.compile(r"`(?:[^`\\]|\\.)*", re.S).match(self._text, position, end)
        stop = match.end() if match else end
        if self._depth >= _DEPTH:
            return Node("text", position, min(stop + 1, end))
        self._depth += 1
        inner, _ = self.nodes(position + 1, stop)
        self._depth -= 1
        return Node("command", position, min(stop + 1, end), tuple(inner))

    # ---- what a dollar begins -------------------------------------------------------------------------------------

    def _dollar(self, position: int, end: int, mode: str) -> Node:
        text = self._text
        following = text[position + 1 : position + 2] if position + 1 < end else ""
        if following == "'" and mode in ("word", "brace"):
            return self._ansi(position, end)
        if following == '"' and mode in ("word", "brace"):
            return self._double(position, position + 2, end)
        if following == "{" and self._depth < _DEPTH:
            return self._braced(position, end, mode)
        if following == "(" and self._depth < _DEPTH:
            stop = self._arithmetic_end(position + 2, end) if text.startswith("((", position + 1) else 0
            if stop:
                return Node("arithmetic", position, stop, self._identifiers(position + 3, stop - 2))
            return self._command(position, position + 2, end)
        match = _VARIABLE.match(text, position, end)
        if not match:
            return Node("text", position, position + 1)
        return Node("variable", position, match.end(), _named(match))

    def _braced(self, position: int, end: int, mode: str) -> Node:
        match = _BRACED.match(self._text, position, end)
        assert match is not None
        self._depth += 1
        inner = "brace" if mode in ("word", "brace") else "quoted-brace"
        parts, stop = self._parts(match.end(), end, inner)
        self._depth -= 1
        return Node("variable", position, min(stop + 1, end), (*_named(match), *parts))

    def _command(self, position: int, inside: int, end: int) -> Node:
        self._depth += 1
        inner, stop = self.nodes(inside, end, ")") if self._depth <= _DEPTH else ([], end)
        self._depth -= 1
        return Node("command", position, min(stop + 1, end), tuple(inner))

    def _group(self, position: int, end: int, kind: str) -> Node:
        node = self._command(position, position + 1, end)
        return node._replace(kind=kind, children=node.children if kind == "array" else ())

    def _arithmetic_end(self, position: int, end: int) -> int:
        """Where `((`, whose second parenthesis is before `position`, ends; 0 when it is no arithmetic."""
        depth = 0
        for match in re.compile(r"[()]").finditer(self._text, position, end):
            depth += 1 if match.group() == "(" else -1
            if depth == 0:
                return match.end() + 1 if self._text.startswith(")", match.end()) and match.end() < end else 0
        return 0

    def _identifiers(self, start: int, end: int) -> tuple[Node, ...]:
        """Variables in arithmetic, where they need no dollar."""
        return tuple(
            Node("variable", *match.span(), (Node("name", *match.span(1)),))
            for match in _IDENTIFIER.finditer(self._text, start, end)
        )

    # ---- here-documents -------------------------------------------------------------------------------------------

    def _announced(self, position: int, end: int, tabs: bool) -> list[_Here]:
        blank = _BLANK.match(self._text, position, end)
        match = _DELIMITER.match(self._text, blank.end() if blank else position, end)
        if not match:
            return []
        delimiter = re.sub(r"\\(.)|['\"]", r"\1", match.group())
        return [_Here(delimiter, delimiter != match.group(), tabs)]

    def _heredoc(self, position: int, end: int, here: _Here) -> Node:
        tabs = r"\t*" if here.tabs else ""
        last = re.compile(rf"^{tabs}{re.escape(here.delimiter)}\r?$\n?", re.M).search(self._text, position, end)
        stop, close = last.span() if last else (end, end)
        parts = [] if here.quoted else self._parts(position, stop, "body")[0]
        body = Node("raw" if here.quoted else "body", position, stop, tuple(parts))
        return Node("heredoc", position, close, (body,))


def _named(match: re.Match[str]) -> tuple[Node, ...]:
    return (Node("name", *match.span(1)),) if match.group(1) else ()


def _starts_command(text: str, before: list[Node]) -> bool:
    """Whether a command may start after these nodes, so that `((` is arithmetic."""
    for node in reversed(before):
        if node.kind == "blank":
            continue
        word = text[node.start : node.end]
        if node.kind in ("operator", "word"):
            return word in _BEFORE_COMMAND
        return node.kind != "arithmetic"
    return True
