"""Compiler flags in CMake files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from musa_port import flags
from musa_port.build.cmake import tables
from musa_port.build.cmake.file import Argument, CMakeFile, Command
from musa_port.build.cmake.values import assignments, sources_of
from musa_port.build.flag_words import Word, translate
from musa_port.names import BUILD_FLAGS

#: Commands whose arguments are flags of compilers.
_COMPILER = ("target_compile_options", "add_compile_options")
#: Commands with pairs of a property and its value, some of which are flags of compilers.
_PROPERTIES = ("set_source_files_properties", "set_target_properties")
#: Commands whose arguments are flags that host compilers and linkers take too.
_HOST = (
    "add_definitions target_link_options add_link_options target_link_libraries link_libraries "
    "include_directories target_include_directories link_directories"
).split()
_DEFINITIONS = ("target_compile_definitions", "add_compile_definitions")
_HOST_VARIABLE = re.compile(r"CMAKE_(C|CXX|EXE_LINKER|SHARED_LINKER|MODULE_LINKER)_FLAGS(_\w+)?")
_RUNNERS = ("add_custom_command", "add_custom_target", "execute_process")
_WORD = re.compile(r"(?:\\.|\$\{[^}]*\}|[^\s;\\])+", re.DOTALL)
_WHOLE = re.compile(r".+", re.DOTALL)
#: A generator expression with a condition: only what follows its colon are flags.
_CONDITIONAL = re.compile(r"\$<(?:\$<[^<>]*>|[^$<>:]*):(?P<value>[^<>]*)>")


def apply(file: CMakeFile) -> None:
    """Translate flags wherever the file holds them."""
    for command in file.commands:
        if command.name in _PROPERTIES:
            translate(file.draft, words(command.arguments, empty='""'))
        elif command.name in _COMPILER:
            translate(file.draft, words(command.arguments))
        elif command.name in _HOST:
            translate(file.draft, words(command.arguments), host=True)
        elif command.name in _DEFINITIONS:
            _definitions(file, command)
        elif command.name in tables.functions():
            translate(file.draft, words(command.after("OPTIONS")))
        elif command.name in _RUNNERS and _runs_nvcc(command):
            translate(file.draft, words(command.arguments))
    _variables(file)


def _variables(file: CMakeFile) -> None:
    """The variables that hold flags, and the project's own ones whose values end up in them."""
    known = {name for name, row in tables.variables().items() if row.musa.endswith("_FLAGS")}
    options = [argument for command in file.named(*_COMPILER, *_PROPERTIES) for argument in command.arguments]
    device = sources_of(file, known | {name for argument in options for name, _, _ in argument.references()})
    for entry in assignments(file):
        name = entry.variable.text
        alone = any(flags.is_for_nvcc(value.text) for value in entry.values)
        if name in device or alone or _HOST_VARIABLE.fullmatch(name):
            # A variable keeps a value: `set(FLAGS)` would take away one that is there.
            only = entry.command.name == "set" and len(entry.values) == 1
            found = words(entry.values, empty='""' if only else "")
            translate(file.draft, found, host=not alone and name not in device)


def words(arguments: Iterable[Argument], empty: str = "") -> list[Word]:
    """The words of arguments that are flags. `empty` takes the place of an argument that is one, when it is dropped."""
    return [word for argument in arguments for word in _words(argument, empty)]


def _words(argument: Argument, empty: str) -> Iterator[Word]:
    text, start = argument.text, argument.start
    # Quotes inside an argument belong to one word.
    pattern = _WHOLE if argument.is_bare and '"' in text else _WORD
    position = len("SHELL:") if text.startswith("SHELL:") else 0
    joiner = ";" if not argument.is_bare and " " not in text.strip() else " "
    for place, end, inside in _stretches(text, position):
        for match in pattern.finditer(text, place, end):
            span = start + match.start(), start + match.end()
            whole = match.span() == (0, len(text))
            outer = argument.outer if whole else span
            # What is left of an expression separates flags.
            word = "" if re.search(r"\$<|>", match.group()) else match.group()
            yield Word(*span, word, outer, ";" if inside else joiner, empty if whole else "")
        if end < len(text):
            yield Word(start, start, "", (start, start))


def _stretches(text: str, position: int) -> Iterator[tuple[int, int, bool]]:
    """The parts of a text that hold flags: those outside of generator expressions, and what these give."""
    for match in _CONDITIONAL.finditer(text, position):
        yield position, match.start(), False
        yield *match.span("value"), True
        position = match.end()
    yield position, len(text), False


def _definitions(file: CMakeFile, command: Command) -> None:
    """Macros, which stand with or without -D here."""
    for word in words(command.arguments):
        name = re.sub(r"^-D", "", word.text)
        if word.text != name:
            translate(file.draft, [word], host=True)
        elif flags.translate([f"-D{name}"], file.draft.options.arch):
            _definition(file, word)


def _definition(file: CMakeFile, word: Word) -> None:
    entry = flags.translate(
        [f"-D{word.text}"],
        file.draft.options.arch,
        host=True,
        rename_project_names=file.draft.options.rename_project_names,
    )[0]
    new = entry.new[0].removeprefix("-D")
    name = word.text.partition("=")[0]
    row = entry.row
    if new != word.text and row is not None and file.draft.names.allowed(row):
        file.draft.edit(word.start, word.end, new, "compiler-flag", row.confidence)
    file.draft.claim(word.start, word.end)
    if entry.severity and name not in BUILD_FLAGS:
        changed = new if new != word.text else ""
        message = f"{word.text} became {new}" if changed else f"{word.text} is left"
        message += f": {entry.note}" if entry.note else ""
        place = word.start, word.end
        file.draft.report("compiler-flag", *place, message, severity=entry.severity, new=changed, name=name, once=name)


def _runs_nvcc(command: Command) -> bool:
    return any(re.fullmatch(r"(.*/)?nvcc|\$\{\w*NVCC\w*\}|\$\{CMAKE_CUDA_COMPILER\}", word) for word in command.words())
