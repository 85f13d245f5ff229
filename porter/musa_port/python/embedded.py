"""Text of another language in a string literal, as a fragment: the rules of that language edit it where it stands."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.build.fragment import Fragment
from musa_port.build.quoting import align
from musa_port.python.module import Module

#: Stands for what is known only at run time: to a shell it is a variable.
_UNKNOWN = "$_"


def fragment(module: Module, node: cst.BaseExpression) -> Fragment | None:
    """The text of an expression; None when it is no text, or one whose characters cannot be found in the source."""
    if isinstance(node, cst.SimpleString):
        return _of_literal(module, node)
    if isinstance(node, cst.FormattedString):
        return _of_formatted(module, node)
    if isinstance(node, cst.ConcatenatedString):
        left, right = fragment(module, node.left), fragment(module, node.right)
        return _joined(left, right) if left and right else None
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        left, right = fragment(module, node.left), fragment(module, node.right)
        if (left is None and right is None) or _is_flag(left) or _is_flag(right):
            return None
        return _joined(left or _unknown(module, node.left), right or _unknown(module, node.right))
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Modulo):
        return fragment(module, node.left)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "format":
        return fragment(module, node.func.value)
    return None


def _is_flag(text: Fragment | None) -> bool:
    """Whether an operand is nothing but one flag: removed with its quotes, it would leave a plus sign alone."""
    return text is not None and re.fullmatch(r"-\S*", text.text) is not None


def _joined(left: Fragment, right: Fragment) -> Fragment:
    return Fragment(left.draft, left.text + right.text, [*left.at, *right.at])


def _unknown(module: Module, node: cst.BaseExpression) -> Fragment:
    start, _ = module.span(node)
    return Fragment(module.draft, _UNKNOWN, [start] * len(_UNKNOWN))


def _of_literal(module: Module, node: cst.SimpleString) -> Fragment | None:
    if "b" in node.prefix.lower():
        return None
    start, end = module.span(node)
    source = _source(module, start + len(node.prefix) + len(node.quote), end - len(node.quote))
    if "\\" not in node.raw_value:
        return source
    return align(str(node.evaluated_value), source, escapes="r" not in node.prefix.lower())


def _of_formatted(module: Module, node: cst.FormattedString) -> Fragment | None:
    start, end = module.span(node)
    source = _source(module, start + len(node.start), end - len(node.end))
    if "\\" in source.text:
        return None
    text = source.text
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression):
            begin, stop = (position - source.at[0] for position in module.span(part))
            text = text[:begin] + _UNKNOWN[0] + "_" * (stop - begin - 1) + text[stop:]
    return Fragment(module.draft, text, source.at)


def _source(module: Module, start: int, end: int) -> Fragment:
    """A stretch of the file; each byte is one character, so that any encoding passes through."""
    return Fragment(module.draft, module.draft.data[start:end].decode("latin-1"), range(start, end))
