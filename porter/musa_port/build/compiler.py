"""nvcc on command lines: the program, its flags, and the sources that any command names."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from musa_port import flags, renames
from musa_port.build import flag_words
from musa_port.build.fragment import Fragment
from musa_port.model import Severity
from musa_port.options import RENAMED
from musa_port.rules import Rule, register

COMPILER = register(
    Rule(
        "B44",
        "compiler-command",
        Severity.INFO,
        "Calls mcc where a script calls nvcc; its flags follow the table.",
        why="The two take different flags, and what mcc --version prints is not what nvcc --version prints.",
        example=("nvcc -O3 -c main.cpp", "mcc -O3 -c main.cpp"),
        advice="Compile once by hand and compare.",
        evidence="compiler_flags.csv",
    )
)
SOURCE = register(
    Rule(
        "B45",
        "source-in-script",
        Severity.INFO,
        "Makes a path or a glob in a script follow the sources that this run renames.",
        example=("clang-format -i csrc/*.cu", "clang-format -i csrc/*.mu"),
        advice="Check which file is meant.",
    )
)


def rename(word: Fragment) -> None:
    """The word `nvcc`, alone or as the last part of a path."""
    row = flags.tool("nvcc")
    start = len(word.text) - len("nvcc")
    if row is None or not word.draft.names.allowed(row):
        return
    if word.edit(start, len(word.text), row.musa, "compiler-command", row.confidence):
        note = f": {row.note}" if row.note else ""
        message = f"nvcc became {row.musa}{note}"
        word.report("compiler-command", start, len(word.text), message, new=row.musa, name="nvcc", once="nvcc")


def options(words: Sequence[Fragment], *, host: bool = False, fixed: bool = False) -> None:
    """Translate flags. Words with quotes or escapes inside them stay; in a fixed list all stay, and are reported."""
    if fixed:
        _report_flags(words, host)
        return
    runs: list[list[Fragment]] = [[]]
    for word in words:
        if word.text and word.is_plain(0, len(word.text)):
            runs[-1].append(word)
        else:
            runs.append([])
    for run in filter(None, runs):
        flag_words.translate(run[0].draft, [_as_flag(word) for word in run], host=host)


def _report_flags(words: Sequence[Fragment], host: bool) -> None:
    texts = [word.text for word in words]
    archs = words[0].draft.options.arch if words else ()
    for entry in flags.translate(texts, archs, host=host):
        old, new = texts[entry.start : entry.start + entry.count], " ".join(entry.new)
        if list(entry.new) != old:
            message = f"{' '.join(old)} is left; mcc takes {new or 'no such flag'}"
            word = words[entry.start]
            word.report("compiler-flag", 0, len(word.text), message, name=word.text)


def _as_flag(word: Fragment) -> flag_words.Word:
    start, end = word.place(0, len(word.text))
    data = word.draft.data
    quoted = data[start - 1 : start] in (b'"', b"'") and data[start - 1 : start] == data[end : end + 1]
    return flag_words.Word(start, end, word.text, (start - 1, end + 1) if quoted else (start, end))


def version(words: Sequence[Fragment]) -> None:
    """Report that somebody asks nvcc for its version."""
    for word in words:
        if word.text in ("--version", "-V"):
            message = "what mcc --version prints differs from what nvcc --version prints"
            word.report("compiler-command", 0, len(word.text), message, severity=Severity.WARNING, name="nvcc")


def source(word: Fragment) -> None:
    """A word that names a source of the tree, or a glob of them."""
    text = word.text
    suffix = posixpath.splitext(text)[1]
    if suffix not in RENAMED:
        return
    end = len(text)
    new = renames.new_name(word.draft.index, word.draft.path, text)
    if new == text:
        word.draft.claim(*word.place(end - len(suffix), end))
    elif new is not None and new.startswith(text[: end - len(suffix)]):
        word.edit(end - len(suffix), end, posixpath.splitext(new)[1], "source-in-script")


def kept_source(word: Fragment) -> None:
    """A source that mcc is given under the suffix of CUDA."""
    draft = word.draft
    if word.text.endswith(".cu") and renames.new_name(draft.index, draft.path, word.text) == word.text:
        message = f"{word.text} keeps its name: mcc takes it for CUDA code only with -x musa"
        word.report("source-in-script", 0, len(word.text), message, severity=Severity.WARNING, name=word.text)
