"""Device sources: their new names, the commands that make targets of them, and their language."""

from __future__ import annotations

import re
from typing import NamedTuple

from musa_port import renames
from musa_port.build.cmake import tables
from musa_port.build.cmake.file import Argument, CMakeFile, Command
from musa_port.build.cmake.values import holders_of, holds
from musa_port.model import Severity
from musa_port.rules import Rule, register

TARGET = register(
    Rule(
        "B7",
        "cmake-device-target",
        Severity.INFO,
        "Makes targets with device sources by musa_add_library and musa_add_executable.",
        why="CMake ignores sources whose language it does not know.",
        example=("add_library(k STATIC a.cu)", "musa_add_library(k STATIC a.mu)"),
        advice="Targets of FindCUDA, which musa_add_* follow, are linked without PUBLIC and PRIVATE: check the module "
        "of your SDK. Where sources get `-x musa` instead, CMAKE_CXX_COMPILER must be mcc.",
        evidence="libraries.csv, add_library (with .cu sources)",
    )
)
SOURCE = register(
    Rule(
        "B8",
        "renamed-source",
        Severity.INFO,
        "Makes the build files name sources as this run names them.",
        why="Paths and globs are looked up in the tree; one that names nothing there stays, with a finding.",
        example=("set(SOURCES a.cu b.cpp)", "set(SOURCES a.mu b.cpp)"),
        advice="Write the name that the source has in the build.",
    )
)
LANGUAGE = register(
    Rule(
        "B9",
        "cmake-source-language",
        Severity.WARNING,
        "Makes sources whose language was CUDA C++ sources that are compiled as MUSA.",
        example=(
            "set_source_files_properties(a.cpp PROPERTIES LANGUAGE CUDA)",
            'set_source_files_properties(a.cpp PROPERTIES LANGUAGE CXX COMPILE_FLAGS "-x musa")',
        ),
        advice="CMAKE_CXX_COMPILER must be mcc, or the clang++ of the SDK.",
        evidence="libraries.csv, set_source_files_properties(...)",
    )
)

_DEVICE = re.compile(r"[^\s\"]*\.[cm]u")
_SOURCE = re.compile(r"[^\s\"\\^|]*\.cuh?")
_PATTERN = re.compile(r"\.cuh?\b")
_PATTERN_WORDS = frozenset({"REGEX", "MATCHES", "REPLACE", "PATTERN", "FILTER"})
_EXPANSION = re.compile(r"\$\{[^}]*\}")
#: Kinds of targets that have no sources of their own to compile.
_NO_SOURCES = frozenset({"IMPORTED", "ALIAS", "INTERFACE"})
#: Commands besides add_library that take sources.
_OTHERS = re.compile(r"target_sources|(pybind11|nanobind|python3?)_add_(module|library)")
#: Names of functions of a project that make targets.
_MAKES_TARGET = re.compile(r"add|target|library|executable|module|extension")
_OTHER_PLATFORM = re.compile(r"hip|rocm|sycl")
#: Commands whose arguments are no list of sources for a target.
_NEUTRAL = frozenset(
    "set list string file foreach if elseif while message install configure_file source_group set_property return "
    "set_source_files_properties get_filename_component add_custom_command add_custom_target execute_process "
    "cmake_parse_arguments cuda_compile cuda_add_library cuda_add_executable musa_add_library musa_add_executable "
    "musa_port_sources set_target_properties cmake_path include option function macro unset math project".split()
)


class Sources(NamedTuple):
    """What the file knows about its sources.

    device   the variables that hold device sources
    mixed    the variables that hold anything else
    settled  what gets a LANGUAGE by set_source_files_properties
    """

    device: frozenset[str]
    mixed: frozenset[str]
    settled: frozenset[str]


def apply(file: CMakeFile) -> None:
    """Targets first, while the names are the old ones."""
    known = _sources(file)
    for command in file.commands:
        _decide_target(file, command, known)
    for command in file.named("set_source_files_properties", "set_property", "set_target_properties"):
        _decide_language(file, command)
    rename(file)


def _sources(file: CMakeFile) -> Sources:
    properties = [other for other in file.named("set_source_files_properties") if "LANGUAGE" in other.words()]
    settled = {text for other in properties for word in other.arguments for text, _, _ in word.pieces()}
    mixed = holders_of(file, lambda held: not _is_device(held) and "$" not in held)
    return Sources(holders_of(file, _is_device), mixed, frozenset(settled))


def _is_device(text: str) -> bool:
    return _DEVICE.fullmatch(text) is not None


# ---- targets ----------------------------------------------------------------------------------------------------


def _decide_target(file: CMakeFile, command: Command, known: Sources) -> None:
    open_arguments = (argument for argument in command.arguments[1:] if not file.is_decided(argument))
    sources = [argument for argument in open_arguments if holds(argument, known.device, _is_device)]
    row = tables.device_targets().get(command.name)
    if not sources or command.name in _NEUTRAL or _NO_SOURCES & set(command.words()[1:2]):
        return
    if row is not None and "OBJECT" not in command.words()[1:2]:
        place = command.start, command.name_end
        file.draft.edit(*place, row.musa, "cmake-device-target", row.confidence)
        if not file.draft.options.rename_ext:
            message = f"{row.musa} is given .cu files: whether it takes them for MUSA is not known"
            severity = Severity.WARNING
            file.draft.report("cmake-device-target", *place, message, severity=severity, name=row.musa, once="suffix")
    elif row is not None or _OTHERS.fullmatch(command.name):
        _compile_as_musa(file, command, sources, known)
    elif _MAKES_TARGET.search(command.name) and not _OTHER_PLATFORM.search(command.name):
        message = f"{command.name} gets device sources: the target that it makes must come from musa_add_*"
        place = command.start, command.name_end
        file.draft.report(
            "cmake-device-target", *place, message, severity=Severity.WARNING, name=command.name, once=command.name
        )


