"""The instructions of a Dockerfile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from musa_port.build.fragment import Fragment
from musa_port.build.shell_syntax import lex

KEYWORDS = frozenset(
    "FROM ARG ENV RUN CMD ENTRYPOINT COPY ADD WORKDIR VOLUME USER EXPOSE LABEL MAINTAINER ONBUILD STOPSIGNAL "
    "HEALTHCHECK SHELL".split()
)
_LINE = re.compile(r"[^\n]*(?:\n|$)")
_KEYWORD = re.compile(r"[ \t]*([A-Za-z]+)(?=[ \t\r\n\\]|$)")
_SKIPPED = re.compile(r"[ \t]*(?:#[^\n]*)?\r?\n?$")
_CONTINUED = re.compile(r"\\([ \t]*)\r?\n$")


class Instruction(NamedTuple):
    """An instruction: its keyword in capitals, and what follows it, without the comments between continued lines."""

    keyword: str
    body: Fragment


def instructions(whole: Fragment) -> Iterator[Instruction]:
    """The instructions in order; lines that begin with no keyword are passed over."""
    position = 0
    while position < len(whole.text):
        line = _line(whole.text, position)
        match = _KEYWORD.match(whole.text, *line)
        if match is None or match.group(1).upper() not in KEYWORDS:
            position = line[1]
            continue
        keyword = match.group(1).upper()
        stretches, position = _logical(whole.text, match.end())
        if keyword in ("RUN", "COPY", "ADD"):
            position = _add_heredocs(whole.text, stretches, position)
        yield Instruction(keyword, _joined(whole, stretches))


def _line(text: str, position: int) -> tuple[int, int]:
    match = _LINE.match(text, position)
    assert match is not None
    return match.span()


def _logical(text: str, position: int) -> tuple[list[tuple[int, int]], int]:
    """The stretches of an instruction from `position` on, and where the next line begins."""
    stretches: list[tuple[int, int]] = []
    first = True
    while position < len(text):
        start, end = _line(text, position)
        position = end
        if not first and _SKIPPED.match(text, start, end):
            continue
        first = False
        continued = _CONTINUED.search(text, start, end)
        if continued is None:
            stretches.append((start, end))
            break
        stretches += [(start, continued.start(1)), (continued.end(1), end)]
    return stretches, position


def _add_heredocs(text: str, stretches: list[tuple[int, int]], position: int) -> int:
    """Add the here-documents that the instruction announces; where the next line begins."""
    for tabs, delimiter in _delimiters("".join(text[start:end] for start, end in stretches)):
        while position < len(text):
            start, end = _line(text, position)
            stretches.append((start, end))
            position = end
            line = text[start:end].rstrip("\r\n")
            if (line.lstrip("\t") if tabs else line) == delimiter:
                break
    return position


def _delimiters(body: str) -> list[tuple[bool, str]]:
    found: list[tuple[bool, str]] = []
    nodes = [node for node in lex(body) if node.kind != "blank"]
    for operator, word in pairwise(nodes):
        text = body[operator.start : operator.end]
        if operator.kind == "operator" and text in ("<<", "<<-") and word.kind == "word":
            found.append((text == "<<-", body[word.start : word.end].strip("'\"")))
    return found


def _joined(whole: Fragment, stretches: list[tuple[int, int]]) -> Fragment:
    text = "".join(whole.text[start:end] for start, end in stretches)
    at = [place for start, end in stretches for place in whole.at[start:end]]
    return Fragment(whole.draft, text, at)
