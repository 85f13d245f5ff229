"""Classes of a file that have a member of their own by a name of torch's, and the objects known to be of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from musa_port.python.flow import flow
from musa_port.python.module import Module
from musa_port.python.tree import dotted, walk

#: How many classes of the file stand above one another.
_MAX_BASES = 10
#: Decorators that make something else of a function than a method of objects.
_NO_METHODS = frozenset("property cached_property setter getter staticmethod classmethod".split())


def members(owner: cst.ClassDef) -> set[str]:
    """Names of the methods and class variables that a class defines itself."""
    names: set[str] = set()
    for statement in owner.body.body:
        if isinstance(statement, cst.FunctionDef):
            names.add(statement.name.value)
        elif isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                if isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name):
                    names.add(small.target.value)
                elif isinstance(small, cst.Assign):
                    names.update(t.target.value for t in small.targets if isinstance(t.target, cst.Name))
    return names


def has_own(module: Module, node: cst.BaseExpression, name: str) -> bool:
    """Whether an object is known to be of a class of this file whose member of this name is none of torch's."""
    return name in _all_owned(module) and any(_defines(module, owner, name) for owner in classes_of(module, node))


def overrides(module: Module, method: cst.FunctionDef) -> bool:
    """Whether a method takes the place of the one that a module or a tensor of torch has."""
    owner = module.enclosing(method, cst.ClassDef)
    if owner is None or any((dotted(item.decorator) or [""])[-1] in _NO_METHODS for item in method.decorators):
        return False
    return is_of_torch(module, owner) or _calls_base(method)


@lru_cache(maxsize=1)
def _owned(module: Module) -> dict[cst.ClassDef, set[str]]:
    """What the classes of the file have as members, each class read once."""
    return {owner: members(owner) | _set_on_self(owner) for owner in module.nodes(cst.ClassDef)}


@lru_cache(maxsize=1)
def all_members(module: Module) -> frozenset[str]:
    """What the classes of the file define."""
    return frozenset(name for owner in module.nodes(cst.ClassDef) for name in members(owner))


@lru_cache(maxsize=1)
def _all_owned(module: Module) -> frozenset[str]:
    return frozenset(name for names in _owned(module).values() for name in names)


def _defines(module: Module, owner: cst.ClassDef, name: str, depth: int = _MAX_BASES) -> bool:
    """Whether a class, or one above it in the file, has a member of this name that is no override of torch's."""
    if _has(module, owner, name):
        methods = [item for item in owner.body.body if isinstance(item, cst.FunctionDef) and item.name.value == name]
        return not any(overrides(module, method) for method in methods)
    return depth > 0 and any(_defines(module, base, name, depth - 1) for base in _bases(module, owner))


def _has(module: Module, owner: cst.ClassDef, name: str) -> bool:
    return name in _owned(module)[owner]


def _set_on_self(owner: cst.ClassDef) -> set[str]:
    """Names that the methods of a class assign as `self.name = ...`."""
    targets = (node.target for node, _ in walk(owner.body) if isinstance(node, (cst.AssignTarget, cst.AnnAssign)))
    return {
        target.attr.value
        for target in targets
        if isinstance(target, cst.Attribute) and dotted(target.value) == ["self"]
    }


def _bases(module: Module, owner: cst.ClassDef) -> Iterator[cst.ClassDef]:
    """The classes of this file that a class names as its bases."""
    for arg in owner.bases:
        base = flow(module).owner_of(arg.value)
        if base is not None and base is not owner:
            yield base


def is_of_torch(module: Module, owner: cst.ClassDef, depth: int = _MAX_BASES) -> bool:
    """Whether a class is one of torch's: by an imported name, a name that ends in Module, or a class of the file."""
    for arg in owner.bases:
        name = (dotted(arg.value) or [""])[-1]
        if module.qualified(arg.value).startswith("torch.") or name.endswith("Module"):
            return True
    return depth > 0 and any(is_of_torch(module, base, depth - 1) for base in _bases(module, owner))


def _calls_base(method: cst.FunctionDef) -> bool:
    """Whether the method calls `super()` by its own name."""
    calls = (node.func for node, _ in walk(method.body) if isinstance(node, cst.Call))
    return any(
        isinstance(func, cst.Attribute)
        and func.attr.value == method.name.value
        and isinstance(func.value, cst.Call)
        and dotted(func.value.func) == ["super"]
        for func in calls
    )


def classes_of(module: Module, node: cst.BaseExpression) -> list[cst.ClassDef]:
    """The classes of this file that an object may be of, or that a name stands for."""
    if isinstance(node, cst.Call) and dotted(node.func) == ["super"]:
        owner = module.enclosing(node, cst.ClassDef)
        return list(_bases(module, owner)) if owner is not None else []
    found = [flow(module).owner_of(node)]
    if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
        found += [flow(module).owner_of(value.func) for value in _made(module, node)]
    if isinstance(node, cst.Name):
        annotations = [param.annotation for param in flow(module).parameters(node)]
        found += [flow(module).owner_of(annotation.annotation) for annotation in annotations if annotation]
    return [owner for owner in found if owner is not None]


def _made(module: Module, node: cst.BaseExpression) -> list[cst.Call]:
    return [value for value in flow(module).values(node) if isinstance(value, cst.Call)]
