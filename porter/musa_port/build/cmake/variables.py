"""Variables of CMake and of the CUDA modules, options of the project, and what is in no table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from musa_port.build.cmake import standards, tables
from musa_port.build.cmake.file import CMakeFile, Command
from musa_port.mappings import Row
from musa_port.model import Severity
from musa_port.names import BUILD_FLAGS
from musa_port.rules import Rule, register

VARIABLE = register(
    Rule(
        "B16",
        "cmake-variable",
        Severity.INFO,
        "Renames the variables that CMake and the modules of CUDA set or read.",
        example=("include_directories(${CUDA_INCLUDE_DIRS})", "include_directories(${MUSA_INCLUDE_DIRS})"),
        advice="Check what the modules of your SDK call it.",
        evidence="libraries.csv, kind cmake",
    )
)
VERSION = register(
    Rule(
        "B17",
        "cmake-version-test",
        Severity.WARNING,
        "Reports comparisons with a version of the toolkit or its compiler; the number stays.",
        why="MUSA counts on another scale, so the same number asks for something else.",
        example=("if(CUDA_VERSION VERSION_LESS 11.0)", "if(MUSA_VERSION VERSION_LESS 11.0)"),
        advice="Ask for what the branch needs, or write the version of MUSA that has it.",
    )
)
LOOK = register(
    Rule(
        "B20",
        "cmake-look-at",
        Severity.WARNING,
        "Lists variables, targets, functions and languages with a CUDA word that are in no table.",
        why="They are not guessed.",
        example=("link_libraries(${CUDA_nppc_LIBRARY})", "link_libraries(${CUDA_nppc_LIBRARY})"),
        advice="Look at what the build uses it for.",
    )
)
OPTION = register(
    Rule(
        "B21",
        "cmake-project-option",
        Severity.INFO,
        "Leaves USE_CUDA and WITH_CUDA, which are the project's own (--rename-project-names moves them).",
        example=("option(USE_CUDA ON)", "option(USE_CUDA ON)"),
        advice="Build the port with the option on.",
    )
)

_VERSION = re.compile(
    r"(CUDAToolkit_VERSION|CUDA_VERSION|CMAKE_CUDA_COMPILER_(TOOLKIT_)?VERSION|CUDNN_VERSION|NCCL_VERSION)"
    r"(_MAJOR|_MINOR|_PATCH|_STRING)?"
)
_COMPARISON = re.compile(r"(VERSION_)?(LESS|GREATER|EQUAL)(_EQUAL)?|STREQUAL|MATCHES")
#: Variables of CMake and its modules, by their first word.
_RESERVED = re.compile(r"(CMAKE_CUDA|CUDAToolkit)_\w+")
_SUSPECT = re.compile(r"(CUDA|CUDNN|NCCL|NVSHMEM|CUSPARSELT|CUTENSOR|NVTX)_\w+")
_FOREIGN_TARGET = re.compile(r"(?<!\w)(?<!::)(?!CUDA::)\w+::\w+")
_CUDA_WORD = re.compile(r"cuda|nccl|cudnn|nvshmem|nvtx|cutlass", re.I)


def apply(file: CMakeFile) -> None:
    """Decide everything that is a name."""
    for command in file.named("set"):
        standards.guard(file, command)
    for command in file.commands:
        if command.is_condition:
            _version_test(file, command)
        for name, start, end in _names(command):
            _variable(file, name, start, end, command.is_condition)
        _options(file, command)
        if not command.is_text:
            _foreign(file, command)


# ---- variables --------------------------------------------------------------------------------------------------


@cache
def _rows() -> dict[str, Row]:
    """The table, and what find_package sets and reads for every package."""
    rows: dict[str, Row] = {}
    for package, row in tables.packages().items():
        new = tables.package_names(row)[0]
        for suffix in ("_FOUND", "_DIR", "_ROOT") if new != package else ():
            rows[package + suffix] = row._replace(cuda=package + suffix, musa=new + suffix, note="")
    return rows | tables.variables()


def _names(command: Command) -> Iterator[tuple[str, int, int]]:
    """The variables that a command names, with or without `${}` around them."""
    for argument in command.arguments:
        yield from argument.references()
        if argument.is_bare and not command.is_text and re.fullmatch(r"\w+", argument.text):
            yield argument.text, argument.start, argument.end


def _variable(file: CMakeFile, name: str, start: int, end: int, in_condition: bool) -> None:
    if file.draft.is_claimed(start):
        return
    row = _rows().get(name)
    if row is not None and not file.owns_package(name.split("_")[0]):
        _rename(file, start, end, row)
    elif row is None and (_RESERVED.fullmatch(name) or _is_foreign(file, name, start, in_condition)):
        look(file, start, end, name)


def _is_foreign(file: CMakeFile, name: str, start: int, in_condition: bool) -> bool:
    """Whether a variable is read at `start` that the file does not set; elsewhere a bare word may be anything."""
    is_read = in_condition or file.draft.data[start - 1 : start] == b"{"
    return is_read and _SUSPECT.fullmatch(name) is not None and name not in file.variables


def _rename(file: CMakeFile, start: int, end: int, row: Row) -> None:
    if row.cuda in file.draft.names.keep:
        return
    if not file.draft.names.allowed(row):
        message = f"{row.cuda} is left: confidence {row.confidence} is below --min-confidence"
        file.draft.report(
            "cmake-variable", start, end, message, name=row.cuda, once=row.cuda, severity=Severity.WARNING
        )
        return
    file.draft.edit(start, end, row.musa, "cmake-variable", row.confidence)
    weak = row.confidence in ("low", "medium-low")
    if row.note or weak:
        evidence = f" on weak evidence (confidence {row.confidence})" if weak else ""
        message = f"{row.cuda} became {row.musa}{evidence}" + (f": {row.note}" if row.note else "")
        file.draft.report("cmake-variable", start, end, message, new=row.musa, name=row.cuda, once=row.cuda)


def look(file: CMakeFile, start: int, end: int, name: str) -> None:
    """List a name that stays as it is."""
    message = f"{name} is left as it is"
    file.draft.report("cmake-look-at", start, end, message, name=name, once=name)
    file.draft.claim(start, end)


def _version_test(file: CMakeFile, command: Command) -> None:
    if not any(_COMPARISON.fullmatch(word) for word in command.words()):
        return
    for argument in command.arguments:
        names = [argument.text] if argument.is_bare else []
        names += [name for name, _, _ in argument.references()]
        found = next((name for name in names if _VERSION.fullmatch(name)), None)
        if found:
            message = f"a comparison of {found}, which MUSA counts otherwise; the number is left"
            file.draft.report("cmake-version-test", argument.start, argument.end, message, name=found)
            if found not in _rows():
                for name, start, end in ((argument.text, argument.start, argument.end), *argument.references()):
                    if name == found:
                        file.draft.claim(start, end)


# ---- options, and what belongs to others ---------------------------------------------------------------------------


def _options(file: CMakeFile, command: Command) -> None:
    for name, start, end in _names(command):
        if name not in BUILD_FLAGS or file.draft.is_claimed(start):
            continue
        if file.draft.options.rename_project_names:
            file.draft.edit(start, end, name.replace("CUDA", "MUSA"), "cmake-project-option")
        else:
            message = f"{name} is left: it is the project's own"
            file.draft.report("cmake-project-option", start, end, message, name=name, once=name)


def _foreign(file: CMakeFile, command: Command) -> None:
    """Targets, languages and settings of other projects that have to do with CUDA."""
    previous = ""
    for argument in command.arguments:
        for match in _FOREIGN_TARGET.finditer(argument.text):
            start = argument.start + match.start()
            known = match.group() in file.targets or file.draft.is_claimed(start)
            if not known and _CUDA_WORD.search(match.group()):
                look(file, start, argument.start + match.end(), match.group())
        if (
            argument.text == "CUDA"
            and previous in ("LANGUAGE", "LANGUAGES")
            and not file.draft.is_claimed(argument.start)
        ):
            look(file, argument.start, argument.end, f"{previous} CUDA")
        setting = re.match(r"-D((?:CMAKE_CUDA|CUDA|CUDAToolkit)_\w+)[:=]", argument.text)
        if setting and not file.draft.is_claimed(argument.start + 2):
            look(file, argument.start + setting.start(1), argument.start + setting.end(1), setting.group(1))
        previous = argument.text
