"""Functions of the module FindCUDA."""

from __future__ import annotations

import re

from musa_port.build.cmake import tables
from musa_port.build.cmake.file import CMakeFile, Command
from musa_port.build.cmake.variables import look
from musa_port.model import Severity
from musa_port.rules import Rule, register

FUNCTION = register(
    Rule(
        "B19",
        "cmake-function",
        Severity.INFO,
        "Renames the functions of the module FindCUDA.",
        example=("cuda_include_directories(include)", "musa_include_directories(include)"),
        advice="Check what the module of your SDK defines.",
        evidence="libraries.csv, kind cmake",
    )
)
#: How the functions of FindCUDA begin; projects have others of their own.
_FUNCTION = re.compile(r"cuda_(add|build|compile|compute|find|get|include|link|parse|remove|select|wrap)_\w+")


def apply(file: CMakeFile) -> None:
    """Decide each call."""
    for command in file.commands:
        _function(file, command)


def _function(file: CMakeFile, command: Command) -> None:
    row = tables.functions().get(command.name)
    place = command.start, command.name_end
    if command.name in file.functions or command.name in file.draft.names.keep:
        return
    if row is not None and row.supported and re.fullmatch(r"\w+", row.musa):
        file.draft.edit(*place, row.musa, "cmake-function", row.confidence)
        if row.confidence in ("low", "medium-low"):
            message = f"{command.name} became {row.musa} on weak evidence (confidence {row.confidence})"
            file.draft.report("cmake-function", *place, message, new=row.musa, name=command.name, once=command.name)
    elif row is not None:
        message = f"{command.name} has no counterpart: {row.note or row.musa}"
        file.draft.report("cmake-function", *place, message, severity=Severity.ERROR, name=command.name)
    elif _FUNCTION.fullmatch(command.name):
        look(file, *place, command.name)
