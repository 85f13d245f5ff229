"""A makefile as the rules see it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from musa_port.build.make.lexer import Line, Word, lines, named_arguments, words
from musa_port.draft import Draft

_REFERENCE = re.compile(
    r"\$[({]([\w.-]+)[:)}]|\$[({](?:origin|flavor|value|strip|firstword|call|notdir) +([\w.-]+)[)}]"
)
_NAMES_VARIABLES = re.compile(r"\s*(?:else\s+)?(?:ifn?def|export|unexport|undefine)\s")
_OPERATORS = frozenset({"&&", "||", "|", ";", "&", "then", "do", "else"})
#: What stands before the program in a command.
_PREFIX = re.compile(r"[\w.]+=.*|env|sudo|time|exec|if|while|!|\(|nohup|ccache")
#: Text for people: its words are left.
_SPEAKS = frozenset({"echo", "printf", "info", "error", "warning"})


@dataclass(frozen=True, slots=True)
class Call:
    """The words of one command of a recipe, of a value, or of an argument of a function."""

    words: list[Word]

    @property
    def program(self) -> Word | None:
        """The word that names the program."""
        return next((word for word in self.words if not _PREFIX.fullmatch(word.text.lstrip("@-+"))), None)

    @property
    def speaks(self) -> bool:
        """Whether the command only prints its words."""
        program = self.program
        return program is not None and (program.function in _SPEAKS or program.text.lstrip("@-+") in _SPEAKS)


class MakeText:
    """The logical lines of a makefile; `text` has one character for each byte (Latin-1)."""

    def __init__(self, data: bytes) -> None:
        self.text = data.decode("latin-1")

    @cached_property
    def lines(self) -> list[Line]:
        return list(lines(self.text))

    def name(self, line: Line) -> str:
        """The variable that an assignment gives a value to, or the targets of a rule."""
        return self.text[slice(*line.name)].strip()

    @cached_property
    def _assignments(self) -> dict[str, list[Line]]:
        table: dict[str, list[Line]] = {}
        for line in self.lines:
            if line.kind == "assignment":
                table.setdefault(self.name(line), []).append(line)
        return table

    def assignments(self, name: str) -> list[Line]:
        """The lines that give the variable a value."""
        return self._assignments.get(name, [])

    @cached_property
    def variables(self) -> frozenset[str]:
        """The variables that the file sets."""
        return frozenset(self._assignments)

    def places(self, name: str) -> list[tuple[int, int]]:
        """Where the file names the variable: it expands it (now, or later as `$$(NAME)`), gives it a value, asks for it,
        hands it on, or passes its name to a function."""
        variable = re.escape(name)
        expansion = re.compile(rf"\$[({{](?:(?:origin|flavor|value)\s+)?({variable})(?=[:)}}])")
        inside = re.compile(rf"(?<=[\s,])({variable})(?=\s*[:?+!]?=|[\s,)}}])")
        word = re.compile(rf"(?<=\s){variable}(?=\s|$)")
        found = [line.name for line in self.assignments(name)]
        for line in self.lines:
            for span in (line.name, line.value) if line.kind == "rule" else (line.value,):
                found += [match.span(1) for match in expansion.finditer(self.text, *span)]
                for start, end in named_arguments(self.text, *span):
                    found += [match.span(1) for match in inside.finditer(self.text, start, end)]
            if _NAMES_VARIABLES.match(self.text, *line.value):
                found += [match.span() for match in word.finditer(self.text, *line.value)]
        return sorted(set(found))

    def shell_places(self, name: str) -> list[tuple[int, int]]:
        """Where a recipe names the environment variable: `$$NAME`, `$${NAME}`, or `NAME=value` before a program."""
        escaped = re.escape(name)
        pattern = re.compile(rf"\$\$\{{?({escaped})(?!\w)|(?<![\w$.-])({escaped})(?==)")
        recipes = (line for line in self.lines if line.kind == "recipe")
        matches = (match for line in recipes for match in pattern.finditer(self.text, *line.value))
        return [match.span(match.lastindex or 0) for match in matches]

    def words(self, line: Line) -> list[Word]:
        """The words of a line's value."""
        return words(self.text, *line.value)

    def calls(self, line: Line) -> list[Call]:
        """The commands of a line: its words, cut at the operators of the shell and at functions."""
        calls: list[list[Word]] = []
        level = -1
        for word in self.words(line):
            if word.level != level or word.text in _OPERATORS:
                calls.append([])
                level = word.level
            if word.text in _OPERATORS:
                continue
            ends = word.text.endswith(";") and len(word.text) > 1
            calls[-1].append(word._replace(end=word.end - 1, text=word.text[:-1]) if ends else word)
            if ends:
                calls.append([])
        return [Call(call) for call in calls if call]


class MakeFile(MakeText):
    """A makefile that is being decided."""

    def __init__(self, draft: Draft) -> None:
        super().__init__(draft.data)
        self.draft = draft


def references(text: str) -> list[str]:
    """The variables that a text expands."""
    return [match.group(1) or match.group(2) for match in _REFERENCE.finditer(text)]
