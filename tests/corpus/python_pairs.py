"""Two syntax trees side by side: a file and its port, node for node.

A port adds, removes and splits import statements, and changes names and strings where they stand. So with the import
statements taken out, both trees have the same shape; everything else is a mismatch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from .python_source import PythonSource, dotted


class Pair(NamedTuple):
    """A node of the file and the one that takes its place in the port."""

    old: Any
    new: Any


class Pairs:
    """What stands at the same place in a file and in its port.

    strings     constants of type str
    names       chains of names, each as a whole
    attributes  attributes of anything else than a chain of names, such as `f(x).cuda`
    keywords    keyword arguments
    mismatches  places where the trees have another shape or other values
    """

    def __init__(self, before: PythonSource, after: PythonSource) -> None:
        self.strings: list[Pair] = []
        self.names: list[Pair] = []
        self.attributes: list[Pair] = []
        self.keywords: list[Pair] = []
        self.mismatches: list[Pair] = []
        self._stack = [Pair(before.module, after.module)]
        while self._stack:
            self._compare(self._stack.pop())

    def _compare(self, pair: Pair) -> None:
        old, new = pair
        if dotted(old) and dotted(new):
            self.names.append(pair)
        elif type(old) is not type(new):
            self.mismatches.append(pair)
        elif isinstance(old, ast.Constant):
            self._compare_constants(pair)
        else:
            self._compare_fields(pair)

    def _compare_constants(self, pair: Pair) -> None:
        if isinstance(pair.old.value, str) and isinstance(pair.new.value, str):
            self.strings.append(pair)
        elif (type(pair.old.value), repr(pair.old.value)) != (type(pair.new.value), repr(pair.new.value)):
            self.mismatches.append(pair)

    def _compare_fields(self, pair: Pair) -> None:
        old, new = pair
        if isinstance(old, ast.Attribute):
            self.attributes.append(pair)
        elif isinstance(old, ast.keyword):
            self.keywords.append(pair)
        names_apart = isinstance(old, (ast.Attribute, ast.keyword))
        for field in old._fields:
            if names_apart and field in ("attr", "arg"):
                continue
            left, right = _items(getattr(old, field, None)), _items(getattr(new, field, None))
            if len(left) != len(right):
                self.mismatches.append(pair)
                return
            for one, two in zip(left, right, strict=True):
                if isinstance(one, ast.AST) and isinstance(two, ast.AST):
                    self._stack.append(Pair(one, two))
                elif one != two:
                    self.mismatches.append(pair)
                    return


def _items(value: Any) -> list[Any]:
    """The items of a field; statements without the imports among them."""
    if not isinstance(value, list):
        return [value]
    return [item for item in value if not isinstance(item, (ast.Import, ast.ImportFrom))]


def changed(pairs: list[Pair]) -> Iterator[Pair]:
    """The pairs whose text differs."""
    return (pair for pair in pairs if _text(pair.old) != _text(pair.new))


def _text(node: Any) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.keyword):
        return node.arg
    return dotted(node) or node.attr
