"""What kind of file a regular file is: a source to port, or one to leave alone, and why."""

from __future__ import annotations

import posixpath
import re
from itertools import pairwise
from pathlib import Path

from musa_port import languages
from musa_port.entry import C_FAMILY, Entry, renamed
from musa_port.model import FileStatus, Severity
from musa_port.options import C_FAMILY_SUFFIXES, NATIVE, RENAMED, Options
from musa_port.rules import Rule, register
from musa_port.selection import Selection

NATIVE_FILE = register(
    Rule("F1", "native-source", Severity.INFO, "Leaves sources alone that are MUSA already (.mu, .muh).")
)
GENERATED = register(
    Rule(
        "F2",
        "generated-file",
        Severity.WARNING,
        "Leaves generated files alone, and lists those that use CUDA: a first line that says so, build folders, "
        "*_generated.*.",
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
        evidence="headers.csv, cutlass.csv, thrust_cub.csv, nccl.csv",
    )
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
        "Lists sources that use CUDA in languages that musa-port does not port: Fortran, Rust, Go, Julia, Cython, "
        "notebooks, templates.",
        advice="Port the file by hand.",
    )
)
UNREADABLE = register(
    Rule(
        "F8",
        "unreadable-file",
        Severity.ERROR,
        "Reports a file that cannot be read, or whose output cannot be written.",
        advice="Mend the cause that the message names and run again.",
    )
)
ENCODING = register(
    Rule(
        "F13",
        "other-encoding",
        Severity.WARNING,
        "Copies a source in UTF-16, which is not ported.",
        advice="Convert the file to UTF-8 and port again.",
    )
)
NOT_REVERSED = register(
    Rule(
        "F17",
        "not-reversed",
        Severity.WARNING,
        "Lists files that use MUSA and that --reverse does not port: Python, build files and scripts.",
        why="Porting back is for C-family sources: Python and build files have several CUDA forms of one MUSA form.",
        advice="Take the file from the CUDA side of the project, or port it by hand.",
    )
)

_OTHER = "other"
#: How messages call the groups of --only.
_GROUPS = {"cpp": "C-family", "python": "Python", "cmake": "CMake", "shell": "shell"}
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
_OTHER_LANGUAGES = frozenset(".f .f90 .F90 .cuf .CUF .f95 .rs .go .jl .jinja .j2 .tmpl .ipynb .pyx .pxd".split())
_HEADER_LINE = re.compile(rb"^[ \t]*#[ \t]*(pragma once|ifndef \w+|include [<\"])", re.M)
_CUDA_WORD = re.compile(
    rb"(?i:\bcuda)\w*|\bcu[A-Z]\w+|\bnccl[A-Z]\w+|\bnvcc\b|-lcu[a-z]|__global__|\.is_cuda\b|\.cuda\(|\bk?CUDA"
)
_MUSA_WORD = re.compile(rb"musa|mccl|mudnn|mublas|mthreads|\bmcc\b", re.I)
_GENERATED_LINE = re.compile(rb"(?:auto-?generated|generated (?:by|from|file)|@generated)\b", re.I)
_GENERATED_NAME = re.compile(r"_generated\.|\.generated\.|\.pb\.(h|cc)$")
_BUILD_FOLDERS = frozenset({"build", "_skbuild", "CMakeFiles"})
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_HEAD_BYTES = 4096


