"""What one source file holds, as far as porting is concerned: small, and without the syntax tree.

Scanning a file (`scan`) needs the tree; deciding (`port`) needs these facts, the bytes and the index of the whole tree.
Facts travel between processes and into the state file as JSON, so that a file is parsed once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple


class Word(NamedTuple):
    """One candidate word: byte span and `Role` as an int."""

    start: int
    end: int
    role: int


class Directive(NamedTuple):
    """One preprocessor line with its continuation lines; `argument` is where the text after the keyword begins."""

    keyword: str
    start: int
    argument: int
    end: int


class Local(NamedTuple):
    """One local variable or parameter: its name and the span of the block that it is known in."""

    name: str
    start: int
    end: int


class Macro(NamedTuple):
    """One `#define`. `kind` is as `Vocabulary.macro_kind` says; `parameters` is None for object-like macros."""

    name: str
    kind: str
    parameters: tuple[str, ...] | None
    start: int
    end: int


@dataclass(slots=True)
class Facts:
    """See the module text. `notes` holds what the rules' extractors found, by rule name."""

    words: list[Word] = field(default_factory=list)
    directives: list[Directive] = field(default_factory=list)
    macros: list[Macro] = field(default_factory=list)
    locals: list[Local] = field(default_factory=list)
    #: Names with a definition here (functions, types, enumerators), at global scope and, as full paths, in namespaces;
    #: local variables and parameters; function prototypes; data members and methods; namespaces opened here, by path.
    defined: set[str] = field(default_factory=set)
    scoped: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    prototypes: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)
    notes: dict[str, list[Any]] = field(default_factory=dict)
    #: First place that the grammar does not understand, or -1.
    error_at: int = -1
    #: False when the file holds nothing of interest and was not parsed.
    parsed: bool = False

    def is_empty(self) -> bool:
        """Whether nothing was found at all."""
        return not (self.words or self.directives or self.macros or self.notes or any(getattr(self, n) for n in _SETS))

    def dumps(self) -> bytes:
        """The facts as JSON."""
        table: dict[str, Any] = {name: sorted(getattr(self, name)) for name in _SETS if getattr(self, name)}
        table["words"] = list(chain.from_iterable(self.words))
        table |= {"directives": self.directives, "macros": self.macros, "locals": self.locals, "notes": self.notes}
        return json.dumps([table, self.error_at, self.parsed], separators=(",", ":")).encode()

    @classmethod
    def loads(cls, text: bytes) -> Facts:
        """The inverse of `dumps`; notes come back as lists."""
        table, error_at, parsed = json.loads(text)
        numbers = iter(table["words"])
        facts = cls(
            words=list(map(Word._make, zip(numbers, numbers, numbers, strict=True))),
            directives=list(map(Directive._make, table["directives"])),
            macros=[
                Macro(name, kind, tuple(p) if p is not None else None, *span)
                for name, kind, p, *span in table["macros"]
            ],
            locals=list(map(Local._make, table["locals"])),
            notes=table["notes"],
            error_at=error_at,
            parsed=parsed,
        )
        for name in _SETS:
            getattr(facts, name).update(table.get(name, ()))
        return facts


_SETS = ("defined", "scoped", "variables", "prototypes", "fields", "namespaces")
