"""What a port may change in a kernel of TileLang, besides names and strings."""

from __future__ import annotations

import ast
from typing import Any

from .python_source import dotted

#: Statements that MUSA has no counterpart for, and that may go.
_ONLY_CUDA = frozenset(
    "pdl_sync pdl_trigger set_max_nreg inc_max_nreg dec_max_nreg annotate_producer_reg_dealloc "
    "annotate_consumer_reg_alloc no_set_max_nreg disable_warp_group_reg_alloc".split()
)


class Kernel:
    """A kernel and its port. A fragment goes to a product by way of a shared tile that the port adds.

    tiles  the names of such tiles, and of their fragments
    """

    def __init__(self, old: ast.FunctionDef, new: ast.FunctionDef) -> None:
        used = {node.id for node in ast.walk(old) if isinstance(node, ast.Name)}
        added = {node.id for node in ast.walk(new) if isinstance(node, ast.Name)} - used
        self.tiles = {name: name.removesuffix("_shared") for name in added if name.removesuffix("_shared") in used}
        self._shapes = {_target(node): _arguments(node) for node in ast.walk(old) if _word(node).startswith("alloc_")}
        calls = [node for node in ast.walk(old) if isinstance(node, ast.Call)]
        self._operands = {arg for call in calls if _word(call) == "gemm" for arg in call.args[:2]}

    def statements(self, body: list[Any]) -> list[Any]:
        """The statements that both have."""
        return [
            item for item in body if not isinstance(item, ast.Pass) and not _may_go(item) and not self._is_new(item)
        ]

    def _is_new(self, statement: ast.AST) -> bool:
        """`x_shared = T.alloc_shared(...)` of the shape and type of x, and `T.copy(x, x_shared)`."""
        if isinstance(statement, ast.Assign) and _word(statement) == "alloc_shared":
            fragment = self.tiles.get(_target(statement))
            return fragment is not None and self._shapes.get(fragment) == _arguments(statement)
        copied = _arguments(statement) if isinstance(statement, ast.Expr) and _word(statement) == "copy" else []
        return len(copied) == 2 and copied[1] in self.tiles and self.tiles[copied[1]] == copied[0]

    def is_staged(self, old: ast.AST, new: ast.AST) -> bool:
        """Whether a product takes the tile in place of its fragment."""
        return old in self._operands and self.tiles.get(dotted(new)) == dotted(old)


def _may_go(statement: ast.AST) -> bool:
    """Whether it has no counterpart, or lays out tiles for NVIDIA's matrix units and does nothing else."""
    if not isinstance(statement, ast.Expr):
        return False
    word, call = _word(statement), statement.value
    layouts = call.args[0] if word == "annotate_layout" and isinstance(call, ast.Call) and call.args else None
    if isinstance(layouts, ast.Dict):
        return all(_word(value).endswith("swizzled_layout") for value in layouts.values)
    return word in _ONLY_CUDA


def _call(node: ast.AST) -> ast.Call | None:
    inner = node.value if isinstance(node, (ast.Expr, ast.Assign)) else node
    return inner if isinstance(inner, ast.Call) else None


def _word(node: ast.AST) -> str:
    """The last name of the function that a call, or a statement which is one, calls."""
    call = _call(node)
    return dotted(call.func).rpartition(".")[2] if call is not None else ""


def _arguments(node: ast.AST) -> list[str]:
    call = _call(node)
    return [ast.unparse(argument) for argument in call.args] if call is not None else []


def _target(node: ast.AST) -> str:
    return dotted(node.targets[0]) if isinstance(node, ast.Assign) else ""
