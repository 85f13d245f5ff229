"""Regions that somebody marked with comments: `# musa-port: off` to `# musa-port: on`."""

from __future__ import annotations

import re

from musa_port.draft import Draft

_MARKER = re.compile(rb"#[^\n]*?\bmusa-port:[ \t]*(off|on|ignore)\b")


def leave(draft: Draft) -> None:
    """Take back every edit and finding in a marked region; to be called when all rules have run."""
    regions, opened = _regions(draft.data)
    for start, end in regions:
        first, last = draft.lines.number(start), draft.lines.number(max(start, end - 1))
        draft.changes = [change for change in draft.changes if change.end <= start or change.start >= end]
        draft.findings = [finding for finding in draft.findings if not first <= finding.line <= last]
        lines = f"line {first} is" if first == last else f"lines {first} to {last} are"
        draft.report("kept-region", start, start, f"{lines} left alone")
    if opened >= 0:
        draft.report("open-region", opened, opened, "this region is never closed")


def _regions(data: bytes) -> tuple[list[tuple[int, int]], int]:
    """The regions, and where one begins that is never closed (-1 when none is)."""
    regions: list[tuple[int, int]] = []
    opened = -1
    for match in _MARKER.finditer(data):
        kind = match.group(1)
        if kind == b"off" and opened < 0:
            opened = match.start()
        elif kind == b"on" and opened >= 0:
            regions.append((opened, match.end()))
            opened = -1
        elif kind == b"ignore":
            regions.append(_line(data, match.start()))
    if opened >= 0:
        regions.append((opened, len(data)))
    return regions, opened


def _line(data: bytes, place: int) -> tuple[int, int]:
    end = data.find(b"\n", place)
    return data.rfind(b"\n", 0, place) + 1, end if end >= 0 else len(data)
