"""Environment variables in CMake files."""

from __future__ import annotations

import re

from musa_port.build import values
from musa_port.build.cmake.file import CMakeFile, Command
from musa_port.build.fragment import Fragment
from musa_port.model import Severity
from musa_port.names import BUILD_FLAGS
from musa_port.rules import Rule, register

ENVIRONMENT = register(
    Rule(
        "B18",
        "cmake-environment",
        Severity.INFO,
        "Renames environment variables of the toolkit.",
        example=("set(ROOT $ENV{CUDA_HOME})", "set(ROOT $ENV{MUSA_HOME})"),
        evidence="env.csv",
    )
)
_ENVIRONMENT = re.compile(r"\$?ENV\{(\w+)\}")
_SETTING = re.compile(r"(?:^\"?|;)(\w+)=")
_PROPERTIES = frozenset({"set_tests_properties", "set_property"})
_SEARCHES = re.compile(r"find_(path|file|library|program)")


def apply(file: CMakeFile) -> None:
    """Decide each name."""
    for command in file.commands:
        _environment(file, command)
        _settings(file, command)


def _environment(file: CMakeFile, command: Command) -> None:
    """`$ENV{CUDA_HOME}`, `ENV{CUDA_HOME}`, and `ENV CUDA_HOME` in commands that search."""
    searches = _SEARCHES.fullmatch(command.name) is not None
    if command.name == "set" and command.arguments and (match := _ENVIRONMENT.fullmatch(command.words()[0])):
        for value in command.arguments[1:2] if match.group(1) in values.ARCHITECTURES else ():
            text = Fragment(file.draft, value.text, range(value.start, value.end))
            values.architectures(text, match.group(1))
    previous = ""
    for argument in command.arguments:
        for match in _ENVIRONMENT.finditer(argument.text):
            _environment_name(file, match.group(1), argument.start + match.start(1), argument.start + match.end(1))
        if searches and previous == "ENV":
            _environment_name(file, argument.text, argument.start, argument.end)
        previous = argument.text


def _settings(file: CMakeFile, command: Command) -> None:
    """`-E env CUDA_VISIBLE_DEVICES=0 program`, and the property ENVIRONMENT of tests."""
    words = command.words()
    found = command.after("ENVIRONMENT") if command.name in _PROPERTIES else []
    if "-E" in words and words[words.index("-E") + 1 : words.index("-E") + 2] == ["env"]:
        found = [argument for argument in command.after("-E")[1:] if "=" in argument.text]
    for argument in found:
        for match in _SETTING.finditer(argument.text):
            _environment_name(file, match.group(1), argument.start + match.start(1), argument.start + match.end(1))


def _environment_name(file: CMakeFile, name: str, start: int, end: int) -> None:
    row = file.draft.names.environment.get(name)
    if row is None or name in BUILD_FLAGS or name in file.draft.names.keep:
        return
    if not row.supported:
        note = f": {row.note}" if row.note else ""
        message = f"{name} has no MUSA counterpart{note}"
        file.draft.report("cmake-environment", start, end, message, severity=Severity.WARNING, name=name, once=name)
    elif file.draft.names.allowed(row):
        file.draft.edit(start, end, row.musa, "cmake-environment", row.confidence)
