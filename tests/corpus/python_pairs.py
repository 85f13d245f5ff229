"""Two syntax trees side by side: a file and its port, node for node.

A port adds, removes and splits import statements, and changes names and strings where they stand. So with the import
statements taken out, both trees have the same shape; everything else is a mismatch. In TileLang, settings of the
compiler may go, and kernels may lose and gain the statements that `python_kernels` knows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from .python_kernels import Kernel
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
    methods     definitions of functions in a class
    mismatches  places where the trees have another shape or other values
    """

    def __init__(self, before: PythonSource, after: PythonSource) -> None:
        self.strings: list[Pair] = []
        self.names: list[Pair] = []
        self.attributes: list[Pair] = []
        self.keywords: list[Pair] = []
        self.methods: list[Pair] = []
        self.mismatches: list[Pair] = []
        self._kernels: dict[ast.AST, Kernel] = {}
        self._stack = [Pair(before.module, after.module)]
        while self._stack:
            self._compare(self._stack.pop())

    def _compare(self, pair: Pair) -> None:
        old, new = pair
        if dotted(old) and dotted(new):
            if old not in self._kernels or not self._kernels[old].is_staged(old, new):
                self.names.append(pair)
        elif type(old) is not type(new):
            self.mismatches.append(pair)
        elif isinstance(old, ast.Constant):
            self._compare_constants(pair)
        else:
            if isinstance(old, ast.FunctionDef) and any(map(_is_of_tilelang, old.decorator_list)):
                kernel = Kernel(old, new)
                self._kernels.update(dict.fromkeys([*ast.walk(old), *ast.walk(new)], kernel))
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
        elif isinstance(old, ast.ClassDef):
            methods = [[item for item in body if isinstance(item, ast.FunctionDef)] for body in (old.body, new.body)]
            self.methods += [Pair(*pair) for pair in zip(*methods, strict=False)]
        names_apart = isinstance(old, (ast.Attribute, ast.keyword)) or pair in self.methods
        for field in old._fields:
            if names_apart and field in ("attr", "arg", "name"):
                continue
            left, right = self._items(old, field), self._items(new, field)
            if len(left) != len(right):
                self.mismatches.append(pair)
                return
            for one, two in zip(left, right, strict=True):
                if isinstance(one, ast.AST) and isinstance(two, ast.AST):
                    self._stack.append(Pair(one, two))
                elif one != two:
                    self.mismatches.append(pair)
                    return

    def _items(self, node: ast.AST, field: str) -> list[Any]:
        """The items of a field: no imports, no settings that MUSA's TileLang lacks, of kernels what both have."""
        value = getattr(node, field, None)
        if isinstance(node, ast.Dict):
            return [item for item, key in zip(value or [], node.keys, strict=True) if not _is_setting(key)]
        if not isinstance(value, list):
            return [value]
        if node in self._kernels:
            value = self._kernels[node].statements(value)
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


#: Settings of TileLang's compiler that its MUSA version lacks.
_SETTINGS = frozenset(
    "TL_PTXAS_REGISTER_USAGE_LEVEL TL_ENABLE_PTXAS_VERBOSE TL_DISABLE_OUT_OF_BOUND_WARNING TL_ENABLE_LOWER_LDGSTG "
    "TL_ENABLE_LOWER_LDGSTG_PREDICATED TL_DISABLE_BUFFER_INIT_CHECK TL_EMIT_LINE_DIRECTIVES TL_ENABLE_AUTO_SCHEDULE "
    "TL_ENABLE_AUTO_WARP_SPECIALIZATION TL_ENABLE_FP32X2_REDUCTION TL_ENABLE_REDUCER_PLAN_VERBOSE TL_LAYOUT_COST_MODEL "
    "TL_PASS_PROFILE TL_PASS_PROFILE_THRESHOLD_MS TL_REDUCER_FORCE_BASELINE".split()
)


def _is_setting(key: ast.AST | None) -> bool:
    return dotted(key).rpartition(".")[2] in _SETTINGS


def _is_of_tilelang(decorator: ast.AST) -> bool:
    return dotted(decorator).rpartition(".")[2] in ("prim_func", "macro")
