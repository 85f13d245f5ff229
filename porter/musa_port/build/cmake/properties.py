"""Properties of targets that are about CUDA, compile features, and lists of architectures."""

from __future__ import annotations

import re

from musa_port import flags
from musa_port.build import flag_words
from musa_port.build.cmake import standards, tables
from musa_port.build.cmake.file import Argument, CMakeFile, Command
from musa_port.build.cmake.values import assignments, is_reference, sources_of
from musa_port.model import Severity
from musa_port.rules import Rule, register

PROPERTY = register(
    Rule(
        "B10",
        "cmake-property",
        Severity.WARNING,
        "Renames properties of targets that are about CUDA.",
        why="Device sources are C++ for CMake, so the standard of C++ is theirs. CMake has no properties for MUSA: "
        "only the project itself can read those that are called MUSA_*.",
        example=(
            "set_target_properties(t PROPERTIES CUDA_STANDARD 17)",
            "set_target_properties(t PROPERTIES CXX_STANDARD 17)",
        ),
        advice="Put what the device compiler has to know into MUSA_MCC_FLAGS.",
        evidence="libraries.csv, set_target_properties(...)",
    )
)
ARCHITECTURE = register(
    Rule(
        "B11",
        "cmake-architectures",
        Severity.WARNING,
        "Translates lists of architectures.",
        why="CMake does not hand MUSA_ARCHITECTURES to a compiler as it does with CMAKE_CUDA_ARCHITECTURES.",
        example=("set(CMAKE_CUDA_ARCHITECTURES 80 90)", "set(MUSA_ARCHITECTURES 22 31)"),
        advice="Pass --offload-arch=mp_NN for each of them in MUSA_MCC_FLAGS.",
        evidence="arch.csv; libraries.csv, CMAKE_CUDA_ARCHITECTURES",
    )
)

_CUDA_PROPERTY = re.compile(
    r"CUDA_(?:RESOLVE_DEVICE_SYMBOLS|RUNTIME_LIBRARY|(?:PTX|CUBIN|FATBIN|OPTIX)_COMPILATION)"
)
_PROPERTY_COMMANDS = ("set_target_properties", "set_property", "get_target_property", "get_property")
_ARCHITECTURE_PROPERTY = "CUDA_ARCHITECTURES"
_NUMBER = re.compile(r"\d+(\.\d)?[af]?(-real|-virtual|\+PTX)?")
_WORDS = frozenset({"native", "all", "all-major", "Auto", "Common", "All"})


def apply(file: CMakeFile) -> None:
    """Decide properties, features and lists."""
    for command in file.named(*_PROPERTY_COMMANDS):
        _properties(file, command)
    for command in file.named("target_compile_features"):
        _features(file, command)
    _lists(file)


def _properties(file: CMakeFile, command: Command) -> None:
    dropped = standards.drop_properties(file, command)
    for index, argument in enumerate(command.arguments):
        row = tables.properties().get(argument.text)
        if index == 0 or argument in dropped or file.draft.is_claimed(argument.start):
            continue
        if row is None:
            _report_unknown(file, argument)
            continue
        file.draft.edit(argument.start, argument.end, row.musa, "cmake-property", row.confidence)
        message = f"{argument.text} became {row.musa}" + (f": {row.note}" if row.note else "")
        severity = Severity.INFO if row.musa.startswith("CXX_") else Severity.WARNING
        place = argument.start, argument.end
        file.draft.report(
            "cmake-property", *place, message, severity=severity, new=row.musa, name=argument.text, once=argument.text
        )
        if argument.text == _ARCHITECTURE_PROPERTY and command.name.startswith("set_"):
            rest = command.arguments[index + 1 :]
            _translate(file, rest if command.name == "set_property" else rest[:1])


def _report_unknown(file: CMakeFile, argument: Argument) -> None:
    """A property that is CUDA's by its name."""
    if _CUDA_PROPERTY.fullmatch(argument.text) and argument.text not in file.draft.names.keep:
        message = f"{argument.text} is left: no property of CMake is its counterpart"
        place = argument.start, argument.end
        file.draft.report(
            "cmake-property", *place, message, severity=Severity.WARNING, name=argument.text, once=argument.text
        )


def _features(file: CMakeFile, command: Command) -> None:
    for argument in command.arguments[1:]:
        for old, new in tables.features().items():
            if argument.text.startswith(old):
                file.draft.edit(argument.start, argument.start + len(old), new, "cmake-property", "high")


# ---- architectures ----------------------------------------------------------------------------------------------


def _lists(file: CMakeFile) -> None:
    """The values of the variables for architectures, and of the project's own variables that only end up there."""
    known = {name for name in tables.variables() if "ARCH" in name}
    own = {name for name in sources_of(file, known) - known if _only_feeds(file, name)}
    for entry in assignments(file):
        if entry.variable.text in known | own:
            _translate(file, entry.values)
    for command in file.commands:
        if command.is_condition or command.words()[:1] in (["TRANSFORM"], ["FILTER"], ["REMOVE_ITEM"], ["FIND"]):
            _comparison(file, command, known)


def _only_feeds(file: CMakeFile, name: str) -> bool:
    """Whether nothing reads the variable but assignments of all of it."""
    for command in file.commands:
        for argument in command.arguments:
            used = any(found == name for found, _, _ in argument.references())
            if used and not (command.name in ("set", "list") and is_reference(argument.text, name)):
                return False
            if argument.text == name and command.name not in ("set", "list"):
                return False
    return True


def _translate(file: CMakeFile, values: list[Argument]) -> None:
    """Translate each element; of several with the same counterpart, the first stays."""
    written: dict[str, None] = {}
    known, unknown = [], []
    for value in values:
        for match in re.finditer(r"[^;,\s]+", value.text):
            text, place = match.group(), (value.start + match.start(), value.start + match.end())
            if file.draft.is_claimed(place[0]):
                continue
            if flags.architectures(text, file.draft.options.arch):
                _element(file, value, place, written)
                known.append((text, place))
            elif _NUMBER.fullmatch(text) or text in _WORDS:
                unknown.append((text, place))
    if known:
        _report(file, known, f"became {', '.join(written)}", Severity.WARNING)
    if unknown:
        _report(file, unknown, "stay: they have no counterpart that is known", Severity.ERROR)


def _element(file: CMakeFile, value: Argument, place: tuple[int, int], written: dict[str, None]) -> None:
    new = (flags.architectures(file.text(*place), file.draft.options.arch) or ("",))[0]
    if new in written:
        whole = place == (value.start, value.end)
        flag_words.remove(file.draft, *(value.outer if whole else place), "cmake-architectures")
    else:
        file.draft.edit(*place, new, "cmake-architectures")
    written[new] = None


def _report(file: CMakeFile, found: list[tuple[str, tuple[int, int]]], what: str, severity: Severity) -> None:
    start, end = found[0][1][0], found[-1][1][1]
    message = f"{', '.join(text for text, _ in found)} {what}"
    file.draft.report("cmake-architectures", start, end, message, severity=severity)


def _comparison(file: CMakeFile, command: Command, known: set[str]) -> None:
    """Report what asks for elements of such a list, or changes them."""
    if command.is_condition and not {"IN_LIST", "STREQUAL", "MATCHES", "EQUAL"} & set(command.words()):
        return
    for argument in command.arguments:
        names = {argument.text, *(name for name, _, _ in argument.references())} & known
        if names:
            name = names.pop()
            message = f"{name} is searched for, or changed by, architectures of CUDA; what stands there is left"
            file.draft.report("cmake-architectures", argument.start, argument.end, message, name=name)
            return
