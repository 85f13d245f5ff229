"""Which values a variable of a CMake file gets there, and what it is used for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from musa_port.build.cmake.file import Argument, CMakeFile, Command

#: What ends the values in `set()`.
_AFTER_VALUES = frozenset({"CACHE", "PARENT_SCOPE"})
_FILE_OPTIONS = {"LIST_DIRECTORIES": 2, "RELATIVE": 2, "CONFIGURE_DEPENDS": 1}


class Assignment(NamedTuple):
    """A command that gives a variable values. `appends` tells that it keeps those that are there."""

    variable: Argument
    values: list[Argument]
    command: Command
    appends: bool


def assignments(file: CMakeFile) -> list[Assignment]:
    """Every command of the file that gives a variable values, in order."""
    return [found for command in file.commands if (found := _assignment(command))]


def _assignment(command: Command) -> Assignment | None:
    arguments = command.arguments
    operation = arguments[0].text.upper() if arguments else ""
    if command.name == "set" and arguments:
        return Assignment(arguments[0], _until_cache(arguments[1:]), command, False)
    if len(arguments) < 2:
        return None
    if command.name in ("list", "string") and operation in ("APPEND", "PREPEND"):
        return Assignment(arguments[1], arguments[2:], command, True)
    if command.name == "list" and operation == "INSERT":
        return Assignment(arguments[1], arguments[3:], command, True)
    if command.name == "file" and operation in ("GLOB", "GLOB_RECURSE"):
        return Assignment(arguments[1], list(_patterns(arguments[2:])), command, False)
    return None


def _until_cache(arguments: list[Argument]) -> list[Argument]:
    ends = (index for index, word in enumerate(arguments) if word.is_bare and word.text in _AFTER_VALUES)
    return arguments[: next(ends, len(arguments))]


def _patterns(arguments: list[Argument]) -> Iterator[Argument]:
    position = 0
    while position < len(arguments):
        skipped = _FILE_OPTIONS.get(arguments[position].text, 0)
        if not skipped:
            yield arguments[position]
        position += skipped or 1


def sources_of(file: CMakeFile, seeds: Iterable[str]) -> frozenset[str]:
    """The variables whose values flow into those of `seeds`, and `seeds`."""
    found, given = set(seeds), assignments(file)
    while True:
        new = {
            name
            for entry in given
            if entry.variable.text in found
            for value in entry.values
            for name, _, _ in value.references()
        }
        if new <= found:
            return frozenset(found)
        found |= new


def holders_of(file: CMakeFile, test: Callable[[str], bool]) -> frozenset[str]:
    """The variables that hold an element for which `test` is true, directly or through other variables."""
    found: set[str] = set()
    given = assignments(file)
    while True:
        new = {entry.variable.text for entry in given if any(holds(value, found, test) for value in entry.values)}
        if new <= found:
            return frozenset(found)
        found |= new


def holds(value: Argument, variables: Iterable[str], test: Callable[[str], bool]) -> bool:
    """Whether the argument has an element for which `test` is true, or expands one of `variables`."""
    names = set(variables)
    return any(test(text) for text, _, _ in value.pieces()) or any(name in names for name, _, _ in value.references())


def is_reference(text: str, name: str) -> bool:
    """Whether the text is the variable and nothing else."""
    return re.fullmatch(rf"\$\{{{re.escape(name)}\}}", text) is not None
