"""The commands of a shell script, made of the words that the lexer found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from musa_port.build.fragment import Fragment
from musa_port.build.shell_syntax import Node

ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)(?:\[[^\]]*\])?\+?=")
#: Words after which a command begins, and words after which none does.
_OPENING = frozenset("if then else elif do while until ! { time coproc".split())
_CLOSING = frozenset("fi done }".split())
_REDIRECTION = re.compile(r"\d+|[<>&]+-?\|?")


@dataclass(slots=True)
class Command:
    """One command.

    keyword      "" for a simple command, else what the words belong to: for, case, pattern, function, [[, array
    assignments  words such as A=b before the command
    redirects    (operator, file name)
    heredocs     the here-documents that it reads
    """

    keyword: str = ""
    assignments: list[Node] = field(default_factory=list)
    words: list[Node] = field(default_factory=list)
    redirects: list[tuple[str, Node]] = field(default_factory=list)
    heredocs: list[Node] = field(default_factory=list)

    def is_empty(self) -> bool:
        return not (self.keyword or self.assignments or self.words or self.redirects)


def commands(text: str, nodes: Iterable[Node]) -> Iterator[Command]:
    """Every command of a script, those in substitutions too."""
    nodes = list(nodes)
    yield from _Grouping(text).group(nodes)
    for node in nodes:
        for inner in node.walk():
            if inner.kind == "command":
                yield from _Grouping(text).group(inner.children)
            elif inner.kind == "array":
                yield Command("array", words=[child for child in inner.children if child.kind == "word"])


class _Grouping:
    """Groups the nodes of one level."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[Command] = []
        self._current = Command()
        #: For each open `case`, whether patterns come next.
        self._patterns: list[bool] = []
        self._redirection = ""
        #: Commands whose here-documents come after the end of the line.
        self._waiting: list[Command] = []

    def group(self, nodes: Iterable[Node]) -> list[Command]:
        for node in nodes:
            text = self._text[node.start : node.end]
            if node.kind == "word":
                self._word(node, text)
            elif node.kind == "operator":
                self._operator(text)
            elif node.kind == "heredoc" and self._waiting:
                self._waiting.pop(0).heredocs.append(node)
            elif node.kind in ("newline", "arithmetic") and self._current.keyword != "[[":
                self._finish()
        self._finish()
        return self._found

    def _finish(self) -> None:
        if self._patterns and self._patterns[-1] and self._current.words:
            self._current.keyword = "pattern"
        if not self._current.is_empty():
            self._found.append(self._current)
        self._current, self._redirection = Command(), ""

    def _operator(self, operator: str) -> None:
        current = self._current
        if _REDIRECTION.fullmatch(operator) and operator not in ("&", "&&"):
            self._redirection = operator if not operator.isdigit() else self._redirection
            if operator in ("<<", "<<-"):
                self._waiting.append(current)
        elif current.keyword == "[[" or (operator == "|" and self._in_patterns()):
            return
        elif operator == "(" and len(current.words) == 1 and not current.assignments and not current.keyword:
            current.keyword = "function"
            self._finish()
        elif operator == "(" and self._in_patterns():
            return
        else:
            was_pattern = operator == ")" and self._in_patterns()
            self._finish()
            if was_pattern:
                self._patterns[-1] = False
            elif operator.startswith(";") and operator != ";" and self._patterns:
                self._patterns[-1] = True

    def _in_patterns(self) -> bool:
        return bool(self._patterns) and self._patterns[-1]

    def _word(self, node: Node, text: str) -> None:
        current = self._current
        if self._redirection:
            current.redirects.append((self._redirection, node))
            self._redirection = ""
        elif self._patterns and text == "esac" and (self._in_patterns() or current.is_empty()):
            self._patterns.pop()
            self._current = Command()
        elif self._in_patterns():
            current.words.append(node)
        elif current.is_empty():
            self._first(node, text)
        elif current.keyword == "case" and text == "in":
            self._finish()
            self._patterns.append(True)
        elif (current.keyword, text) in (("[[", "]]"), ("function", "{")):
            self._finish()
        elif not current.words and not current.keyword and ASSIGNMENT.match(text):
            current.assignments.append(node)
        elif not (current.keyword == "for" and text == "in" and len(current.words) == 1):
            current.words.append(node)

    def _first(self, node: Node, text: str) -> None:
        if text in _OPENING or text in _CLOSING:
            return
        if text in ("for", "select", "case", "function", "[["):
            self._current.keyword = "for" if text == "select" else text
        elif ASSIGNMENT.match(text):
            self._current.assignments.append(node)
        else:
            self._current.words.append(node)


def plain(script: Fragment, word: Node) -> Fragment:
    """A word without its quotes and escapes; expansions stay as they are written."""
    text: list[str] = []
    at: list[int] = []
    for start, end in _stretches(script.text, word):
        text.append(script.text[start:end])
        at += script.at[start:end]
    return Fragment(script.draft, "".join(text), at)


def _stretches(text: str, node: Node) -> Iterator[tuple[int, int]]:
    """The parts of the text that make the value of a word."""
    if node.kind in ("word", "double"):
        for child in node.children:
            yield from _stretches(text, child)
    elif node.kind == "single":
        opening = 2 if text.startswith("$", node.start) else 1
        closed = node.end - node.start > opening and text[node.end - 1] == "'"
        yield node.start + opening, node.end - closed
    elif node.kind == "escape":
        if text[node.start + 1 : node.end] not in ("\n", "\r\n", ""):
            yield node.start + 1, node.end
    else:
        yield node.start, node.end
