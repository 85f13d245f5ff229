"""Programs, headers and folders of the toolkit in CMake files."""

from __future__ import annotations

import re

from musa_port import flags
from musa_port.build import toolkit_paths
from musa_port.build.cmake.file import Argument, CMakeFile, Command
from musa_port.model import Severity
from musa_port.rules import Rule, register

PROGRAM = register(
    Rule(
        "B15",
        "build-program",
        Severity.WARNING,
        "Calls mcc in place of nvcc, and reports the other programs of the toolkit.",
        why="Programs that are not compilers print other text: what reads it has to change too.",
        example=("find_program(COMPILER nvcc)", "find_program(COMPILER mcc)"),
        advice="Look at what the program is used for.",
        evidence="compiler_flags.csv, kind tool",
    )
)

_HEADER_SEARCH = re.compile(r"find_(path|file)|check_include_files?(_cxx)?")
_IN_BIN = re.compile(r"(?:/bin|BIN_DIR\})/([\w-]+)$")
_RUNNERS = ("add_custom_command", "add_custom_target", "execute_process", "find_program")


def apply(file: CMakeFile) -> None:
    """Decide each of them."""
    for command in file.commands:
        if command.is_text:
            continue
        for argument in command.arguments:
            keep = command.name.endswith("_definitions") or argument.text.startswith("-D")
            toolkit_paths.rewrite(file.draft, argument.start, argument.end, keep=keep)
            toolkit_paths.rewrite_below(file.draft, argument.start, argument.end)
            _compiler_path(file, argument)
        if _HEADER_SEARCH.fullmatch(command.name):
            _headers(file, command)
        if command.name in _RUNNERS:
            for argument in command.arguments:
                program(file, argument)


def _headers(file: CMakeFile, command: Command) -> None:
    for argument in command.arguments:
        for text, start, end in argument.pieces():
            row = file.draft.names.header(text) if text.endswith((".h", ".hpp", ".cuh")) else None
            if row is None or file.draft.is_claimed(start):
                continue
            if row.supported:
                file.draft.edit(start, end, row.musa, "sdk-header", row.confidence)
            else:
                note = f": {row.note}" if row.note else ""
                message = f"{text} has no MUSA counterpart{note}"
                file.draft.report("missing-header", start, end, message, name=text)


def _compiler_path(file: CMakeFile, argument: Argument) -> None:
    """`nvcc` at the end of a path."""
    for text, _, end in argument.pieces():
        match = _IN_BIN.search(text)
        name = match.group(1) if match else ""
        row = flags.tool(name)
        if row and row.supported and not row.flag and not file.draft.is_claimed(end - 1):
            file.draft.edit(end - len(name), end, row.musa, "build-program", row.confidence)


def program(file: CMakeFile, argument: Argument) -> None:
    """Decide a word that may be a program of the toolkit."""
    row = flags.tool(argument.text)
    if row is None or file.draft.is_claimed(argument.start):
        return
    place = argument.start, argument.end
    if row.supported and not row.flag:
        file.draft.edit(*place, row.musa, "build-program", row.confidence)
        return
    counterpart = f"; {row.musa} is the MUSA program of that kind" if row.musa else " and has no counterpart"
    note = f" ({row.note})" if row.note else ""
    message = f"{argument.text} is left{counterpart}{note}"
    file.draft.report("build-program", *place, message, name=argument.text, once=argument.text)
