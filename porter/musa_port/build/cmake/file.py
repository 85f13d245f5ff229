"""A CMake file as the rules see it: its commands and their arguments, where they are nested, what they declare."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from musa_port.build.cmake.lexer import Kind, Token, tokens
from musa_port.draft import Draft

#: A block that a command lies in: the index of the command that opens it, and the number of its branch.
Block = tuple[int, int]

#: Packages whose modules come with CMake; a project may have a copy of one.
TOOLKIT_MODULES = frozenset({"CUDA", "CUDAToolkit"})
_OPENERS = frozenset({"if", "foreach", "while", "function", "macro", "block"})
_BRANCHES = frozenset({"elseif", "else"})
_CONDITIONS = frozenset({"if", "elseif", "while"})
_MAKES_TARGET = re.compile(r"add_(library|executable|custom_target|module)$")
_REFERENCE = re.compile(r"\$(?:CACHE)?\{([\w.+/-]+)\}|@([A-Za-z_]\w*)@")


class Argument(NamedTuple):
    """An argument. `start` and `end` are those of its text, `outer` includes quotes or brackets.

    The text has one character for each byte (Latin-1), so that places in it are places in the file.
    """

    kind: Kind
    start: int
    end: int
    outer: tuple[int, int]
    text: str

    @property
    def is_bare(self) -> bool:
        """Whether the argument has no quotes: only such ones are keywords."""
        return self.kind is Kind.UNQUOTED

    def references(self) -> Iterator[tuple[str, int, int]]:
        """The variables that the text expands, and where their names stand in the file."""
        if self.kind is Kind.BRACKET:
            return
        for match in _REFERENCE.finditer(self.text):
            group = 1 if match.group(1) else 2
            yield match.group(group), self.start + match.start(group), self.start + match.end(group)

    def pieces(self) -> Iterator[tuple[str, int, int]]:
        """The elements of the list that the text is, and where they stand in the file."""
        if self.kind is Kind.BRACKET:
            return
        for match in re.finditer(r"(?:\\.|\$<[^>]*>|[^;\\])+", self.text, re.DOTALL):
            yield match.group(), self.start + match.start(), self.start + match.end()


@dataclass(slots=True)
class Command:
    """A call such as `set(A b)`. `name` is in lower case; parentheses inside are not among the arguments."""

    index: int
    name: str
    start: int
    name_end: int
    end: int
    arguments: list[Argument]
    blocks: tuple[Block, ...] = ()

    @property
    def is_condition(self) -> bool:
        return self.name in _CONDITIONS

    @property
    def is_text(self) -> bool:
        """Whether the arguments are text for people."""
        return self.name == "message"

    def words(self) -> list[str]:
        """The texts of the arguments."""
        return [argument.text for argument in self.arguments]

    def after(self, keyword: str, stops: Iterable[str] = ()) -> list[Argument]:
        """The arguments from `keyword` on, up to the next of `stops`."""
        words = self.words()
        if keyword not in words:
            return []
        rest = self.arguments[words.index(keyword) + 1 :]
        ends = set(stops)
        return rest[: next((index for index, word in enumerate(rest) if word.text in ends), len(rest))]


@dataclass
class CMakeFile:
    """The commands of a file. `error` is the offset from which on it is not understood, -1 when all of it is."""

    draft: Draft
    commands: list[Command]
    comments: list[Token]
    error: int = -1
    _lines: dict[int, list[str]] = field(default_factory=dict)

    def text(self, start: int, end: int) -> str:
        """A stretch of the file, one character for each byte."""
        return self.draft.data[start:end].decode("latin-1")

    def is_decided(self, argument: Argument) -> bool:
        """Whether a rule has decided the argument, or where it begins."""
        return argument.end > argument.start and self.draft.is_claimed(argument.start)

    def named(self, *names: str) -> Iterator[Command]:
        """The commands of these names."""
        return (command for command in self.commands if command.name in names)

    @cached_property
    def code(self) -> str:
        """The file with its comments blanked out, one character for each byte."""
        data = bytearray(self.draft.data)
        for token in self.comments:
            data[token.start : token.end] = b" " * (token.end - token.start)
        return data.decode("latin-1")

    @cached_property
    def variables(self) -> frozenset[str]:
        """The variables that the file may set itself: any command may set one whose bare name it gets."""
        commands = [command for command in self.commands if not command.is_condition and not command.is_text]
        return frozenset(word.text for command in commands for word in command.arguments if word.is_bare)

    @cached_property
    def functions(self) -> frozenset[str]:
        """The functions and macros that the file defines, in lower case."""
        return frozenset(c.arguments[0].text.lower() for c in self.named("function", "macro") if c.arguments)

    @cached_property
    def targets(self) -> frozenset[str]:
        """The targets that the file makes."""
        makers = (command for command in self.commands if _MAKES_TARGET.search(command.name))
        return frozenset(command.arguments[0].text for command in makers if command.arguments)

    def owns_package(self, name: str) -> bool:
        """Whether the tree has the module that `find_package(name)` loads, and it is not a copy of CMake's own."""
        if name in TOOLKIT_MODULES:
            return False
        files = (f"Find{name}.cmake", f"{name}Config.cmake", f"{name.lower()}-config.cmake")
        return any(self.draft.index.resolve(self.draft.path, file) is not None for file in files)

    # ---- inserting lines ------------------------------------------------------------------------------------------

    def insert_before(self, command: Command, line: str) -> None:
        """Put a line in front of a command."""
        self._lines.setdefault(command.start, []).append(line)

    def insert_after(self, command: Command, line: str, *, first: bool = False) -> None:
        """Put a line after a command, and after the comment on its line; `first`: before others that were put there."""
        lines = self._lines.setdefault(self._line_end(command), [])
        lines.insert(0 if first else len(lines), line)

    def write_insertions(self, rule: str) -> None:
        """Turn what was asked for into edits."""
        starts = {command.start for command in self.commands}
        for place, lines in self._lines.items():
            newline, indent = self._layout(place)
            if place in starts:
                text = "".join(f"{line}{newline}{indent}" for line in lines)
            else:
                text = "".join(f"{newline}{indent}{line}" for line in lines)
            self.draft.edit(place, place, text, rule)

    def _line_end(self, command: Command) -> int:
        data = self.draft.data
        match = re.compile(rb"[ \t]*(?:#(?!\[=*\[)[^\n]*?)?(?=\r?\n|\r?\Z)").match(data, command.end)
        return match.end() if match else command.end

    def _layout(self, place: int) -> tuple[str, str]:
        """The line ending of the file, and the indentation of the line that holds `place`."""
        data = self.draft.data
        start = data.rfind(b"\n", 0, place) + 1
        indent = re.compile(rb"[ \t]*").match(data, start, place)
        return "\r\n" if b"\r\n" in data else "\n", indent.group().decode() if indent else ""


