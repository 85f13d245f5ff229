"""Words of a command line as a program writes them: literals, also those with parts known only at run time."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.python.literals import plain, text_of
from musa_port.python.module import Module

#: Stands for what is known only at run time.
UNKNOWN = "$"


def word(node: cst.BaseExpression) -> str:
    """The text of an expression, with UNKNOWN for each part that the source does not show."""
    if isinstance(node, cst.SimpleString):
        return plain(node) or ("" if not node.raw_value else UNKNOWN)
    if isinstance(node, cst.FormattedString):
        return "".join(part.value if isinstance(part, cst.FormattedStringText) else UNKNOWN for part in node.parts)
    if isinstance(node, cst.ConcatenatedString):
        return word(node.left) + word(node.right)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return word(node.left) + word(node.right)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Modulo):
        return re.sub(r"%[\w.()]*[a-z]", UNKNOWN, word(node.left))
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "format":
        return re.sub(r"\{[^}]*\}", UNKNOWN, word(node.func.value))
    return UNKNOWN


def is_literal(node: cst.BaseExpression) -> bool:
    """Whether the text stands in the source as it is, so that it can be edited."""
    return isinstance(node, cst.SimpleString) and bool(plain(node))


def is_decided(module: Module, node: cst.CSTNode) -> bool:
    """Whether a rule has decided an expression, or the text between the quotes of a string."""
    text = text_of(module, node) if isinstance(node, cst.SimpleString) else None
    start = text.start if text is not None and text.value else module.span(node)[0]
    return module.is_claimed(node) or module.draft.is_claimed(start)
