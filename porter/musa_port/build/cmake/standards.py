"""The standard of C++ where a project has one for C++ and one for CUDA.

Device sources are C++ for CMake, so that both have the same variables and properties in the port. What the project says
of C++ counts: sources for the host must not change their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from musa_port import languages
from musa_port.build import flag_words
from musa_port.build.cmake import tables
from musa_port.build.cmake.file import Argument, CMakeFile, Command
from musa_port.mappings import Row

#: The note of a CMake file: variables of C++ that it sets, and their values.
_NOTE = "cmake-standards"
_SET = re.compile(rb"^[^#\n]*?\bset\s*\(\s*(CMAKE_CXX_(?:STANDARD|STANDARD_REQUIRED|EXTENSIONS))\s+([^\s)]+)", re.M | re.I)


def notes(data: bytes) -> languages.Notes:
    """What the file sets for C++."""
    found = sorted({(name.decode(), value.decode("latin-1")) for name, value in _SET.findall(data)})
    return {_NOTE: [list(item) for item in found]} if found else {}


def _other_values(file: CMakeFile, name: str, value: str) -> list[str]:
    """The values other than `value` that files of the tree give to a variable of C++."""
    return sorted({held for key, held in file.draft.index.notes.get(_NOTE, ()) if key == name and held != value})


# ---- variables --------------------------------------------------------------------------------------------------


def guard(file: CMakeFile, command: Command) -> None:
    """Have `set(CMAKE_CUDA_STANDARD 17)` count only where the project has not set that of C++ to something else."""
    words = command.words()
    row = tables.variables().get(words[0]) if len(words) > 1 else None
    if row is None or not row.musa.startswith("CMAKE_CXX_") or words[0] in file.draft.names.keep:
        return
    others = _other_values(file, row.musa, words[1])
    if not others or not file.draft.names.allowed(row):
        return
    file.insert_before(command, f"if(NOT DEFINED {row.musa})")
    file.insert_after(command, "endif()", first=True)
    message = f"{row.cuda} {words[1]} becomes {row.musa} only where that is not set: the project sets it to {others[0]}"
    name = command.arguments[0]
    file.draft.report("cmake-property", name.start, name.end, message, new=row.musa, name=row.cuda)


# ---- properties -------------------------------------------------------------------------------------------------


def drop_properties(file: CMakeFile, command: Command) -> list[Argument]:
    """Drop the properties for which C++ has another value; the arguments that are gone."""
    pairs = [(name, value, why) for name, value, row in _pairs(command) if (why := _conflict(file, command, row, value))]
    dropped = [argument for name, value, _ in pairs for argument in (name, value)]
    for name, value, why in pairs:
        message = f"{name.text} {value.text} is dropped: {why}"
        file.draft.report("cmake-property", *name.outer, message, name=name.text)
    if len(dropped) == len(_properties(command)) > 0:
        flag_words.remove(file.draft, command.start, command.end, "cmake-property")
        return command.arguments
    for argument in dropped:
        flag_words.remove(file.draft, *argument.outer, "cmake-property")
    return dropped


def _properties(command: Command) -> list[Argument]:
    """The properties that a command sets, each followed by its value."""
    return command.after("PROPERTY" if command.name == "set_property" else "PROPERTIES")


def _pairs(command: Command) -> Iterator[tuple[Argument, Argument, Row]]:
    if command.name not in ("set_property", "set_target_properties"):
        return
    properties = _properties(command)
    for name, value in zip(properties[::2], properties[1::2], strict=False):
        row = tables.properties().get(name.text)
        if row is not None and row.musa.startswith("CXX_"):
            yield name, value, row


def _conflict(file: CMakeFile, command: Command, row: Row, value: Argument) -> str:
    """Why the property must not become one of C++; "" when it may."""
    for other in file.named("set_property", "set_target_properties"):
        properties = _properties(other)
        for name, held in zip(properties[::2], properties[1::2], strict=False):
            if name.text == row.musa and _targets(other) & _targets(command):
                if other is command or held.text != value.text:
                    return f"{row.musa} is set to {held.text}"
                return ""
    others = _other_values(file, f"CMAKE_{row.musa}", value.text)
    return f"the project sets CMAKE_{row.musa} to {others[0]}" if others else ""


def _targets(command: Command) -> set[str]:
    words = command.words()
    if command.name == "set_property":
        ends = words.index("PROPERTY") if "PROPERTY" in words else len(words)
        return set(words[1:ends]) if words[:1] == ["TARGET"] else set()
    return set(words[: words.index("PROPERTIES")]) if "PROPERTIES" in words else set()
