"""The C-family engine as the rest of the program uses it: scan a file, merge the index, port a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from musa_port.cuda import index as indexing
from musa_port.cuda import registry
from musa_port.cuda.facts import Facts
from musa_port.cuda.index import Index
from musa_port.cuda.port import Port, port
from musa_port.cuda.rules.paste import Paste, Use, uses_in
from musa_port.cuda.scan import scan
from musa_port.cuda.tables import Tables, load
from musa_port.draft import Draft, Outcome

__all__ = [
    "SHARED_NOTES",
    "Facts",
    "Index",
    "Outcome",
    "Tables",
    "build_index",
    "load",
    "port",
    "port_fragment",
    "scan",
]

#: Notes that rules need from the whole tree.
SHARED_NOTES = ("paste", "stringise", "python-imports", "make-variables", "cmake-standards")


def build_index(
    declarations: Iterable[Facts],
    files: Mapping[str, str],
    links: Mapping[str, str],
    find_uses: Callable[[frozenset[str]], Iterable[Use]],
) -> Index:
    """Merge the declarations of all files.

    `find_uses` looks for the uses of macros in the whole tree; it is called only when some macro pastes names.
    """
    index = indexing.build(declarations, files, links, SHARED_NOTES)
    macros = frozenset(Paste(*note).macro for note in index.notes.get("paste", ()))
    if macros:
        index.notes["paste-uses"] = list(find_uses(macros))
    return index


def uses_of(data: bytes, macros: frozenset[str]) -> list[Use]:
    """Uses of macros in one file (see `build_index`)."""
    return uses_in(data, macros)


def port_fragment(outer: Draft, data: bytes) -> Port:
    """Decide a piece of source inside another file, such as a kernel in a string."""
    state = Port(outer.path, data, scan(data, outer.tables.vocabulary), outer.index, outer.tables)
    for decide in registry.checks():
        decide(state)
    return state
