"""Files that are nested too deeply for a parser that recurses on the stack of the process."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_MAX_DEPTH = 5000


def require_flat(text: str) -> None:
    """Raise RecursionError when the text is nested so deeply that parsing it could end the process.

    Python's own parser has limits and keeps to them. What it calls a syntax error may be newer syntax, and is for the
    real parser to decide.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except MemoryError as error:
        raise RecursionError from error
    except (SyntaxError, ValueError) as error:
        if "too many" in str(error) or "too deep" in str(error):
            raise RecursionError from error
        return
    if sys.version_info < (3, 11):  # later versions count for themselves
        _require_shallow(tree)


def _require_shallow(tree: ast.AST) -> None:
    level, depth = [tree], 0
    while level:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    if depth > _MAX_DEPTH:
        raise RecursionError


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Let Python functions recurse as deeply as `require_flat` lets files be nested."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 10 * _MAX_DEPTH if sys.version_info >= (3, 11) else 10_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
