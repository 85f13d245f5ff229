"""Generator expressions that ask for the language CUDA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musa_port.build.cmake.file import CMakeFile, Command
from musa_port.model import Severity
from musa_port.rules import Rule, register

EXPRESSION = register(
    Rule(
        "B3",
        "cmake-language-expression",
        Severity.WARNING,
        "Keeps generator expressions that ask for the language CUDA, and reports them.",
        why="MUSA is no language of CMake: device sources are compiled by musa_add_*, or as C++. Which of the flags "
        "device sources need is not in the file.",
        example=(
            "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-O3>)",
            "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-O3>)",
        ),
        advice="Move the flags of device sources to MUSA_MCC_FLAGS, or to the properties of the sources.",
        evidence="libraries.csv, $<COMPILE_LANGUAGE:CUDA>",
    )
)

_ASKS_FOR_CUDA = re.compile(r"\$<(?:COMPILE|LINK)_LANG(?:UAGE|_AND_ID):[^<>]*\bCUDA\b|\$<CUDA_COMPILER_")
_EDGE = re.compile(r"\$<|>")


def apply(file: CMakeFile) -> None:
    """Keep them: what is inside is decided here."""
    for command in file.commands:
        for start, end in _expressions(file, command):
            text = file.code[start:end]
            if not _ASKS_FOR_CUDA.search(text):
                continue
            file.draft.claim(start, end)
            if "CUDA_COMPILER_" in text or not re.search(r"LANG\w*:[^<>]*\bCXX\b", text):
                message = "the device sources are no CUDA for CMake: this never applies to them"
                file.draft.report("cmake-language-expression", start, end, message)


def _expressions(file: CMakeFile, command: Command) -> Iterator[tuple[int, int]]:
    """The outermost generator expressions of a command; they may reach over several arguments."""
    start, depth = -1, 0
    for match in _EDGE.finditer(file.code, command.name_end, command.end):
        if match.group() == "$<":
            start = match.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield start, match.end()
    if depth:  # never closed: CMake takes it for text
        yield start, next((word.end for word in command.arguments if word.start <= start < word.end), command.end)
