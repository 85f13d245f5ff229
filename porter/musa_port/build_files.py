"""Build files that are not ported and name sources which this run renames: they must not go unseen.

Those of Bazel, Meson and the like are never ported; those of CMake, make and the other languages of `musa_port.build`
are not where the options leave them out.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from musa_port import languages
from musa_port.entry import Entry
from musa_port.model import FileResult, FileStatus, Finding, Severity
from musa_port.rules import Rule, register

STALE = register(
    Rule(
        "F15",
        "renamed-in-build",
        Severity.WARNING,
        "Reports build files that are not ported and name a source under the name that it had before.",
        why="Files of Bazel, Meson and the like are never ported; others are left by --only, --exclude and --reverse.",
        advice="Change the name in the build file, or port with --keep-ext.",
    )
)

_NAMES = frozenset({"BUCK", "BUILD", "SConscript", "SConstruct", "meson.build", "setup.py", "wscript", "xmake.lua"})
_SUFFIXES = frozenset({".bazel", ".bzl", ".gyp", ".gypi", ".ninja", ".vcxproj"})
_SOURCE = re.compile(r"[\w./+-]*?([\w+-]+\.(?:cuh?|muh?))\b")


def report(root: Path, entries: Iterable[Entry], results: dict[str, FileResult]) -> None:
    """Add a finding to the result of each build file that names a renamed source, at the first such place."""
    names = {entry.path: entry.output_path for entry in entries if entry.output_path is not None}
    if all(old == new for old, new in names.items()):
        return
    for entry in entries:
        if entry.status in (FileStatus.COPIED, FileStatus.SKIPPED) and _is_build_file(entry.path):
            results[entry.path].findings.extend(_findings(root, entry.path, names))


def _is_build_file(path: str) -> bool:
    if posixpath.basename(path) in _NAMES or posixpath.splitext(path)[1] in _SUFFIXES:
        return True
    language = languages.of_path(path)
    return language is not None and language.name != "python"


def _findings(root: Path, path: str, names: Mapping[str, str]) -> list[Finding]:
    try:
        lines = (root / path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    renamed = {posixpath.basename(old): posixpath.basename(new) for old, new in names.items() if old != new}
    places = [
        (number, match)
        for number, line in enumerate(lines, 1)
        for match in _SOURCE.finditer(line)
        if match.group(1) in renamed and not _keeps_name(path, match.group(), names)
    ]
    if not places:
        return []
    line, match = places[0]
    old, new = match.group(1), renamed[match.group(1)]
    others = f", and {len(places) - 1} more" if len(places) > 1 else ""
    message = f"{old} is {new} in the output{others}; this file is not ported"
    position = (path, line, match.start(1) + 1)
    return [Finding(STALE.id, STALE.severity, *position, message, STALE.advice, old, source_line=lines[line - 1][:240])]


def _keeps_name(path: str, text: str, names: Mapping[str, str]) -> bool:
    """Whether the text, read from the folder of the build file, is a source that is not renamed."""
    near = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
    return names.get(near) == near
