"""Build files that name sources which this run renames: they are not ported yet, and must not go unseen."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

from musa_port.entry import Entry
from musa_port.model import FileResult, FileStatus, Finding, Severity
from musa_port.rules import Rule, register

STALE = register(
    Rule(
        "F15",
        "renamed-in-build",
        Severity.WARNING,
        "Reports build files that name a source under the name that it had before.",
        advice="Change the name in the build file, or port with --keep-ext.",
    )
)

_NAMES = frozenset(
    {"CMakeLists.txt", "Makefile", "makefile", "GNUmakefile", "BUILD", "BUILD.bazel", "setup.py", "meson.build"}
)
_SUFFIXES = frozenset({".cmake", ".mk", ".bazel", ".bzl", ".toml", ".cfg"})
_SOURCE = re.compile(r"[\w./+-]*?([\w+-]+\.(?:cuh?|muh?))\b")


def report(root: Path, entries: Iterable[Entry], results: dict[str, FileResult]) -> None:
    """Add a finding to the result of each build file that names a renamed source, at the first such place."""
    entries = list(entries)
    renamed = {
        posixpath.basename(entry.path): posixpath.basename(entry.output_path)
        for entry in entries
        if entry.output_path not in (None, entry.path) and entry.output_path is not None
    }
    for entry in entries:
        if entry.status is FileStatus.COPIED and renamed and _is_build_file(entry.path):
            results[entry.path].findings.extend(_findings(root, entry.path, renamed))


def _is_build_file(path: str) -> bool:
    return posixpath.basename(path) in _NAMES or posixpath.splitext(path)[1] in _SUFFIXES


def _findings(root: Path, path: str, renamed: dict[str, str]) -> list[Finding]:
    try:
        lines = (root / path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    places = [
        (number, match)
        for number, line in enumerate(lines, 1)
        for match in _SOURCE.finditer(line)
        if match.group(1) in renamed
    ]
    if not places:
        return []
    line, match = places[0]
    old, new = match.group(1), renamed[match.group(1)]
    others = f", and {len(places) - 1} more" if len(places) > 1 else ""
    message = f"{old} is {new} in the output{others}; this file is not ported"
    position = (path, line, match.start(1) + 1)
    return [Finding(STALE.id, STALE.severity, *position, message, STALE.advice, old, source_line=lines[line - 1][:240])]
