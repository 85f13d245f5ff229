"""One Python file as the standard library sees it: syntax tree, comments, docstrings, imports.

Nothing here is shared with musa-port, which uses another parser: the checks need a second opinion.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

Import = ast.Import | ast.ImportFrom
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Bound(NamedTuple):
    """What one name of an import statement is: `from module import name as local`, with module "" for `import name`."""

    module: str
    name: str
    local: str

    @property
    def full(self) -> str:
        return f"{self.module}.{self.name}" if self.module else self.name


class PythonSource:
    """See the module text. `tree` is None when the file does not parse."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def tree(self) -> ast.Module | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings, which are no fault of a port
            try:
                return ast.parse(self.data)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None

    @property
    def module(self) -> ast.Module:
        """The tree of a file that parses."""
        assert self.tree is not None
        return self.tree

    @cached_property
    def comments(self) -> list[str]:
        tokens = tokenize.tokenize(io.BytesIO(self.data).readline)
        return [token.string for token in tokens if token.type == tokenize.COMMENT]

    @cached_property
    def docstrings(self) -> list[str]:
        found = [
            ast.get_docstring(node, clean=False) for node in ast.walk(self.module) if isinstance(node, _DOCUMENTED)
        ]
        return [text for text in found if text is not None]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.module) for child in ast.iter_child_nodes(node)}

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node belongs to."""
        return next(item for item in (node, *self.ancestors(node)) if isinstance(item, ast.stmt))

    def lines(self, node: ast.AST) -> range:
        """The lines of the statement of a node, without the blocks below it."""
        statement = self.statement(node)
        end = statement.end_lineno or statement.lineno
        body = getattr(statement, "body", None)
        if isinstance(body, list) and body and not isinstance(node, ast.stmt):
            end = max(min(body[0].lineno - 1, end), getattr(node, "end_lineno", 0) or 0, statement.lineno)
        decorators = getattr(statement, "decorator_list", [])
        return range(min([statement.lineno, *(item.lineno for item in decorators)]), end + 1)

    def line(self, node: ast.AST) -> str:
        """Number and text of the line where a node begins."""
        number = getattr(node, "lineno", 1)
        return f"{number}: {self.data.decode('utf-8', 'replace').split(chr(10))[number - 1].strip()}"

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name and every attribute of the file."""
        return frozenset(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(self.module)
            if isinstance(node, (ast.Name, ast.Attribute))
        )

    def uses(self, name: str) -> list[ast.AST]:
        """Where the value of a variable, or of an attribute, of this name is read."""
        return self._uses.get(name, [])

    @cached_property
    def _uses(self) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] = {}
        for node in ast.walk(self.module):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                found.setdefault(node.id if isinstance(node, ast.Name) else node.attr, []).append(node)
        return found

    # ---- imports -------------------------------------------------------------------------------------------------

    @cached_property
    def imports(self) -> list[tuple[Import, Bound]]:
        """Every name that an import statement binds, of absolute imports only."""
        found: list[tuple[Import, Bound]] = []
        for node in ast.walk(self.module):
            if isinstance(node, ast.Import):
                found += [(node, Bound("", item.name, item.asname or item.name.split(".")[0])) for item in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found += [(node, Bound(node.module, item.name, item.asname or item.name)) for item in node.names]
        return found

    def imports_of(self, package: str) -> list[Import]:
        """Statements outside `if TYPE_CHECKING:` that import a package or something of it."""
        return [
            node
            for node, bound in self.imports
            if bound.full.split(".")[0] == package and not self._is_for_type_checkers(node)
        ]

    def _is_for_type_checkers(self, node: ast.AST) -> bool:
        for parent in self.ancestors(node):
            if isinstance(parent, ast.If) and dotted(parent.test).endswith("TYPE_CHECKING"):
                return node in parent.body or any(item in parent.body for item in self.ancestors(node))
        return False

    @cached_property
    def _meanings(self) -> dict[str, set[str]]:
        """What each imported name may mean somewhere in the file, and names assigned from such names."""
        names: dict[str, set[str]] = {}
        for _, bound in self.imports:
            plain = not bound.module and bound.local == bound.name.split(".")[0]
            names.setdefault(bound.local, set()).add(bound.local if plain else bound.full)
        for _ in range(2):
            for node in ast.walk(self.module):
                if isinstance(node, ast.Assign) and dotted(node.value):
                    for target in node.targets:
                        if isinstance(target, ast.Name):
                            names.setdefault(target.id, set()).update(_joined(names, dotted(node.value)))
        return names

    def meanings(self, chain: str) -> set[str]:
        """The full names that a chain of names may have: `dist.new_group` after `import torch.distributed as dist`."""
        return _joined(self._meanings, chain)


def _joined(names: dict[str, set[str]], chain: str) -> set[str]:
    head, dot, rest = chain.partition(".")
    return {full + dot + rest for full in names.get(head, ())}


def dotted(node: ast.AST | None) -> str:
    """`a.b.c` for a chain of names, "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := dotted(node.value)):
        return f"{base}.{node.attr}"
    return ""


def text_of(node: ast.AST | None) -> str | None:
    """The value of a plain string, None for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
