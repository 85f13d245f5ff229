"""String literals: what they say and where, as far as the source shows it literally."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from musa_port.python.module import Module


class Text(NamedTuple):
    """The text between the quotes, or the first literal part of an f-string, and the offset of its first byte."""

    value: str
    start: int


def text_of(module: Module, node: cst.CSTNode) -> Text | None:
    """The literal text of a string without escapes; for an f-string, what stands before the first expression."""
    if isinstance(node, cst.SimpleString):
        if "b" in node.prefix or "\\" in node.value:
            return None
        start, _ = module.span(node)
        return Text(node.raw_value, start + len(node.prefix) + len(node.quote))
    if isinstance(node, cst.FormattedString) and node.parts:
        first = node.parts[0]
        if isinstance(first, cst.FormattedStringText) and "\\" not in first.value:
            return Text(first.value, module.span(first)[0])
    return None


def plain(node: cst.CSTNode | None) -> str:
    """The value of a plain string literal, "" for anything else."""
    if isinstance(node, cst.SimpleString) and "b" not in node.prefix and "\\" not in node.value:
        return node.raw_value
    return ""


def is_docstring(module: Module, node: cst.CSTNode) -> bool:
    """Whether the string is a statement by itself: a docstring, or text that does nothing."""
    parent = module.parent(node)
    while isinstance(parent, cst.ConcatenatedString):
        parent = module.parent(parent)
    return isinstance(parent, cst.Expr)


def choices(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The expressions whose value an expression may have: both sides of `a if c else b`, of `a or b`, elements."""
    if isinstance(node, cst.IfExp):
        yield from choices(node.body)
        yield from choices(node.orelse)
    elif isinstance(node, cst.BooleanOperation):
        yield from choices(node.left)
        yield from choices(node.right)
    elif isinstance(node, (cst.List, cst.Tuple, cst.Set)):
        for element in node.elements:
            yield from choices(element.value)
    elif isinstance(node, cst.NamedExpr):
        yield from choices(node.value)
    elif isinstance(node, cst.Await):
        yield from choices(node.expression)
    else:
        yield node
