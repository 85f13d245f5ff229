"""Imported targets of the toolkit, and libraries by name."""

from __future__ import annotations

import re

from musa_port.build.cmake import tables
from musa_port.build.cmake.file import Argument, CMakeFile
from musa_port.build.cmake.values import assignments, sources_of
from musa_port.mappings import Row
from musa_port.model import Severity
from musa_port.rules import Rule, register

TARGET = register(
    Rule(
        "B12",
        "cmake-target",
        Severity.INFO,
        "Renames the imported targets of the toolkit.",
        example=("target_link_libraries(t CUDA::cudart)", "target_link_libraries(t MUSA::musart)"),
        advice="Check the name in the MUSAToolkit module of your SDK.",
        evidence="libraries.csv, kind cmake-target",
    )
)
MISSING = register(
    Rule(
        "B13",
        "cmake-missing-target",
        Severity.ERROR,
        "Reports an imported target of the toolkit that has no counterpart.",
        example=("target_link_libraries(t CUDA::nvtx3)", "target_link_libraries(t CUDA::nvtx3)"),
        advice="Take it out, or put the library that does its work in its place.",
        evidence="libraries.csv, kind cmake-target",
    )
)
LIBRARY = register(
    Rule(
        "B14",
        "cmake-library",
        Severity.INFO,
        "Renames libraries of the toolkit where they are linked or searched by name.",
        example=("find_library(RT NAMES cudart)", "find_library(RT NAMES musart)"),
        advice="Check that your SDK has the library.",
        evidence="libraries.csv, kinds link-flag and shared-object",
    )
)

_TARGET = re.compile(r"(?<!\w)(?<!::)CUDA::\w+")
_LINKERS = ("target_link_libraries", "link_libraries", "find_library")


def apply(file: CMakeFile) -> None:
    """Decide targets in every command, and names of libraries where they are linked or searched."""
    linked: list[Argument] = []
    for command in file.commands:
        if command.is_text:
            continue
        for argument in command.arguments:
            for match in _TARGET.finditer(argument.text):
                _decide(file, argument, match)
        if command.name in _LINKERS:
            linked += command.arguments[0 if command.name == "link_libraries" else 1 :]
    holders = sources_of(file, {name for argument in linked for name, _, _ in argument.references()})
    for entry in assignments(file):
        if entry.variable.text in holders:
            linked += entry.values
    _libraries(file, linked)


def _decide(file: CMakeFile, argument: Argument, match: re.Match[str]) -> None:
    start, end = argument.start + match.start(), argument.start + match.end()
    name = match.group()
    if file.draft.is_claimed(start) or name in file.targets:
        return
    row = tables.targets().get(name)
    if row is None or not row.supported:
        note = f": {row.note}" if row and row.note else ""
        message = f"{name} has no MUSA counterpart{note}" if row else f"{name} is in no table"
        file.draft.report("cmake-missing-target", start, end, message, name=name)
        return
    _apply(file, start, end, row, "cmake-target")


def _libraries(file: CMakeFile, arguments: list[Argument]) -> None:
    for argument in arguments:
        for text, start, end in argument.pieces():
            row = tables.link_names().get(text) or file.draft.names.libraries.get(text)
            if row is None or file.draft.is_claimed(start) or text in file.targets:
                continue
            if row.supported:
                _apply(file, start, end, row, "cmake-library")
            else:
                note = f": {row.note}" if row.note else ""
                message = f"{text} has no MUSA counterpart{note}"
                file.draft.report("cmake-library", start, end, message, severity=Severity.ERROR, name=text)


def _apply(file: CMakeFile, start: int, end: int, row: Row, rule: str) -> None:
    """Write the name of the row, and say what the row flags."""
    if row.cuda in file.draft.names.keep:
        return
    if not file.draft.names.allowed(row):
        message = f"{row.cuda} is left: confidence {row.confidence} is below --min-confidence"
        file.draft.report(rule, start, end, message, severity=Severity.WARNING, name=row.cuda, once=row.cuda)
        return
    file.draft.edit(start, end, row.musa, rule, row.confidence)
    note = f": {row.note}" if row.note else ""
    weak = row.confidence in ("low", "medium-low")
    if row.flag or weak:
        evidence = f" on weak evidence (confidence {row.confidence})" if weak else ""
        severity = Severity.WARNING if row.flag == "semantic" else Severity.INFO
        message = f"{row.cuda} became {row.musa}{evidence}{note}"
        file.draft.report(rule, start, end, message, severity=severity, new=row.musa, name=row.cuda, once=row.cuda)
