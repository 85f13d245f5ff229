"""Sources in makefiles: names, globs, pattern rules, and suffixes."""

from __future__ import annotations

import posixpath
import re

from musa_port import renames
from musa_port.build.make.file import MakeFile
from musa_port.build.make.lexer import Line
from musa_port.model import Severity
from musa_port.rules import Rule, register

SOURCE = register(
    Rule(
        "B33",
        "make-source",
        Severity.INFO,
        "Makes a makefile name sources as this run names them, in lists, globs, pattern rules and suffixes.",
        why="A pattern follows when the sources below the makefile's folder are renamed.",
        example=("%.o: %.cu\nOBJ = $(SRC:.cu=.o)", "%.o: %.mu\nOBJ = $(SRC:.mu=.o)"),
        advice="Write the name that the source has in the build.",
    )
)

_NAME = re.compile(
    r"((?:\$\(\w+\)|\$\{\w+\}|\$\$\w+|\$\$\{\w+\}|\$[@*<^]|[\w./%*?\[\]+~-])*)(\.cuh?)(?![\w-])(?!\.(?!o\b|obj\b|ptx\b|cubin\b)\w)"
)
_VARIABLE = re.compile(r"\$\$?\(\w+\)|\$\$?\{\w+\}|\$\$\w+|\$[@*<^]|%")
#: What follows the suffix in the name of a file that the build makes, or in a rule for suffixes (`.cu.o:`).
_OUTPUT = re.compile(r"\.(?:o|obj|ptx|cubin)\b")


def apply(file: MakeFile) -> None:
    """Decide each name on each line."""
    unknown: list[tuple[int, int]] = []
    for line in file.lines:
        for span in (line.name, line.value):
            for match in _NAME.finditer(file.text, *span):
                if not file.draft.is_claimed(match.start(2)) and not _rename(file, line, match):
                    unknown.append(match.span())
    if unknown:
        text = file.text[slice(*unknown[0])]
        others = f", and {len(unknown) - 1} more names of sources are" if len(unknown) > 1 else " is"
        message = f"{text}{others} left: the tree has no such file"
        file.draft.report("make-source", *unknown[0], message, severity=Severity.WARNING, name=text)


def _rename(file: MakeFile, line: Line, match: re.Match[str]) -> bool:
    """Write the new suffix; whether the tree has what the name stands for."""
    stem, suffix = match.groups()
    is_suffix_rule = not stem and line.kind == "rule" and match.start() < line.name[1]
    if _OUTPUT.match(file.text, match.end()) and not is_suffix_rule:
        return True  # `kernel.cu.o` is what the build makes, under a name that it chooses
    new = _new_suffix(file, stem, suffix)
    if new not in (None, suffix):
        file.draft.edit(*match.span(2), str(new), "make-source")
    return new is not None or "*" in stem


def _new_suffix(file: MakeFile, stem: str, suffix: str) -> str | None:
    """The suffix of the sources that the name stands for; None when there are none."""
    text = stem.encode("latin-1").decode("utf-8", "replace") + suffix
    head = re.match(r"(?:(?:\$\(\w+\)|\$\{\w+\})/)*", text)
    start = head.end() if head else 0
    pattern = text[:start] + _VARIABLE.sub("*", text[start:])
    new = renames.new_name(file.draft.index, file.draft.path, pattern) if stem else None
    if new is None and (not stem or _VARIABLE.search(text[start:])):
        return renames.new_suffix(file.draft.index, file.draft.path, suffix)
    return posixpath.splitext(new)[1] if new is not None else None

