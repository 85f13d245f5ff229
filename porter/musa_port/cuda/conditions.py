"""Preprocessor conditionals: which branches a MUSA build never takes.

Conditions are evaluated in three values with only one kind of knowledge: the macros that mark a MUSA build are defined.
Everything else is unknown, so a branch counts as not taken only when that is certain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from musa_port.cuda.facts import Directive

#: Macros that are defined, and not zero, in a MUSA build.
MUSA_MACRO = re.compile(
    r"__MUSA__|__MUSACC__|MUSA_VERSION|MUSART_VERSION|(?:\w+_)?(?:USE|WITH|ENABLE)_MUSA|(?:\w+_)?MUSA_(?:ENABLED|PLATFORM)"
)
_TOKEN = re.compile(r"\s*(defined\b|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+|\d[\w']*|&&|\|\||[<>=!]=|<<|>>|.)", re.S)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


@dataclass(slots=True)
class _Group:
    """One open `#if` ... `#endif`."""

    #: Whether an earlier branch is certainly taken.
    decided: bool
    #: Start of the branch that is certainly not taken, or -1.
    dead_from: int


def inactive_spans(data: bytes, directives: list[Directive]) -> list[tuple[int, int]]:
    """Spans of branches that are certainly not taken on MUSA, in order, not nested."""
    groups: list[_Group] = []
    spans: list[tuple[int, int]] = []
    for directive in directives:
        keyword = directive.keyword
        if keyword in ("if", "ifdef", "ifndef"):
            value = evaluate(keyword, _argument(data, directive))
            groups.append(_Group(value is True, directive.end if value is False else -1))
        elif keyword in ("elif", "elifdef", "elifndef", "else") and groups:
            group = groups[-1]
            _close(group, directive.start, spans)
            value = (
                True
                if keyword == "else"
                else evaluate(keyword[2:] if keyword != "elif" else "if", _argument(data, directive))
            )
            group.dead_from = directive.end if group.decided or value is False else -1
            group.decided = group.decided or value is True
        elif keyword == "endif" and groups:
            _close(groups.pop(), directive.start, spans)
    return _outermost(spans)


def _close(group: _Group, end: int, spans: list[tuple[int, int]]) -> None:
    if group.dead_from >= 0:
        spans.append((group.dead_from, end))


def _outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not merged or start >= merged[-1][1]:
            merged.append((start, end))
    return merged


def _argument(data: bytes, directive: Directive) -> str:
    text = data[directive.argument : directive.end].decode("utf-8", "replace")
    return _COMMENT.sub(" ", text.replace("\\\r\n", " ").replace("\\\n", " ")).strip()


def evaluate(keyword: str, condition: str) -> bool | None:
    """True, False or None (not known) for `#if`, `#ifdef` and `#ifndef` lines in a MUSA build."""
    if keyword in ("ifdef", "ifndef", "def", "ndef"):
        known = bool(MUSA_MACRO.fullmatch(condition))
        return (not keyword.endswith("ndef")) if known else None
    tokens = [match.group(1) for match in _TOKEN.finditer(condition)]
    parser = _Parser(tokens)
    value = parser.disjunction()
    return value if parser.position == len(tokens) else None


class _Parser:
    """`||`, `&&`, `!`, parentheses and `defined` in three values; any other expression is unknown."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.position = 0

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def disjunction(self) -> bool | None:
        value = self.conjunction()
        while self.peek() == "||":
            self.take()
            other = self.conjunction()
            value = True if value or other else (None if value is None or other is None else False)
        return value

    def conjunction(self) -> bool | None:
        value = self.term()
        while self.peek() == "&&":
            self.take()
            other = self.term()
            value = False if value is False or other is False else (None if value is None or other is None else True)
        return value

    def term(self) -> bool | None:
        """One operand of `&&`; a comparison or arithmetic makes it unknown."""
        value = self.unary()
        while self.peek() not in ("", "&&", "||", ")"):
            self.take()
            if self.peek() == "(":
                self.skip_parentheses()
            value = None
        return value

    def unary(self) -> bool | None:
        token = self.take()
        if token == "!":
            value = self.unary()
            return None if value is None else not value
        if token == "(":
            value = self.disjunction()
            self.take()
            return value
        if token == "defined":
            name = self.take()
            if name == "(":
                name = self.take()
                self.take()
            return True if MUSA_MACRO.fullmatch(name) else None
        if self.peek() == "(":
            self.skip_parentheses()
            return None
        return True if MUSA_MACRO.fullmatch(token) and self.peek() in ("", "&&", "||", ")") else None

    def skip_parentheses(self) -> None:
        depth = 0
        while self.position < len(self.tokens):
            token = self.take()
            depth += (token == "(") - (token == ")")
            if depth == 0:
                return
