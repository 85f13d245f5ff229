"""Unified diffs that `git apply` and `patch` accept, over bytes."""

from __future__ import annotations

import difflib


def unified(old_path: str, new_path: str, old: bytes, new: bytes) -> bytes:
    """The difference of two files, with git's header when the file is renamed. Empty when nothing differs."""
    if old == new and old_path == new_path:
        return b""
    one, other = _quoted(f"a/{old_path}"), _quoted(f"b/{new_path}")
    head = [f"diff --git {one} {other}\n"]
    if old_path != new_path:
        head += [f"rename from {_quoted(old_path)}\n", f"rename to {_quoted(new_path)}\n"]
    lines = difflib.unified_diff(_lines(old), _lines(new), one, other)
    body = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return ("".join(head) + body).encode("utf-8", "surrogateescape")


def _quoted(path: str) -> str:
    """The path as git writes it: in C quotes when it holds a control character, a quote or a backslash."""
    if not any(char < " " or char in '"\\\x7f' for char in path):
        return path
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(char, char if char >= " " else f"\\{ord(char):03o}") for char in path) + '"'


def _lines(data: bytes) -> list[str]:
    """Lines that end at \\n only: other line separators are text to git."""
    text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])
