"""Unified diffs that `git apply` and `patch` accept, over bytes."""

from __future__ import annotations

import difflib


def unified(old_path: str, new_path: str, old: bytes, new: bytes) -> bytes:
    """The difference of two files, with git's header when the file is renamed. Empty when nothing differs."""
    if old == new and old_path == new_path:
        return b""
    head = [f"diff --git a/{old_path} b/{new_path}\n"]
    if old_path != new_path:
        head += [f"rename from {old_path}\n", f"rename to {new_path}\n"]
    lines = difflib.unified_diff(_lines(old), _lines(new), f"a/{old_path}", f"b/{new_path}")
    body = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return ("".join(head) + body).encode("utf-8", "surrogateescape")


def _lines(data: bytes) -> list[str]:
    """Lines that end at \\n only: other line separators are text to git."""
    text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])