class Classifier:
    """Decides regular files one after the other; a vendored library is reported at its first source."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._selection = Selection(options)
        self._vendored: set[str] = set()

    def entry(self, full: Path, path: str, size: int) -> Entry:
        """What is to happen to the file `path` of the tree, which lies at `full`."""
        suffix = posixpath.splitext(path)[1]
        language = self._by_name(path, suffix)
        if self._selection.excluded(path):
            return self._excluded(path, size, language)
        if not self._selection.included(path) and (folder := _vendored(path)):
            return self._replaced(path, folder, size, language)
        if language == _OTHER and size <= self._options.max_file_size:
            language = self._by_content(full) if not suffix else _OTHER
            if language == _OTHER and _is_foreign(path, suffix) and _holds(full, _CUDA_WORD):
                reason = f"{suffix} files are not ported"
                note = f"{path} uses CUDA; {reason}"
                return Entry(path, path, _OTHER, size, FileStatus.SKIPPED, reason, "other-language", note)
        if language != _OTHER:
            return self._source(full, path, suffix, size, language)
        return Entry(path, path, _OTHER, size, FileStatus.COPIED)

    def _by_name(self, path: str, suffix: str) -> str:
        if suffix.lower() in C_FAMILY_SUFFIXES or suffix in NATIVE:
            return C_FAMILY
        language = languages.of_path(path)
        return language.name if language else _OTHER

    def _by_content(self, full: Path) -> str:
        """The language of a file without an extension."""
        try:
            head = _head(full)
        except OSError:
            return _OTHER
        if _is_header(head):
            return C_FAMILY
        language = languages.of_head(head)
        return language.name if language else _OTHER

    def _excluded(self, path: str, size: int, language: str) -> Entry:
        entry = Entry(path, path, language, size, FileStatus.SKIPPED)
        entry.reason = "excluded by --exclude"
        entry.indexed = language != _OTHER and size <= self._options.max_file_size
        return entry

    def _replaced(self, path: str, folder: str, size: int, language: str) -> Entry:
        library = posixpath.basename(folder)
        entry = Entry(path, path, language, size, FileStatus.SKIPPED, replaced=True)
        entry.reason = f"vendored {library}"
        if language != _OTHER and folder not in self._vendored:
            self._vendored.add(folder)
            entry.rule = "vendored-library"
            entry.note = f"{folder} is left: {COUNTERPARTS[library.lower()]} takes its place on MUSA"
        return entry

    def _source(self, full: Path, path: str, suffix: str, size: int, language: str) -> Entry:
        options = self._options
        included = self._selection.included(path)
        skip = Entry(path, path, language, size, FileStatus.SKIPPED, indexed=True)
        if (group := _group(language)) not in options.only:
            skip.reason, skip.indexed = f"{_GROUPS.get(group, group)} sources are not selected by --only", False
        elif options.reverse and language != C_FAMILY:
            skip.reason = "is not ported by --reverse, which is for C-family sources"
            skip.rule, skip.indexed = "not-reversed" if _holds(full, _MUSA_WORD) else "", False
        elif suffix in (RENAMED if options.reverse else NATIVE):
            skip.reason, skip.rule = "is native already", "native-source"
        elif included is False:
            skip.reason = "not selected by --include"
        elif size > options.max_file_size:
            skip.reason, skip.rule, skip.indexed = f"larger than {options.max_file_size:,} bytes", "too-large", False
        else:
            return self._examined(full, path, size, language, bool(included))
        skip.note = f"{path} {skip.reason}"
        return skip

    def _examined(self, full: Path, path: str, size: int, language: str, included: bool) -> Entry:
        """Look at the beginning of the file: is it text, and did a person write it?"""
        entry = Entry(path, path, language, size, FileStatus.SKIPPED)
        try:
            head = _head(full)
        except OSError as error:
            entry.status, entry.output_path = FileStatus.FAILED, None
            entry.reason, entry.rule = f"cannot be read: {error.strerror}", "unreadable-file"
        else:
            if head[:2] in _UTF_16:
                entry.reason, entry.rule = "is UTF-16 text, which is not ported", "other-encoding"
            elif b"\0" in head:
                entry.reason, entry.rule = "is binary", "binary-file"
            elif not included and (reason := _generated(path, head)):
                entry.reason, entry.indexed = reason, True
                if posixpath.splitext(path)[1] in RENAMED or _holds(full, _CUDA_WORD):
                    entry.rule, entry.note = "generated-file", f"{path} uses CUDA and is left: it {reason}"
                return entry
            else:
                return Entry(path, renamed(path, self._options), language, size, indexed=True)
        entry.note = f"{path} {entry.reason}"
        return entry


def _group(language: str) -> str:
    return "cpp" if language == C_FAMILY else languages.get(language).group


def _head(full: Path) -> bytes:
    with full.open("rb") as file:
        return file.read(_HEAD_BYTES)


def _is_header(head: bytes) -> bool:
    """Whether a file without an extension is a C++ header, such as those of the standard library and libcudacxx."""
    return b"\0" not in head and _HEADER_LINE.search(head) is not None and not head.startswith(b"#!")


def _is_foreign(path: str, suffix: str) -> bool:
    """A language that is not ported, or a template of a source (`x.cu.in`)."""
    if suffix == ".in":
        return posixpath.splitext(path[: -len(suffix)])[1].lower() in C_FAMILY
    return suffix in _OTHER_LANGUAGES


def _holds(full: Path, word: re.Pattern[bytes]) -> bool:
    try:
        return word.search(full.read_bytes()) is not None
    except OSError:
        return False


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
