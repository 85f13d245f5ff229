"""-D definitions on the command lines of CMake."""

from __future__ import annotations

import re
from collections.abc import Sequence

from musa_port import flags
from musa_port.build import compiler, toolkit, values
from musa_port.build.cmake import tables as cmake_tables
from musa_port.build.fragment import Fragment
from musa_port.model import Severity
from musa_port.names import BUILD_FLAGS
from musa_port.rules import Rule, register

DEFINITION = register(
    Rule(
        "B48",
        "cmake-definition",
        Severity.WARNING,
        "Renames the variables that -D gives to CMake, and translates the architectures among them.",
        why="The CMake files are ported in the same run: they read the new names.",
        example=("cmake -B build -DCMAKE_CUDA_ARCHITECTURES=80", "cmake -B build -DMUSA_ARCHITECTURES=22"),
        advice="Write the definition that the ported CMake files read.",
        evidence="libraries.csv, kind cmake",
    )
)

_DEFINITION = re.compile(r"(?:-D)?(\w+)(?::\w+)?=(.*)", re.S)
_SUSPECT = re.compile(r"cuda|nvcc|cudnn|nccl", re.I)
_ARCHITECTURES = frozenset({"CMAKE_CUDA_ARCHITECTURES", "TORCH_CUDA_ARCH_LIST"})


def decide(words: Sequence[Fragment]) -> None:
    """The words after `cmake`."""
    for index, word in enumerate(words):
        if word.text.startswith("-D") or (index and words[index - 1].text == "-D"):
            definition(word)


def definition(word: Fragment) -> None:
    """A definition `-DNAME=VALUE` or `NAME=VALUE`."""
    match = _DEFINITION.fullmatch(word.text)
    if match:
        variable(word.part(*match.span(1)), word.part(*match.span(2)))


def variable(name: Fragment, value: Fragment) -> None:
    """A variable of CMake and its value."""
    old, end, draft = name.text, len(name.text), name.draft
    row = cmake_tables.variables().get(old)
    if old in draft.names.keep:
        return
    if old in BUILD_FLAGS:
        _project_flag(name)
    elif row is not None and row.supported and draft.names.allowed(row) and re.fullmatch(r"\w+", row.musa):
        if not _value(old, value):
            return
        if name.edit(0, end, row.musa, "cmake-definition", row.confidence) and (row.note or row.flag):
            message = f"{old} became {row.musa}: {row.note}"
            name.report("cmake-definition", 0, end, message, severity=Severity.INFO, new=row.musa, name=old, once=old)
    elif _SUSPECT.search(old):
        name.report(
            "cmake-definition", 0, end, f"{old} is in no table and stays", severity=Severity.INFO, name=old, once=old
        )
        draft.claim(*name.place(0, end))


def _project_flag(name: Fragment) -> None:
    end = len(name.text)
    if name.draft.options.rename_project_names:
        name.edit(0, end, name.text.replace("CUDA", "MUSA"), "project-name")
        return
    message = f"{name.text} is left: the project's build defines it (--rename-project-names moves it)"
    name.report("cmake-definition", 0, end, message, severity=Severity.INFO, name=name.text, once=name.text)
    name.draft.claim(*name.place(0, end))


def _value(name: str, value: Fragment) -> bool:
    """Translate the value; False when it is for CUDA and not understood, so that the definition has to stay."""
    end = len(value.text)
    if name in _ARCHITECTURES:
        new = None if "$" in value.text else flags.architecture_text(value.text, value.draft.options.arch)
        if new is None:
            message = f"{name}={value.text} is left: not every architecture has a known counterpart"
            value.report("cmake-definition", 0, end, message, severity=Severity.ERROR, name=name)
            return False
        return value.edit(0, end, new, "cmake-definition")
    if name.endswith("FLAGS"):
        compiler.options(values.words(value))
    elif value.text.endswith("nvcc") and value.text in ("nvcc", "/usr/local/cuda/bin/nvcc"):
        compiler.rename(value)
    toolkit.paths(value)
    return True
