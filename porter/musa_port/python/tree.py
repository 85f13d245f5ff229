"""Walking a syntax tree: every node once, with its parent, without the white space between tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache

import libcst as cst

#: Fields that hold white space, comments and punctuation.
_LAYOUT = frozenset(
    "lpar rpar comma semicolon semi header footer leading_lines lines_after_decorators trailing_whitespace newline "
    "lines_after_module_docstring lbracket rbracket lbrace rbrace dot colon equal star indent first_line last_line "
    "default_indent default_newline encoding has_trailing_newline".split()
)


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = [item.name for item in fields(kind)]
    return tuple(name for name in names if name not in _LAYOUT and not name.startswith("whitespace"))


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes directly below, roughly in the order of the source."""
    for name in _fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, cst.CSTNode):
                    yield item


def walk(root: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode | None]]:
    """(node, parent) for every node below `root` and itself, parents first."""
    stack: list[tuple[cst.CSTNode, cst.CSTNode | None]] = [(root, None)]
    while stack:
        node, parent = stack.pop()
        yield node, parent
        below = list(children(node))
        stack.extend((child, node) for child in reversed(below))


def dotted(node: cst.CSTNode) -> list[str]:
    """`["torch", "cuda", "Stream"]` for a chain of names, [] for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return []
    parts.append(node.value)
    return parts[::-1]


def root_of(node: cst.CSTNode) -> cst.CSTNode:
    """The leftmost part of a chain of attributes."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return node