def _compile_as_musa(file: CMakeFile, command: Command, sources: list[Argument], known: Sources) -> None:
    """Add the properties that make C++ of the device sources of a target that musa_add_* cannot make."""
    pieces = (text for argument in sources for text, _, _ in argument.pieces() if text not in known.settled)
    missing = [text for text in dict.fromkeys(pieces) if _is_device(text) or _expands(text, known.device)]
    if not missing:
        return
    start, end = command.start, command.name_end
    if not all(text.isascii() and (_is_device(text) or _is_pure(text, known)) for text in missing):
        message = f"{command.name} gets device sources among others; CMake does not know how to compile them"
        file.draft.report("cmake-device-target", start, end, message, severity=Severity.ERROR, name=command.name)
        return
    names = " ".join(_renamed(file, text) or text if _is_device(text) else text for text in missing)
    setting = tables.source_language().musa.partition(" PROPERTIES ")[2]
    file.insert_after(command, f"set_source_files_properties({names} PROPERTIES {setting}")
    message = f"the device sources of {command.name} are compiled as C++ with -x musa: CMAKE_CXX_COMPILER must be mcc"
    file.draft.report("cmake-device-target", start, end, message, severity=Severity.WARNING, name=command.name)


def _expands(text: str, variables: frozenset[str]) -> bool:
    return any(name in variables for name in re.findall(r"\$\{([^{}]+)\}", text))


def _is_pure(text: str, known: Sources) -> bool:
    """Whether the text is a variable that holds device sources and nothing else."""
    match = re.fullmatch(r"\$\{([^{}]+)\}", text)
    return match is not None and match.group(1) in known.device - known.mixed


# ---- languages --------------------------------------------------------------------------------------------------


def _decide_language(file: CMakeFile, command: Command) -> None:
    words = command.words()
    for index in range(len(words) - 1):
        value = command.arguments[index + 1]
        if value.text != "CUDA" or words[index] not in ("LANGUAGE", "LINKER_LANGUAGE"):
            continue
        message = "MUSA is no language of CMake"
        if words[index] == "LINKER_LANGUAGE":
            new = "CXX"
        elif command.name == "set_source_files_properties" and "COMPILE_FLAGS" not in words:
            new = tables.source_language().musa.partition(" LANGUAGE ")[2].rstrip(")")
            message += ": the sources are C++ with -x musa now"
        else:
            new = "CXX"
            message += ": give the sources -x musa in their COMPILE_OPTIONS"
        file.draft.edit(*value.outer, new, "cmake-source-language")
        file.draft.report("cmake-source-language", value.start, value.end, message, new=new)


# ---- names ------------------------------------------------------------------------------------------------------


def rename(file: CMakeFile) -> None:
    """Write the new names of sources wherever the file names them."""
    unknown: list[tuple[str, int, int]] = []
    for command in file.commands:
        for argument in () if command.is_text else command.arguments:
            for text, start, end in argument.pieces():
                if file.draft.is_claimed(start):
                    continue
                if not _SOURCE.fullmatch(text):
                    _report_pattern(file, command, text, start, end)
                elif not _rename_piece(file, text, start, end):
                    unknown.append((text, start, end))
    if unknown:
        text, start, end = unknown[0]
        others = f", and {len(unknown) - 1} more names of sources are" if len(unknown) > 1 else " is"
        message = f"{text}{others} left: the tree has no such file"
        file.draft.report("renamed-source", start, end, message, severity=Severity.WARNING, name=text)


def _rename_piece(file: CMakeFile, text: str, start: int, end: int) -> bool:
    """Write the new name of one source; whether the tree has it. A glob need not match anything."""
    new = _renamed(file, text)
    if new is not None and new != text:
        # Only what is ASCII can be written back: the file may have any encoding.
        kept = 0 if text.isascii() else len(text.rpartition(".")[0])
        file.draft.edit(start + kept, end, new[kept:], "renamed-source")
    return new is not None or "*" in text


def _report_pattern(file: CMakeFile, command: Command, text: str, start: int, end: int) -> None:
    """Report a regular expression, or a pattern for names of files, that asks for the old suffix."""
    is_pattern = _PATTERN_WORDS & set(command.words()) and not re.search(r"[\s/]", text)
    renames_any = any(old != new for old, new in file.draft.index.files.items())
    if _PATTERN.search(text) and is_pattern and renames_any:
        message = "this pattern names sources by the suffix that they had before"
        file.draft.report("renamed-source", start, end, message, severity=Severity.WARNING)


def _renamed(file: CMakeFile, text: str) -> str | None:
    """The new name of a source; names with variables inside count as patterns."""
    decoded = text.encode("latin-1").decode("utf-8", "replace")
    new = renames.new_name(file.draft.index, file.draft.path, decoded)
    if new is None and _EXPANSION.search(text):
        head = re.match(r"(?:\$\{[^}]*\}/)*", text)
        start = head.end() if head else 0
        new = renames.new_name(file.draft.index, file.draft.path, _EXPANSION.sub("*", text[start:]))
    if new is None:
        return None
    return text.rpartition(".")[0] + "." + new.rpartition(".")[2]
