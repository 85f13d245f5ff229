"""find_package: the packages of the toolkit, and where CMake finds those of MUSA."""

from __future__ import annotations

import re

from musa_port.build import flag_words
from musa_port.build.cmake import tables
from musa_port.build.cmake.file import Argument, Block, CMakeFile, Command
from musa_port.mappings import Row
from musa_port.model import Severity
from musa_port.rules import Rule, register

PACKAGE = register(
    Rule(
        "B4",
        "cmake-package",
        Severity.INFO,
        "Looks for the MUSA package in place of the CUDA one, and says once per file where its module is.",
        why="The modules come with the MUSA SDK. PyTorch's package stays, and that of torch_musa joins it.",
        example=(
            "find_package(CUDAToolkit REQUIRED)",
            'list(APPEND CMAKE_MODULE_PATH "$ENV{MUSA_HOME}/cmake")\nfind_package(MUSAToolkit REQUIRED)',
        ),
        advice="Set MUSA_HOME when you configure; look into the module for what it defines.",
        evidence="libraries.csv, find_package(...)",
    )
)
VERSION = register(
    Rule(
        "B5",
        "cmake-package-version",
        Severity.WARNING,
        "Drops the version that find_package asks for: MUSA counts otherwise.",
        why="A version of CUDA is greater than any of MUSA, so that the package would never be found.",
        example=(
            "find_package(CUDA 11.8 REQUIRED)",
            'list(APPEND CMAKE_MODULE_PATH "$ENV{MUSA_HOME}/cmake")\nfind_package(MUSA REQUIRED)',
        ),
        advice="Ask for the version of MUSA that the port needs.",
    )
)

MODULE_PATH = 'list(APPEND CMAKE_MODULE_PATH "$ENV{MUSA_HOME}/cmake")'
_FINDERS = ("find_package", "find_dependency")
_VERSION = re.compile(r"\d+(\.\d+)*(\.\.\.<?\d+(\.\d+)*)?|\$\{\w*VERSION\w*\}")


class Modules:
    """The commands of a file that load a module of the SDK, and the line that says where the modules are."""

    def __init__(self, file: CMakeFile) -> None:
        self._file = file
        self._users: list[tuple[Command, bool]] = []

    def need(self, command: Command, *, after: bool = False) -> None:
        """`command`, or the line that is put after it, loads a module."""
        self._users.append((command, after))

    def write(self) -> None:
        """Put the line where it holds for every user: before the first one, or before the block that holds them."""
        if not self._users or "{MUSA_HOME}/cmake" in self._file.code:
            return
        users = sorted(self._users, key=lambda user: user[0].index)
        first, after = users[0]
        shared = _common([command.blocks for command, _ in users])
        if len(first.blocks) > len(shared):
            self._file.insert_before(self._file.commands[first.blocks[len(shared)][0]], MODULE_PATH)
        elif after:
            self._file.insert_after(first, MODULE_PATH, first=True)
        else:
            self._file.insert_before(first, MODULE_PATH)


def _common(paths: list[tuple[Block, ...]]) -> tuple[Block, ...]:
    """The blocks that all of the paths begin with."""
    shared = paths[0]
    for path in paths[1:]:
        count = next((i for i, pair in enumerate(zip(shared, path, strict=False)) if pair[0] != pair[1]), None)
        shared = shared[: min(len(shared), len(path)) if count is None else count]
    return shared


def apply(file: CMakeFile, modules: Modules) -> None:
    """Decide each call."""
    for command in file.named(*_FINDERS):
        row = tables.packages().get(command.arguments[0].text) if command.arguments else None
        if row is None or row.musa == row.cuda or command.arguments[0].text in file.draft.names.keep:
            continue
        name = command.arguments[0]
        if file.owns_package(name.text):
            message = f"{name.text} is left: the tree has a module of that name"
            file.draft.report("cmake-package", name.start, name.end, message, name=name.text, once=name.text)
        else:
            _replace(file, command, row, modules)


def _replace(file: CMakeFile, command: Command, row: Row, modules: Modules) -> None:
    name = command.arguments[0]
    first, *others = tables.package_names(row)
    if first == name.text:
        _add(file, command, others, row)
        return
    file.draft.edit(name.start, name.end, first, "cmake-package", row.confidence)
    modules.need(command)
    if row.confidence not in ("high", "medium"):
        message = f"{name.text} became {first} on weak evidence (confidence {row.confidence})"
        file.draft.report("cmake-package", name.start, name.end, message, new=first, name=name.text)
    _drop_version(file, command, name.text)
    components = command.after("COMPONENTS") or command.after("OPTIONAL_COMPONENTS")
    if components:
        message = f"whether {first} has these components is not known"
        place = components[0]
        file.draft.report("cmake-package", place.start, place.end, message, severity=Severity.WARNING, name=name.text)


def _drop_version(file: CMakeFile, command: Command, package: str) -> None:
    dropped = [argument for argument in command.arguments[1:] if _is_version(command, argument)]
    for argument in dropped:
        start, end = argument.outer
        flag_words.remove(file.draft, start, end, "cmake-package-version")
        if argument.text != "EXACT":
            message = f"{package} {argument.text} was asked for; any version of the MUSA package will do now"
            file.draft.report("cmake-package-version", start, end, message, name=package)


def _is_version(command: Command, argument: Argument) -> bool:
    return argument.text == "EXACT" or (
        argument is command.arguments[1] and _VERSION.fullmatch(argument.text) is not None
    )


def _add(file: CMakeFile, command: Command, others: list[str], row: Row) -> None:
    """Look for further packages right after this one, if CUDA matters in the file."""
    code = file.code[: command.start] + file.code[command.end :]
    if "cuda" not in code.lower() and not any(path.endswith(".cu") for path in file.draft.index.files):
        return
    words = [word for word in command.words() if word in ("REQUIRED", "QUIET")]
    for package in others:
        if re.search(rf"\b{package}\b", file.code):
            continue
        file.insert_after(command, f"{command.name}({' '.join([package, *words])})")
        name = command.arguments[0]
        message = f"{package} joins {name.text}: its package must be on CMAKE_PREFIX_PATH"
        file.draft.report("cmake-package", name.start, name.end, message, name=name.text, severity=Severity.WARNING)
