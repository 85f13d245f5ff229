"""Regions that comments mark: `musa-port: off` to `musa-port: on`, or a line with `musa-port: ignore`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from musa_port.draft import Draft

_MARKER = re.compile(rb"\bmusa-port:[ \t]*(off|on|ignore)\b|\bMUSIFY_EXCL_(START|STOP|LINE)\b")
_KINDS = {"START": "off", "STOP": "on", "LINE": "ignore"}


class Marker(NamedTuple):
    """One marker: off, on or ignore, and where it begins."""

    kind: str
    start: int


def marker_at(data: bytes, start: int) -> Marker | None:
    """The marker that begins at an offset."""
    match = _MARKER.match(data, start)
    return _marker(match) if match else None


def find(data: bytes, comments: re.Pattern[bytes]) -> Iterator[Marker]:
    """The markers in what `comments` finds as its group `comment`."""
    if _MARKER.search(data) is None:
        return
    for comment in comments.finditer(data):
        if comment["comment"]:
            yield from map(_marker, _MARKER.finditer(data, *comment.span("comment")))


def _marker(match: re.Match[bytes]) -> Marker:
    word = (match[1] or match[2]).decode()
    return Marker(_KINDS.get(word, word), match.start())


def keep(draft: Draft, markers: Iterable[Marker]) -> None:
    """Have a draft leave what the markers enclose, before any rule has run."""
    opened = -1
    for kind, start in markers:
        if kind == "off" and opened < 0:
            opened = start
        elif kind == "on" and opened >= 0:
            _keep(draft, opened, start)
            opened = -1
        elif kind == "ignore":
            _keep(draft, *_line(draft.data, start))
    if opened >= 0:
        draft.report("open-region", opened, opened, "this region is never closed")
        _keep(draft, opened, len(draft.data))


def _keep(draft: Draft, start: int, end: int) -> None:
    first, last = draft.lines.number(start), draft.lines.number(max(start, end - 1))
    lines = f"line {first} is" if first == last else f"lines {first} to {last} are"
    draft.report("kept-region", start, start, f"{lines} left alone")
    draft.keep(start, end)


def _line(data: bytes, place: int) -> tuple[int, int]:
    end = data.find(b"\n", place)
    return data.rfind(b"\n", 0, place) + 1, end if end >= 0 else len(data)
