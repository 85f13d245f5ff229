"""Words of a command line as a program writes them: literals, also those with parts known only at run time."""

from __future__ import annotations

import io
import re
import tokenize
from functools import lru_cache

import libcst as cst

from musa_port.python.literals import Text, plain, text_of
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


def place(module: Module, text: Text, start: int, end: int | None = None) -> tuple[int, int]:
    """The offsets in the file of the characters from `start` to `end` of a text."""
    encoding = _encoding(module)
    before, until = text.value[:start], text.value[:end]
    return text.start + len(before.encode(encoding)), text.start + len(until.encode(encoding))


@lru_cache(maxsize=1)
def _encoding(module: Module) -> str:
    """The encoding that the file declares; a byte-order mark stands before all texts."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(module.draft.data).readline)
    return encoding.replace("utf-8-sig", "utf-8")
