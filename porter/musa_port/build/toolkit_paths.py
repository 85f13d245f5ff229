"""Folders and files of the installed toolkit, as text of build files and scripts names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from musa_port import flags
from musa_port.draft import Draft
from musa_port.mappings import Row, read_rows
from musa_port.model import Severity
from musa_port.rules import Rule, register

PATH = register(
    Rule(
        "B2",
        "toolkit-path",
        Severity.WARNING,
        "Moves paths below /usr/local/cuda to /usr/local/musa, and reports those that it cannot know.",
        why="The folders that the table holds move; a folder with a version, or another prefix, is not guessed.",
        example=('set(ROOT "/usr/local/cuda")', 'set(ROOT "/usr/local/musa")'),
        advice="Write the folder that your MUSA SDK has.",
        evidence="env.csv, compiler_flags.csv",
    )
)


class Place(NamedTuple):
    """A path of the toolkit in a text. `new` is None when it is not known; `sure` is false when a rest is not."""

    start: int
    end: int
    new: str | None
    sure: bool


_PATH = re.compile(
    r"(?:(?<![\w.})/])|(?<=-[IL]))(/(?:usr/local|opt)/cuda)((?:[-$][^/\s\"';:,)]*)?)((?:/[\w.+-]+)*)(?![\w-])"
)
_ROOT = "/usr/local/cuda"
#: Variables of builds that hold the folder of the toolkit, and what follows one of them.
_ROOTS = "CUDA_HOME|CUDA_PATH|CUDA_ROOT|CUDA_TOOLKIT_ROOT_DIR|CUDAToolkit_ROOT"
_BELOW = re.compile(rf"\$(?:(?:ENV)?[{{(](?:{_ROOTS})[}})]|\$\{{?(?:{_ROOTS})\}}?)((?:/[\w.+-]+)+)(?![\w$-])")
_DEFINITION = re.compile(r"(?:^|(?<=[\s;\"']))-D\w+=\S*\Z")
_FILE = re.compile(r"[\w.+-]+")


def find(text: str) -> Iterator[Place]:
    """Each path of the toolkit in `text`, and what it becomes."""
    for match in _PATH.finditer(text):
        root, version, rest = match.groups()
        if version or flags.path(root) is None:
            yield Place(*match.span(), None, False)
        else:
            yield Place(*match.span(), *_moved(root, rest))


def below(rest: str) -> tuple[str, bool]:
    """What follows the folder of the toolkit, such as `/lib64`: the same for MUSA, and whether that is known."""
    new, sure = _moved(_ROOT, rest)
    row = flags.path(_ROOT)
    return new.removeprefix(row.musa if row else _ROOT), sure


def _moved(root: str, rest: str) -> tuple[str, bool]:
    """The new path, and whether the tables hold all of it."""
    parts = rest.split("/")[1:]
    for count in range(len(parts), -1, -1):
        row = flags.path("/".join([root, *parts[:count]]))
        if row is not None:
            tail, sure = _tail(parts[count:])
            return "/".join([row.musa, *tail]), sure
    return root + rest, False


def _tail(parts: list[str]) -> tuple[list[str], bool]:
    """The parts after what the table holds: `bin` with a program, or nothing, are known."""
    if not parts or parts == ["bin"] or parts == ["include"]:
        return parts, True
    *folders, file = parts
    row = flags.tool(file) if folders == ["bin"] else None if folders else _libraries().get(file)
    if row is not None and row.supported and _FILE.fullmatch(row.musa):
        return [*folders, row.musa], True
    return parts, False


@cache
def _libraries() -> dict[str, Row]:
    return {row.cuda: row for row in read_rows("libraries") if row.kind == "shared-object"}


def rewrite(draft: Draft, start: int, end: int, *, keep: bool = False) -> None:
    """Move the paths in a stretch of the file; with `keep`, only report them."""
    text = draft.data[start:end].decode("latin-1")
    for place in find(text):
        span = start + place.start, start + place.end
        if draft.is_claimed(span[0]):
            continue
        old = text[place.start : place.end]
        is_value = keep or _DEFINITION.search(text, 0, place.start) is not None
        if place.new is None or is_value:
            reason = "it is the value of a macro" if is_value else "its MUSA counterpart is not known"
            draft.report("toolkit-path", *span, f"{old} is left: {reason}", name=old, once=old)
            draft.claim(*span)
            continue
        draft.edit(*span, place.new, "toolkit-path")
        if not place.sure:
            message = f"{old} became {place.new}; whether MUSA has that file is not known"
            draft.report("toolkit-path", *span, message, new=place.new, name=old, once=old)


def rewrite_below(draft: Draft, start: int, end: int) -> None:
    """Change what follows a variable with the folder of the toolkit: `/lib64` after `$(CUDA_HOME)`."""
    text = draft.data[start:end].decode("latin-1")
    for match in _BELOW.finditer(text):
        span = start + match.start(1), start + match.end(1)
        if draft.is_claimed(span[0]):
            continue
        new, sure = below(match.group(1))
        if not sure:
            whole = start + match.start(), span[1]
            message = f"whether MUSA has what {match.group()} names is not known"
            draft.report("toolkit-path", *whole, message, name=match.group(), once=match.group())
        elif new != match.group(1):
            draft.edit(*span, new, "toolkit-path")