def parse(draft: Draft) -> CMakeFile:
    """The commands of a file, up to the first thing in it that is no CMake."""
    parser = _Parser(draft.data)
    error = parser.run()
    return CMakeFile(draft, parser.commands, parser.comments, error)


class _Parser:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._tokens = list(tokens(data))
        self.commands: list[Command] = []
        self.comments = [token for token in self._tokens if token.kind is Kind.COMMENT]
        self._blocks: list[Block] = []

    def run(self) -> int:
        """Collect the commands; where the file stops being understood, or -1."""
        position, tokens = 0, self._tokens
        while position < len(tokens):
            token = tokens[position]
            if token.kind is Kind.ERROR:
                return token.start
            opening = self._opening(position) if token.kind is Kind.UNQUOTED else -1
            if opening < 0:
                position += 1
                continue
            closing = self._closing(opening)
            if closing < 0:
                return token.start
            self._add(token, tokens[opening + 1 : closing], tokens[closing].end)
            position = closing + 1
        return -1

    def _opening(self, position: int) -> int:
        """The index of the parenthesis that makes the word a command, or -1."""
        token, position = self._tokens[position], position + 1
        if not re.fullmatch(rb"[A-Za-z_]\w*", self._data[token.start : token.end]):
            return -1
        while position < len(self._tokens) and self._tokens[position].kind is Kind.SPACE:
            position += 1
        found = position < len(self._tokens) and self._tokens[position].kind is Kind.OPEN
        return position if found else -1

    def _closing(self, opening: int) -> int:
        depth = 0
        for position in range(opening, len(self._tokens)):
            kind = self._tokens[position].kind
            if kind is Kind.ERROR:
                return -1
            depth += (kind is Kind.OPEN) - (kind is Kind.CLOSE)
            if depth == 0:
                return position
        return -1

    def _add(self, word: Token, inside: list[Token], end: int) -> None:
        name = self._data[word.start : word.end].decode().lower()
        arguments = [self._argument(token) for token in inside if token.kind in _QUOTES]
        if name.startswith("end") and name[3:] in _OPENERS and self._blocks:
            self._blocks.pop()
        elif name in _BRANCHES and self._blocks:
            opener, branch = self._blocks[-1]
            self._blocks[-1] = opener, branch + 1
        blocks = tuple(self._blocks[:-1] if name in _BRANCHES else self._blocks)
        self.commands.append(Command(len(self.commands), name, word.start, word.end, end, arguments, blocks))
        if name in _OPENERS:
            self._blocks.append((len(self.commands) - 1, 0))

    def _argument(self, token: Token) -> Argument:
        quotes = _QUOTES[token.kind]
        if token.kind is Kind.BRACKET:
            quotes = self._data.index(b"[", token.start + 1) - token.start + 1
        start, end = token.start + quotes, token.end - quotes
        text = self._data[start:end].decode("latin-1")
        return Argument(token.kind, start, end, (token.start, token.end), text)


#: Kinds of arguments, and how many bytes of quotes they have on each side.
_QUOTES = {Kind.UNQUOTED: 0, Kind.QUOTED: 1, Kind.BRACKET: 2}
