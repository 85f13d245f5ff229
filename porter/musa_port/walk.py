"""Finding the files of a tree, and deciding which of them are ported at all."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pathspec import GitIgnoreSpec

from musa_port.errors import UsageError
from musa_port.model import FileStatus, Severity
from musa_port.options import C_FAMILY, NATIVE, RENAMED, Options
from musa_port.rules import Rule, register

NATIVE_FILE = register(
    Rule("F1", "native-source", Severity.INFO, "Leaves sources alone that are MUSA already (.mu, .muh).")
)
GENERATED = register(
    Rule(
        "F2",
        "generated-file",
        Severity.INFO,
        "Leaves generated files alone: a first line that says so, build folders, *_generated.*.",
        advice="Port the generator and run it again, or name the file with --include.",
    )
)
VENDORED = register(
    Rule(
        "F3",
        "vendored-library",
        Severity.WARNING,
        "Leaves a third-party library alone that has a MUSA counterpart.",
        advice="Build against the counterpart instead, or name the folder with --include.",
        evidence="porter mapping tables, headers.csv",
    )
)
LINK = register(
    Rule("F4", "link-out-of-tree", Severity.WARNING, "Leaves a symbolic link out whose target is not in the tree.")
)
BINARY = register(Rule("F5", "binary-file", Severity.INFO, "Copies a file with a source extension that is no text."))
TOO_LARGE = register(
    Rule(
        "F6",
        "too-large",
        Severity.WARNING,
        "Copies a file that is larger than --max-file-size without looking into it.",
        advice="Raise --max-file-size when the file is source that somebody wrote.",
    )
)
OTHER_LANGUAGE = register(
    Rule(
        "F7",
        "other-language",
        Severity.WARNING,
        "Lists sources in languages that musa-port does not port (Fortran, Rust, Go, Julia, templates).",
        advice="Port the file by hand.",
    )
)
UNREADABLE = register(Rule("F8", "unreadable-file", Severity.ERROR, "Reports a file that cannot be read."))

TAKEN_NAME = register(
    Rule(
        "F12",
        "taken-name",
        Severity.WARNING,
        "Keeps the name of a file whose new name another file of the tree has.",
        advice="Check which of the two files the MUSA build should use.",
    )
)

#: Folders of version control and caches: no part of the sources.
IGNORED_FOLDERS = frozenset(".git .hg .svn __pycache__ .mypy_cache .pytest_cache .venv node_modules".split())
_THIRD_PARTY = frozenset(
    "third_party third-party thirdparty 3rdparty 3rd_party external externals extern vendor deps submodules".split()
)
#: Third-party libraries with a MUSA counterpart.
COUNTERPARTS = {
    "cutlass": "MUTLASS",
    "cub": "the cub of muThrust and muAlg",
    "thrust": "muThrust",
    "cccl": "muThrust and libmusacxx",
    "libcudacxx": "libmusacxx",
    "nccl": "MCCL",
}
_OTHER_LANGUAGES = frozenset(".f .f90 .F90 .cuf .CUF .f95 .rs .go .jl .jinja .j2".split())
_HEADER_LINE = re.compile(rb"^[ \t]*#[ \t]*(pragma once|ifndef \w+|include [<\"])", re.M)
_CUDA_WORD = re.compile(rb"\bcuda\w*|\bcu[A-Z]\w+|__global__", re.I)
_GENERATED_LINE = re.compile(rb"(?:auto-?generated|generated (?:by|from|file)|@generated)\b", re.I)
_GENERATED_NAME = re.compile(r"_generated\.|\.generated\.|\.pb\.(h|cc)$")
_BUILD_FOLDERS = frozenset({"build", "_skbuild", "CMakeFiles"})
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(slots=True)
class Entry:
    """One file of the tree, and what is to happen to it.

    status  None for files that the C-family engine examines
    rule    the rule to report, "" for none; `note` is what its finding says
    """

    path: str
    output_path: str | None
    language: str
    size: int
    status: FileStatus | None = None
    reason: str = ""
    rule: str = ""
    note: str = ""
    #: Whether its declarations count: skipped sources still declare names, replaced libraries do not.
    indexed: bool = False
    #: Whether it belongs to a vendored library that a MUSA library replaces.
    replaced: bool = False


def walk(source: Path, options: Options) -> Iterator[Entry]:
    """Every file below `source` (or `source` itself when it is a file), in a stable order."""
    root, paths = (source, list(_names(source))) if source.is_dir() else (source.parent, [source.name])
    selection = _Selection(options)
    taken = set(paths)
    for path in paths:
        entry = _entry(root, path, options, selection)
        if entry.output_path not in (None, path) and entry.output_path in taken:
            entry.rule, entry.note = "taken-name", f"{path} keeps its name: {entry.output_path} exists in the tree"
            entry.output_path = path
        yield entry


def _names(root: Path) -> Iterator[str]:
    def fail(error: OSError) -> None:
        raise UsageError(f"{error.filename}: cannot be listed: {error.strerror}")

    for folder, folders, files in os.walk(root, onerror=fail):
        folders[:] = sorted(name for name in folders if name not in IGNORED_FOLDERS)
        relative = os.path.relpath(folder, root)
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in sorted([*files, *links]):
            yield name if relative == "." else posixpath.join(relative.replace(os.sep, "/"), name)


class _Selection:
    """`--include` and `--exclude`, in the language of .gitignore."""

    def __init__(self, options: Options) -> None:
        #: Vendored libraries met so far, by folder: each is reported once.
        self.vendored: set[str] = set()
        self._include = _spec("--include", options.include)
        self._exclude = _spec("--exclude", options.exclude)

    def excluded(self, path: str) -> bool:
        return self._exclude is not None and self._exclude.match_file(path)

    def included(self, path: str) -> bool | None:
        """None when no --include was given."""
        return None if self._include is None else self._include.match_file(path)


def _spec(option: str, patterns: tuple[str, ...]) -> GitIgnoreSpec | None:
    try:
        return GitIgnoreSpec.from_lines(patterns) if patterns else None
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error


def _entry(root: Path, path: str, options: Options, selection: _Selection) -> Entry:
    full = root / path
    if full.is_symlink():
        return _link(root, path, options)
    try:
        size = full.stat().st_size
    except OSError as error:
        return Entry(path, None, "other", 0, FileStatus.FAILED, f"cannot be read: {error.strerror}", "unreadable-file")
    if not full.is_file():
        return Entry(path, None, "other", 0, FileStatus.LEFT_OUT, "is no regular file")
    suffix = posixpath.splitext(path)[1]
    if selection.excluded(path):
        indexed = suffix in C_FAMILY and size <= options.max_file_size
        language = "c-family" if suffix in C_FAMILY else "other"
        return Entry(path, path, language, size, FileStatus.SKIPPED, "excluded by --exclude", indexed=indexed)
    if not selection.included(path) and (folder := _vendored(path)):
        return _replaced(path, folder, suffix, size, selection)
    if suffix in C_FAMILY or suffix in NATIVE or (not suffix and size <= options.max_file_size and _is_header(full)):
        return _source(full, path, suffix, size, options, selection)
    if suffix in _OTHER_LANGUAGES and size <= options.max_file_size and _holds_cuda(full):
        reason = f"{suffix} sources are not ported"
        return Entry(
            path, path, "other", size, FileStatus.SKIPPED, reason, "other-language", f"{path} uses CUDA; {reason}"
        )
    return Entry(path, path, "other", size, FileStatus.COPIED)


def _source(full: Path, path: str, suffix: str, size: int, options: Options, selection: _Selection) -> Entry:
    included = selection.included(path)
    skip = Entry(path, path, "c-family", size, FileStatus.SKIPPED, indexed=True)
    native = (suffix in RENAMED) if options.reverse else (suffix in NATIVE)
    if "cpp" not in options.only:
        skip.reason, skip.indexed = "C-family sources are not selected by --only", False
    elif native:
        skip.reason, skip.rule = "is native already", "native-source"
    elif included is False:
        skip.reason = "not selected by --include"
    elif size > options.max_file_size:
        skip.reason, skip.rule, skip.indexed = f"larger than {options.max_file_size:,} bytes", "too-large", False
    else:
        return _examined(full, path, suffix, size, options, bool(included))
    skip.note = skip.note or f"{path} {skip.reason}"
    return skip


def _replaced(path: str, folder: str, suffix: str, size: int, selection: _Selection) -> Entry:
    """A file of a vendored library with a MUSA counterpart. The library is reported once, at its first source."""
    library = posixpath.basename(folder)
    language = "c-family" if suffix in C_FAMILY else "other"
    entry = Entry(path, path, language, size, FileStatus.SKIPPED, f"vendored {library}", replaced=True)
    if folder not in selection.vendored and suffix in C_FAMILY:
        selection.vendored.add(folder)
        entry.rule = "vendored-library"
        entry.note = f"{folder} is left: {COUNTERPARTS[library.lower()]} takes its place on MUSA"
    return entry


def _is_header(full: Path) -> bool:
    """Whether a file without an extension is a C++ header, such as those of the standard library and libcudacxx."""
    try:
        with full.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    return b"\0" not in head and _HEADER_LINE.search(head) is not None and not head.startswith(b"#!")


def _examined(full: Path, path: str, suffix: str, size: int, options: Options, included: bool) -> Entry:
    """Look at the beginning of the file: is it text, and did a person write it?"""
    try:
        with full.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        return Entry(path, None, "c-family", size, FileStatus.FAILED, reason, "unreadable-file", f"{path} {reason}")
    encoding = _MARKS.get(head[:2])
    if encoding or b"\0" in head:
        reason = f"is {encoding} text, which is not ported" if encoding else "is binary"
        return Entry(path, path, "c-family", size, FileStatus.SKIPPED, reason, "binary-file", f"{path} {reason}")
    if not included and (reason := _generated(path, head)):
        entry = Entry(path, path, "c-family", size, FileStatus.SKIPPED, reason, "generated-file", indexed=True)
        entry.note = f"{path} {reason}"
        return entry
    return Entry(path, renamed(path, options), "c-family", size, indexed=True)


def renamed(path: str, options: Options) -> str:
    """The path in the output: `.cu` and `.cuh` are renamed, except below thrust/ and cub/, whose names are kept."""
    stem, suffix = posixpath.splitext(path)
    table = {new: old for old, new in RENAMED.items()} if options.reverse else RENAMED
    if not options.rename_ext or suffix not in table or {"thrust", "cub"} & set(path.split("/")[:-1]):
        return path
    return stem + table[suffix]


def _vendored(path: str) -> str:
    """The folder of the replaced library that the file belongs to, or ""."""
    parts = path.split("/")[:-1]
    for depth, (parent, child) in enumerate(pairwise(parts), 2):
        if parent.lower() in _THIRD_PARTY and child.lower() in COUNTERPARTS:
            return "/".join(parts[:depth])
    return ""


def _generated(path: str, head: bytes) -> str:
    if _BUILD_FOLDERS & set(path.split("/")[:-1]):
        return "is in a build folder"
    if _GENERATED_NAME.search(posixpath.basename(path)):
        return "has the name of a generated file"
    first = b"\n".join(head.split(b"\n")[:3])
    return "says that it is generated" if _GENERATED_LINE.search(first) else ""


def _holds_cuda(full: Path) -> bool:
    try:
        return _CUDA_WORD.search(full.read_bytes()) is not None
    except OSError:
        return False


def _link(root: Path, path: str, options: Options) -> Entry:
    """A link inside the tree is kept as a link; others are left out."""
    target = os.readlink(root / path)
    inside = (root / path).resolve().is_relative_to(root.resolve())
    if os.path.isabs(target) or not inside:
        note = f"{path} links to a place outside the tree"
        return Entry(path, None, "other", 0, FileStatus.LEFT_OUT, "links out of the tree", "link-out-of-tree", note)
    return Entry(path, renamed(path, options), "link", 0, FileStatus.COPIED)
