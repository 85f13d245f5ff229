"""Finding the files of a tree, in a stable order; symbolic links; names that are taken."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from pathlib import Path

from musa_port.entry import Entry, renamed
from musa_port.errors import UsageError
from musa_port.model import FileStatus, Severity
from musa_port.options import IGNORED, Options
from musa_port.rules import Rule, register
from musa_port.sources import Classifier

LINK = register(
    Rule(
        "F4",
        "link-out-of-tree",
        Severity.WARNING,
        "Leaves a symbolic link out that is absolute, endless, or leads out of the tree.",
        why="In the output it would lead to the source, or to nothing.",
        advice="Make the link in the output by hand, or copy what it names into the tree.",
    )
)
TAKEN_NAME = register(
    Rule(
        "F12",
        "taken-name",
        Severity.WARNING,
        "Keeps the name of a file whose new name something else in the tree has.",
        advice="Check which of the two files the MUSA build should use.",
    )
)
SPECIAL = register(
    Rule(
        "F14",
        "special-file",
        Severity.WARNING,
        "Leaves out what is no regular file: pipes, sockets, devices.",
        advice="Make it in the output by hand when the build needs it.",
    )
)


def walk(source: Path, options: Options) -> Iterator[Entry]:
    """Every file below `source` (or `source` itself when it is a file)."""
    classifier = Classifier(options)
    if not source.is_dir():
        yield _regular(source, source.name, classifier)
        return
    files, folders = _names(source)
    taken = {*files, *folders}
    for path in files:
        entry = _entry(source, path, options, classifier)
        if entry.output_path not in (None, path) and entry.output_path in taken:
            entry.rule, entry.note = "taken-name", f"{path} keeps its name: {entry.output_path} exists in the tree"
            entry.output_path = path
        yield entry


def _names(root: Path) -> tuple[list[str], list[str]]:
    """Files and folders, relative to the root. Links count as files."""

    def fail(error: OSError) -> None:
        raise UsageError(f"{error.filename}: cannot be listed: {error.strerror}")

    files, folders = [], []
    for folder, below, names in os.walk(root, onerror=fail):
        below[:] = sorted(name for name in below if name not in IGNORED)
        relative = os.path.relpath(folder, root).replace(os.sep, "/")
        prefix = "" if relative == "." else relative + "/"
        links = [name for name in below if os.path.islink(os.path.join(folder, name))]
        folders += [prefix + name for name in below if name not in links]
        files += [prefix + name for name in sorted([*names, *links]) if not _is_ignored(name)]
    return files, folders


def _is_ignored(name: str) -> bool:
    """Version control, caches, and what an interrupted run of ours left behind."""
    return name in IGNORED or (name.startswith(".musa-port-") and name.endswith(".tmp"))


def _entry(root: Path, path: str, options: Options, classifier: Classifier) -> Entry:
    full = root / path
    return _link(root, path, options) if full.is_symlink() else _regular(full, path, classifier)


def _regular(full: Path, path: str, classifier: Classifier) -> Entry:
    try:
        size = full.stat().st_size
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        return Entry(path, None, "other", 0, FileStatus.FAILED, reason, "unreadable-file", f"{path} {reason}")
    if not full.is_file():
        note = f"{path} is no regular file"
        return Entry(path, None, "other", 0, FileStatus.LEFT_OUT, "is no regular file", "special-file", note)
    return classifier.entry(full, path, size)


def _link(root: Path, path: str, options: Options) -> Entry:
    """A link inside the tree is kept as a link, under the new name that a file of its name would get."""
    reason = _unusable(root, path)
    if reason:
        return Entry(path, None, "other", 0, FileStatus.LEFT_OUT, reason, "link-out-of-tree", f"{path} {reason}")
    name = path if (root / path).is_dir() else renamed(path, options)
    return Entry(path, name, "link", 0, FileStatus.COPIED)


def _unusable(root: Path, path: str) -> str:
    """Why a link cannot be kept, or ""."""
    target = os.readlink(root / path)
    if os.path.isabs(target):
        return "is an absolute link"
    try:
        # What an endless link resolves to differs between versions of Python; `stat` is the same in all.
        (root / path).stat()
    except FileNotFoundError:
        pass
    except OSError:
        return "is a link without an end"
    resolved = os.path.realpath(root / path)
    if not Path(resolved).is_relative_to(os.path.realpath(root)):
        return "links to a place outside the tree"
    # The way there must stay inside as well.
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return "links to a place outside the tree" if joined.split("/")[0] == ".." else ""
