"""One Python file while it is being decided: the syntax tree, what its names mean, and the draft of its port."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any, TypeVar

import libcst as cst
from libcst.metadata import (
    Assignment,
    ByteSpanPositionProvider,
    ImportAssignment,
    MetadataWrapper,
    QualifiedNameSource,
    Scope,
)

from musa_port.draft import Draft
from musa_port.model import Severity
from musa_port.python.encoding import Source
from musa_port.python.paths import Paths, Target
from musa_port.python.paths import load as load_paths
from musa_port.python.scopes import Scopes
from musa_port.python.tree import dotted, root_of, walk

Node = TypeVar("Node", bound=cst.CSTNode)
#: How many assignments `x = y` a name is followed through.
_MAX_ALIASES = 3


class Module:
    """See the module text. Rules ask what nodes mean, and call `replace`, `edit` and `report`.

    draft  the file; its offsets count bytes of the file as it is
    tree   the syntax tree
    """

    def __init__(self, draft: Draft, tree: cst.Module, source: Source) -> None:
        self.draft = draft
        self.tree = tree
        self.options = draft.options
        self._source = source
        self._wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
        self._parents: dict[cst.CSTNode, cst.CSTNode | None] = {}
        self._by_kind: dict[type[cst.CSTNode], list[Any]] = {}
        for node, parent in walk(tree):
            self._parents[node] = parent
            self._by_kind.setdefault(type(node), []).append(node)
        self._enclosing: dict[tuple[type[cst.CSTNode], ...], dict[cst.CSTNode, Any]] = {}
        self._qualified: dict[cst.CSTNode, str] = {}
        self._resolved: dict[tuple[Scope | None, str, int], str] = {}
        self._assigned_from: dict[str, frozenset[str]] = {}
        #: Expressions in places that take a device.
        self.device_places: list[cst.BaseExpression] = []
        #: Places of the edits that use MUSA through torch, so that torch_musa has to be imported.
        self.musa_uses: list[tuple[int, int]] = []
        #: Blocks of statements that a `pass` keeps from being empty.
        self.filled_blocks: set[cst.CSTNode] = set()
        #: Modules of torch_musa that the port names in full and that must be imported for it.
        self.required_modules: set[str] = set()
        #: Import statements of torch_musa that the port itself writes.
        self.new_imports: list[cst.CSTNode] = []

    # ---- the tree ------------------------------------------------------------------------------------------------

    def nodes(self, *kinds: type[Node]) -> Iterator[Node]:
        """Every node of exactly these kinds, in the order of the source."""
        for kind in kinds:
            yield from self._by_kind.get(kind, ())

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._parents[node]

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around a node, innermost first."""
        current = self._parents[node]
        while current is not None:
            yield current
            current = self._parents[current]

    def enclosing(self, node: cst.CSTNode, *kinds: type[Node]) -> Node | None:
        """The innermost node of these kinds around a node. No part of the way is gone twice, however deep the tree."""
        known = self._enclosing.setdefault(kinds, {})
        way: list[cst.CSTNode] = []
        current = node
        while current not in known:
            way.append(current)
            parent = self._parents[current]
            if parent is None or isinstance(parent, kinds):
                known[current] = parent
            else:
                current = parent
        found: Node | None = known[current]
        known.update(dict.fromkeys(way, found))
        return found

    def all_enclosing(self, node: cst.CSTNode, *kinds: type[Node]) -> Iterator[Node]:
        """The nodes of these kinds around a node, innermost first."""
        current = self.enclosing(node, *kinds)
        while current is not None:
            yield current
            current = self.enclosing(current, *kinds)

    def function_name(self, node: cst.CSTNode) -> str:
        """Name of the function around a node, "" at the top."""
        function = self.enclosing(node, cst.FunctionDef)
        return function.name.value if function else ""

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Byte offsets of a node in the file, without parentheses around it."""
        found = self._spans[node]
        return self._source.offset(found.start), self._source.offset(found.start + found.length)

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node as it stands in the file."""
        return self.draft.text(*self.span(node))

    @cached_property
    def _spans(self) -> Any:
        spans = self._wrapper.resolve(ByteSpanPositionProvider)
        added = 0 if self.tree.has_trailing_newline else len(self.tree.default_newline)
        if self.tree.body and spans[self.tree].length != len(self._source.text.encode()) + added:
            raise ValueError("the syntax tree does not give the file back")  # never edit at positions that may be wrong
        return spans

    # ---- names ---------------------------------------------------------------------------------------------------

    @cached_property
    def _scopes(self) -> Any:
        return self._wrapper.resolve(Scopes)

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Every name that stands in the file."""
        return frozenset(node.value for node in self.nodes(cst.Name))

    @cached_property
    def imported_roots(self) -> dict[str, set[str]]:
        """Names that some import binds anywhere in the file, and the full names that they may have there."""
        names: dict[str, set[str]] = {}
        for node in self.nodes(cst.Import):
            for alias in node.names:
                full = ".".join(dotted(alias.name))
                local = _local(alias) or full.partition(".")[0]
                names.setdefault(local, set()).add(full if alias.asname else local)
        for statement in self.nodes(cst.ImportFrom):
            if isinstance(statement.names, cst.ImportStar):
                continue
            package = "." * len(statement.relative) + ".".join(dotted(statement.module) if statement.module else [])
            for alias in statement.names:
                name = dotted(alias.name)[0]
                names.setdefault(_local(alias) or name, set()).add(f"{package}.{name}")
        return names

    def possible(self, node: cst.Name | cst.Attribute) -> list[str]:
        """Full names that a chain may have, by the imports of the file alone: scopes, which are slow, decide."""
        parts = dotted(node)
        if not parts:
            return []
        rest = "".join(f".{part}" for part in parts[1:])
        found = [full + rest for full in self.imported_roots.get(parts[0], ())]
        return found + [target + rest for target in self._aliases.get(parts[0], ())]

    @cached_property
    def _aliases(self) -> dict[str, set[str]]:
        """Names assigned from a chain of names, such as `cuda = torch.cuda`, and what that may be."""
        names: dict[str, set[str]] = {}
        for node in self.nodes(cst.Assign):
            parts = dotted(node.value)
            rest = "".join(f".{part}" for part in parts[1:])
            for target in node.targets if parts else ():
                if isinstance(target.target, cst.Name):
                    found = names.setdefault(target.target.value, set())
                    found.update(full + rest for full in self.imported_roots.get(parts[0], ()))
        return {name: found for name, found in names.items() if found}

    @cached_property
    def imported_modules(self) -> frozenset[str]:
        """Full names that `import x` statements name: these are modules, and no objects."""
        return frozenset(".".join(dotted(alias.name)) for node in self.nodes(cst.Import) for alias in node.names)

    def imports(self, package: str) -> bool:
        """Whether the file imports the package, or something of it, anywhere."""
        return package in self._packages

    @cached_property
    def _packages(self) -> frozenset[str]:
        names: set[str] = set()
        for node in self.nodes(cst.Import):
            names.update(dotted(alias.name)[0] for alias in node.names)
        for statement in self.nodes(cst.ImportFrom):
            if statement.module is not None and not statement.relative:
                names.add(dotted(statement.module)[0])
        return frozenset(names)

    def qualified(self, node: cst.CSTNode) -> str:
        """The full name of what a chain of names was imported as (`torch.cuda.Stream`), "" when it is not imported."""
        if not isinstance(node, (cst.Name, cst.Attribute)):
            return ""
        if node not in self._qualified:
            self._qualified[node] = self._resolve(node)
        return self._qualified[node]

    def one_of(self, node: cst.CSTNode, names: Collection[str]) -> str:
        """The full name of a chain when it is one of these, else ""; cheap for chains that cannot be."""
        if not isinstance(node, (cst.Name, cst.Attribute)) or not any(full in names for full in self.possible(node)):
            return ""
        full = self.qualified(node)
        return full if full in names else ""

    def _resolve(self, node: cst.Name | cst.Attribute) -> str:
        parts = dotted(node)
        if not parts or (parts[0] not in self.imported_roots and parts[0] not in self._aliases):
            return ""
        if parts[0] in self._captured and self._is_captured(node, parts[0]):
            return ""
        return self._resolve_in(self._scopes.get(root_of(node)), ".".join(parts), _MAX_ALIASES)

    @cached_property
    def _captured(self) -> dict[str, set[cst.CSTNode | None]]:
        """Names that patterns of `match` bind, and the functions where they do: scopes do not know of them."""
        names: dict[str, set[cst.CSTNode | None]] = {}
        patterns: list[cst.MatchAs | cst.MatchStar] = [*self.nodes(cst.MatchAs), *self.nodes(cst.MatchStar)]
        for pattern in patterns:
            if pattern.name is not None:
                names.setdefault(pattern.name.value, set()).add(self.enclosing(pattern, cst.FunctionDef))
        return names

    def _is_captured(self, node: cst.CSTNode, name: str) -> bool:
        functions = self._captured[name]
        return None in functions or any(parent in functions for parent in self.ancestors(node))

    def _resolve_in(self, scope: Scope | None, name: str, depth: int) -> str:
        key = scope, name, depth
        if key not in self._resolved:
            self._resolved[key] = self._imported_name(scope, name, depth) if scope is not None else ""
        return self._resolved[key]

    def _imported_name(self, scope: Scope, name: str, depth: int) -> str:
        for found in scope.get_qualified_names_for(name):
            if found.source is QualifiedNameSource.IMPORT:
                return found.name
        return self._through_alias(scope, name, depth) if depth else ""

    def _through_alias(self, scope: Scope, name: str, depth: int) -> str:
        """What `cuda.Stream` means after `cuda = torch.cuda`, when that is the only assignment."""
        head, _, rest = name.partition(".")
        assignments = list(scope[head])
        if len(assignments) != 1 or not isinstance(assignments[0], Assignment):
            return ""
        value = self._assigned(assignments[0].node)
        if value is None or not dotted(value):
            return ""
        target = self._resolve_in(assignments[0].scope, ".".join(dotted(value)), depth - 1)
        return f"{target}.{rest}" if target and rest else target

    def _assigned(self, target: cst.CSTNode) -> cst.BaseExpression | None:
        parent = self._parents.get(target)
        if isinstance(parent, cst.AssignTarget):
            statement = self._parents[parent]
            return statement.value if isinstance(statement, cst.Assign) else None
        return parent.value if isinstance(parent, cst.AnnAssign) else None

    def import_of(self, node: cst.CSTNode) -> tuple[str, bool] | None:
        """The import that binds the root of a chain: (its full name, whether it was renamed with `as`), or None."""
        root = root_of(node)
        scope = self._scopes.get(root) if isinstance(root, cst.Name) else None
        if scope is None or not isinstance(root, cst.Name):
            return None
        for assignment in scope[root.value]:
            if isinstance(assignment, ImportAssignment):
                names = assignment.get_qualified_names_for(root.value)
                full = next((found.name for found in names), "")
                return full, full.rsplit(".", 1)[-1] != root.value
        return None

    def sees(self, node: cst.CSTNode, name: str) -> bool:
        """Whether `name` is an imported module at the place of the node."""
        scope = self._scopes.get(root_of(node))
        return scope is not None and any(isinstance(found, ImportAssignment) for found in scope[name])

    @cached_property
    def paths(self) -> Paths:
        """What dotted names become."""
        return load_paths(self.draft.names)

    def is_kept(self, target: Target) -> bool:
        """Whether --keep-names names it, or the project has a package of that name itself."""
        if {target.cuda, target.cuda.rpartition(".")[2]} & self.draft.names.keep:
            return True
        return not target.row.supported and self.is_of_project(target.cuda.partition(".")[0])

    def is_of_project(self, package: str) -> bool:
        """Whether a file of the tree is what `import package` reads."""
        stem = package.replace(".", "/")
        index = self.draft.index
        return any(index.resolve("", f"{stem}{ending}") is not None for ending in (".py", "/__init__.py"))

    def assigned_from(self, function: str) -> frozenset[str]:
        """Names that the file assigns from a call of an imported function, or from an item of its result."""
        if function not in self._assigned_from:
            self._assigned_from[function] = frozenset(self._names_assigned_from(function))
        return self._assigned_from[function]

    def _names_assigned_from(self, function: str) -> Iterator[str]:
        last = function.rpartition(".")[2]
        for node in self.nodes(cst.Assign):
            value = node.value
            while isinstance(value, cst.Subscript):
                value = value.value
            if not isinstance(value, cst.Call) or (dotted(value.func) or [""])[-1] != last:
                continue
            if self.qualified(value.func) == function:
                for target in node.targets:
                    yield from _names_of(target.target)

    def is_reexported(self, name: str) -> bool:
        """Whether another file of the tree imports this name from a module of the project."""
        return any(name in names for names in self.draft.index.notes.get("python-imports", ()))

    # ---- deciding ------------------------------------------------------------------------------------------------

    def is_claimed(self, node: cst.CSTNode) -> bool:
        """Whether a rule has decided the node already."""
        return self.draft.is_claimed(self.span(node)[0])

    def claim(self, node: cst.CSTNode) -> None:
        """Mark a node as decided: later rules leave it."""
        self.draft.claim(*self.span(node))

    def replace(self, node: cst.CSTNode, new: str, rule: str, confidence: str = "", *, musa: bool = True) -> None:
        """Replace the text of a node. With `musa`, the new text needs torch_musa."""
        self.edit(*self.span(node), new, rule, confidence, musa=musa)

    def edit(self, start: int, end: int, new: str, rule: str, confidence: str = "", *, musa: bool = True) -> None:
        """Replace text between two offsets, unless something there is decided already."""
        if start < end and any(self.draft.is_claimed(position) for position in (start, end - 1)):
            return
        if self.draft.is_kept(start, end):
            return
        self.draft.edit(start, end, new, rule, confidence)
        if musa:
            self.musa_uses.append((start, end))

    def report(
        self,
        node: cst.CSTNode,
        rule: str,
        message: str,
        *,
        severity: Severity | None = None,
        advice: str = "",
        new: str = "",
        name: str = "",
        once: str = "",
    ) -> None:
        """Add a finding about a node. With `once`, only the first one of that key counts."""
        self.draft.report(
            rule,
            *self.span(node),
            message,
            severity=severity,
            advice=advice,
            new=new,
            name=name,
            function=self.function_name(node),
            once=once,
        )


def _local(alias: cst.ImportAlias) -> str:
    """The name after `as`, "" when there is none."""
    return alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else ""


def _names_of(target: cst.CSTNode) -> Iterator[str]:
    """The names that an assignment target binds; of `self.x`, `x`."""
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Attribute):
        yield target.attr.value
    elif isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _names_of(element.value)
