"""Variables of the environment, folders of the toolkit and the project's switches in makefiles."""

from __future__ import annotations

import re

from musa_port import flags
from musa_port.build import compiler, environment, toolkit_paths, values
from musa_port.build.fragment import Fragment
from musa_port.build.make.file import MakeFile
from musa_port.build.make.lexer import Line, Word
from musa_port.model import Severity
from musa_port.names import BUILD_FLAGS
from musa_port.rules import Rule, register

VARIABLE = register(
    Rule(
        "B31",
        "make-variable",
        Severity.INFO,
        "Renames variables of the environment, such as CUDA_HOME, wherever the makefile names them.",
        why="make takes them from the environment, where the MUSA SDK sets its own.",
        example=("CUDA_HOME ?= /usr/local/cuda", "MUSA_HOME ?= /usr/local/musa"),
        advice="Set the MUSA variable, in the environment or on the command line of make.",
        evidence="env.csv",
    )
)
LOOK = register(
    Rule(
        "B32",
        "make-look-at",
        Severity.WARNING,
        "Lists libraries with a CUDA word that are in no table, and variables that come from elsewhere.",
        why="They are not guessed.",
        example=("LIBS = -lcublasXt", "LIBS = -lcublasXt"),
        advice="Look at what the build uses it for.",
    )
)

_LIBRARY = re.compile(r"-l(?:cu|nv|nccl)\w*")
#: A variable of the environment that is set for a program: `NAME=value`, `NAME="some value"`.
_SET = re.compile(r"""(?<![\w$.-])([A-Z]\w*)=(?:"([^"]*)"|'([^']*)'|([^\s"';&|]+))""")
#: Decided with the compiler.
_COMPILER = frozenset({"NVCC"})


def apply(file: MakeFile) -> None:
    """Decide names, then paths."""
    for name, row in file.draft.names.environment.items():
        if name not in file.text or not re.fullmatch(r"\w+", name) or name in _COMPILER | file.draft.names.keep:
            continue
        places = [*file.places(name), *file.shell_places(name)]
        if name in BUILD_FLAGS and not file.draft.options.rename_project_names:
            _leave(file, places, name)
        elif places and (reason := environment.kept(file.draft, name)):
            message = f"{name} is left: a makefile of the tree {reason}"
            file.draft.report("make-variable", *places[0], message, name=name)
        elif not row.supported:
            note = f": {row.note}" if row.note else ""
            for place in places[:1]:
                message = f"{name} has no MUSA counterpart{note}"
                file.draft.report("make-variable", *place, message, severity=Severity.WARNING, name=name)
        elif file.draft.names.allowed(row):
            for place in places:
                file.draft.edit(*place, row.musa, "make-variable", row.confidence)
    for line in file.lines:
        _values(file, line)
        for span in (line.name, line.value):
            toolkit_paths.rewrite(file.draft, *span)
            toolkit_paths.rewrite_below(file.draft, *span)
        for call in file.calls(line):
            for word in () if call.speaks else call.words:
                _library(file, word)


def _values(file: MakeFile, line: Line) -> None:
    """Architectures and devices that variables hold: of make, and those that a recipe sets for a program."""
    if line.kind == "assignment":
        _value(file, file.name(line), *line.value)
    elif line.kind == "recipe":
        for match in _SET.finditer(file.text, *line.value):
            start, end = match.span(match.lastindex or 0)
            if flags.is_for_nvcc(file.text[start:end]):
                text = Fragment(file.draft, file.text[start:end], range(start, end))
                compiler.options(values.words(text))
            _value(file, match.group(1), start, end)


def _value(file: MakeFile, name: str, start: int, end: int) -> None:
    text = Fragment(file.draft, file.text[start:end], range(start, end))
    if name in values.ARCHITECTURES:
        values.architectures(text, name)
    else:
        values.programs(text, name)


def _leave(file: MakeFile, places: list[tuple[int, int]], name: str) -> None:
    for place in places:
        file.draft.report("make-variable", *place, f"{name} is left: it is the project's own", name=name, once=name)


def _library(file: MakeFile, word: Word) -> None:
    if _LIBRARY.fullmatch(word.text) and not file.draft.is_claimed(word.start):
        name = word.text
        file.draft.report("make-look-at", word.start, word.end, f"{name} is left as it is", name=name, once=name)
