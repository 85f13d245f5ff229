"""CMake files: CMakeLists.txt and modules."""

from __future__ import annotations

import re

from musa_port import languages
from musa_port.build import traces
from musa_port.build.cmake import (
    environment,
    expressions,
    flags,
    functions,
    packages,
    project_languages,
    properties,
    sources,
    standards,
    targets,
    toolkit,
    variables,
)
from musa_port.build.cmake.file import TOOLKIT_MODULES, CMakeFile, Command, parse
from musa_port.build.cmake.packages import Modules
from musa_port.draft import Draft
from musa_port.model import Severity
from musa_port.rules import Rule, register

SYNTAX = register(
    Rule(
        "B22",
        "cmake-syntax",
        Severity.WARNING,
        "Leaves a CMake file from the first place on that is no CMake.",
        advice="Check the quotes and parentheses before that place; port the rest by hand.",
    )
)
READY = register(
    Rule(
        "B23",
        "cmake-has-musa",
        Severity.INFO,
        "Leaves a CMake file that is written for MUSA already; only sources that this run renames get their new names.",
        why="Whoever wrote them has decided how the project is built for MUSA.",
        example=(
            "if(USE_MUSA)\n  include(musa.cmake)\nelse()\n  enable_language(CUDA)\nendif()",
            "if(USE_MUSA)\n  include(musa.cmake)\nelse()\n  enable_language(CUDA)\nendif()",
        ),
    )
)

COPY = register(
    Rule(
        "B24",
        "cmake-copied-module",
        Severity.INFO,
        "Leaves a copy of CMake's own FindCUDA or FindCUDAToolkit.",
        why="The port looks for the module of the MUSA SDK.",
    )
)

_MUSA = re.compile(r"MUSA|(?<![A-Za-z])musa")


def port(draft: Draft) -> None:
    """Decide a CMake file."""
    file = parse(draft)
    if file.error >= 0:
        line = draft.lines.number(file.error)
        draft.report("cmake-syntax", file.error, file.error, f"not understood from line {line} on; the rest is left")
    module = re.search(r"(?:^|/)Find(\w+)\.cmake$", draft.path)
    if module and module.group(1) in TOOLKIT_MODULES:
        draft.report("cmake-copied-module", 0, 0, "left alone: the module of the MUSA SDK takes its place")
    elif ready := next((command for command in file.commands if _is_for_musa(command)), None):
        _follow_renames(file, ready)
    else:
        _decide(file)


def _decide(file: CMakeFile) -> None:
    """Every rule; text that one has decided is left by those after it."""
    modules = Modules(file)
    expressions.apply(file)
    project_languages.apply(file, modules)
    packages.apply(file, modules)
    sources.apply(file)
    properties.apply(file)
    flags.apply(file)
    targets.apply(file)
    functions.apply(file)
    variables.apply(file)
    environment.apply(file)
    toolkit.apply(file)
    modules.write()
    file.write_insertions("cmake-package")


def _is_for_musa(command: Command) -> bool:
    """Whether somebody wrote the command for MUSA: a condition, a package, or a function of the SDK or of ours."""
    if command.is_condition:
        return any(_MUSA.search(word) for word in command.words())
    package = command.words()[:1] if command.name in ("find_package", "find_dependency") else []
    return command.name.startswith("musa_") or any(word.upper().startswith("MUSA") for word in package)


def _follow_renames(file: CMakeFile, command: Command) -> None:
    sources.rename(file)
    message = "the file is written for MUSA already and is left alone"
    file.draft.report("cmake-has-musa", command.start, command.name_end, message)


languages.register(
    languages.Language(
        "cmake", "cmake", ("CMakeLists.txt", "CMakeLists.txt.in", "*.cmake", "*.cmake.in"), port, notes=standards.notes, traces=traces.found
    )
)
