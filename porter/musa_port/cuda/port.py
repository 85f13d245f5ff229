"""Deciding one C-family file: facts, bytes and the index in; edits and findings out. No syntax tree is needed here."""

from __future__ import annotations

from functools import cached_property

from musa_port.cuda import registry
from musa_port.cuda.conditions import inactive_spans
from musa_port.cuda.facts import Facts
from musa_port.cuda.index import Index
from musa_port.cuda.tables import Tables
from musa_port.draft import Draft, Outcome


class Port(Draft):
    """A C-family file while it is being decided. Checks read the facts and call `edit`, `report` and `claim`."""

    def __init__(self, path: str, data: bytes, facts: Facts, index: Index, tables: Tables) -> None:
        super().__init__(path, data, index, tables)
        self.facts = facts

    @cached_property
    def inactive(self) -> list[tuple[int, int]]:
        """Spans of `#if` branches that a MUSA build does not take."""
        return inactive_spans(self.data, self.facts.directives)


def port(path: str, data: bytes, facts: Facts, index: Index, tables: Tables) -> Outcome:
    """Decide one file."""
    state = Port(path, data, facts, index, tables)
    for decide in registry.checks():
        decide(state)
    return state.outcome()
