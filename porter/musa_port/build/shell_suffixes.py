"""Endings of sources where a script takes names apart: `${f%.cu}`, `basename "$f" .cu`, `*.cu)`, `find -name '*.cu'`.

Globs in the same script follow the sources that the run renames, so that these have to follow as well.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from musa_port import renames
from musa_port.build.commands import PRINTING
from musa_port.build.fragment import Fragment
from musa_port.build.shell_commands import Command
from musa_port.build.shell_syntax import Node
from musa_port.model import Severity

#: An ending, not one in the name of what a build makes (`x.cu.o`).
_SUFFIX = re.compile(r"\.cuh?(?![\w-])(?!\.\w)")
#: Several endings: `*.{cu,cpp}`, or `\.(cu|cpp)$` as a pattern.
_GROUP = re.compile(r"\.\\?[({][\w|,\\+?*-]*[)}]")
_ALTERNATIVE = re.compile(r"(?<!\w)cuh?(?!\w)")
#: An ending without its dot, as `${f##*.}` gives it.
_BARE = re.compile(r"(?<![\w./*?$%{-])cuh?(?![\w./=-])")
_GIVES_BARE = re.compile(r"##\*\.\}")
#: Commands in which a bare ending is compared, and those in which it may be one.
_COMPARING = frozenset({"pattern", "[["})
_LISTING = frozenset({"for", "array"})


def decide(text: Fragment, nodes: Iterable[Node], commands: Iterable[Command]) -> None:
    """Write the endings of sources anew, wherever the script means names that are only known when it runs."""
    commands = list(commands)
    printed = {word for command in commands for word in command.words if _prints(text, command)}
    for node in nodes:
        for start, end in _read_by_shell(node, printed):
            _suffixes(text, node, start, end)
    compares = _GIVES_BARE.search(text.text) is not None
    for command in commands:
        _bare(text, command, compares)


def _prints(text: Fragment, command: Command) -> bool:
    program = command.words[0] if command.words and not command.keyword else None
    return program is not None and posixpath.basename(text.text[program.start : program.end]) in PRINTING


def _read_by_shell(node: Node, printed: set[Node]) -> Iterator[tuple[int, int]]:
    """The stretches of a node that are no text for people."""
    if node.kind != "word":
        return
    position = node.start
    for spoken in (child for child in node.walk() if child in printed):
        yield position, spoken.start
        for child in spoken.walk():
            if child.kind in ("variable", "command"):
                yield child.start, child.end
        position = max(position, spoken.end)
    yield position, node.end


def _suffixes(text: Fragment, node: Node, start: int, end: int) -> None:
    ends = {child.end for child in node.walk() if child.kind == "variable"}
    for match in _SUFFIX.finditer(text.text, start, end):
        place = match.start()
        is_name = place > 0 and re.match(r"[\w-]", text.text[place - 1]) and place not in ends
        if not is_name:
            # `\.cuh?` is a pattern for both endings.
            _rename(text, place, match.end() - (text.text[match.end() : match.end() + 1] == "?"))
    for group in _GROUP.finditer(text.text, start, end):
        for match in _ALTERNATIVE.finditer(text.text, *group.span()):
            _rename(text, *match.span())


def _new(text: Fragment, ending: str) -> str | None:
    """The new ending of sources, with or without its dot; None when they keep it."""
    old = "." + ending.lstrip(".")
    new = renames.new_suffix(text.draft.index, text.draft.path, old)
    return None if new in (None, old) else str(new)[len(old) - len(ending) :]


def _rename(text: Fragment, start: int, end: int) -> None:
    if new := _new(text, text.text[start:end]):
        text.edit(start, end, new, "source-in-script")


def _bare(text: Fragment, command: Command, compares: bool) -> None:
    program = text.text[command.words[0].start : command.words[0].end] if command.words else ""
    compared = command.keyword in _COMPARING or (not command.keyword and program in ("[", "test"))
    words = command.words if compared or command.keyword in _LISTING else []
    for word in [*words, *command.assignments]:
        for match in _BARE.finditer(text.text, word.start, word.end):
            start, end = match.span()
            if not _new(text, match.group()):
                continue
            if compared and compares:
                _rename(text, start, end)
            else:
                message = f"{match.group()} is left: it may be the ending of sources that this run renames"
                text.report("source-in-script", start, end, message, severity=Severity.WARNING, name=match.group())
