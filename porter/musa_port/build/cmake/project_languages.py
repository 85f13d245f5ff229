"""The language CUDA in project(), enable_language() and check_language()."""

from __future__ import annotations

from musa_port.build import flag_words
from musa_port.build.cmake.file import Argument, CMakeFile, Command
from musa_port.build.cmake.packages import Modules
from musa_port.build.cmake.values import assignments, sources_of
from musa_port.model import Severity
from musa_port.rules import Rule, register

LANGUAGE = register(
    Rule(
        "B6",
        "cmake-language",
        Severity.WARNING,
        "Takes the language CUDA out of the project, and looks for the MUSA package that compiles device sources.",
        why="Stock CMake knows no language MUSA. musa_add_library and musa_add_executable of the SDK's module compile "
        "device sources; C++ sources with `-x musa` are for projects whose C++ compiler is mcc.",
        example=("project(x LANGUAGES CXX CUDA)", "project(x LANGUAGES CXX)"),
        advice="Check that every target with device sources is made by musa_add_*, or that CMAKE_CXX_COMPILER is mcc.",
        evidence="libraries.csv, project(...), enable_language(CUDA)",
    )
)

_PROJECT_KEYWORDS = frozenset("VERSION DESCRIPTION HOMEPAGE_URL LANGUAGES COMPAT_VERSION SPDX_LICENSE".split())
_MESSAGE = "CUDA is no language of the port; musa_add_library and musa_add_executable compile its device sources"


def apply(file: CMakeFile, modules: Modules) -> None:
    """Decide each call."""
    for command in file.named("project"):
        _project(file, command, modules)
    for command in file.named("enable_language"):
        _enable(file, command, modules)
    for command in file.named("check_language"):
        _check(file, command, modules)


def _project(file: CMakeFile, command: Command, modules: Modules) -> None:
    languages = _project_languages(command)
    _follow_variables(file, languages)
    if _leave_out(file, languages):
        _find_musa(file, command, modules)


def _project_languages(command: Command) -> list[Argument]:
    """The arguments that are languages: those after LANGUAGES, or, in the short form, all after the name."""
    if "LANGUAGES" in command.words():
        return command.after("LANGUAGES", _PROJECT_KEYWORDS)
    short = command.arguments[1:]
    ends = (index for index, argument in enumerate(short) if argument.text in _PROJECT_KEYWORDS)
    return short[: next(ends, len(short))]


def _leave_out(file: CMakeFile, languages: list[Argument]) -> bool:
    """Remove CUDA from a list of languages, or write CXX in its place; whether it was there."""
    found = [argument for argument in languages if argument.text == "CUDA"]
    if not found:
        return False
    for argument in found:
        others = any(other.text == "CXX" or "$" in other.text for other in languages)
        file.draft.report("cmake-language", argument.start, argument.end, _MESSAGE, once="language")
        if others:
            flag_words.remove(file.draft, *argument.outer, "cmake-language")
        else:
            file.draft.edit(argument.start, argument.end, "CXX", "cmake-language")
    return True


def _follow_variables(file: CMakeFile, languages: list[Argument]) -> None:
    """Take CUDA out of the variables that hold languages."""
    names = sources_of(file, [name for argument in languages for name, _, _ in argument.references()])
    for entry in assignments(file):
        if entry.variable.text not in names:
            continue
        for value in entry.values:
            if value.text == "CUDA" and not file.draft.is_claimed(value.start):
                file.draft.report("cmake-language", value.start, value.end, _MESSAGE, once="language")
                flag_words.remove(file.draft, *value.outer, "cmake-language")


def _find_musa(file: CMakeFile, command: Command, modules: Modules) -> None:
    """Load the module with musa_add_*, if the tree has device sources and the file does not look for CUDA itself."""
    if any(path.endswith(".cu") for path in file.draft.index.files) and not _finds_cuda(file):
        file.insert_after(command, "find_package(MUSA REQUIRED)")
        modules.need(command, after=True)


def _finds_cuda(file: CMakeFile) -> bool:
    return any(command.words()[:1] in (["CUDA"], ["MUSA"]) for command in file.named("find_package"))


def _enable(file: CMakeFile, command: Command, modules: Modules) -> None:
    languages = [argument for argument in command.arguments if argument.text != "OPTIONAL"]
    _follow_variables(file, languages)
    if [argument.text for argument in languages] != ["CUDA"] or _finds_cuda(file):
        if _leave_out(file, languages):
            _find_musa(file, command, modules)
        return
    required = "" if "OPTIONAL" in command.words() else " REQUIRED"
    file.draft.report("cmake-language", command.start, command.name_end, _MESSAGE, once="language")
    file.draft.edit(command.start, command.end, f"find_package(MUSA{required})", "cmake-language")
    modules.need(command)


def _check(file: CMakeFile, command: Command, modules: Modules) -> None:
    """check_language(CUDA) looks for the toolkit now, and what asks for its result asks for the toolkit."""
    if command.words() != ["CUDA"]:
        return
    file.draft.edit(command.start, command.end, "find_package(MUSAToolkit QUIET)", "cmake-language")
    modules.need(command)
    for condition in file.commands:
        if not condition.is_condition:
            continue
        for argument in condition.arguments:
            if argument.is_bare and argument.text == "CMAKE_CUDA_COMPILER":
                file.draft.edit(argument.start, argument.end, "MUSAToolkit_FOUND", "cmake-language")
