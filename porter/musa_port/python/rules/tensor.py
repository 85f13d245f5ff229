"""Members of tensors, modules, streams: `x.cuda()`, `x.is_cuda`, `stream.cuda_stream`."""

from __future__ import annotations

from functools import lru_cache

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted, root_of
from musa_port.rules import Rule, register

METHOD = register(
    Rule(
        "P7",
        "cuda-method",
        Severity.INFO,
        "Renames `.cuda()` of tensors and modules: no argument, a device, or non_blocking.",
        why="torch_musa gives tensors, modules and storages a method `musa`.",
        example=("x = x.cuda(non_blocking=True)", "x = x.musa(non_blocking=True)"),
        advice="Where a class of the project has a method `cuda` of its own, give it one called `musa` as well.",
    )
)
PROPERTY = register(
    Rule(
        "P8",
        "is-cuda",
        Severity.INFO,
        "Renames `.is_cuda` of tensors, and the handles `cuda_stream` and `cuda_event`.",
        example=("if x.is_cuda:", "if x.is_musa:"),
    )
)
_KEYWORDS = frozenset({"device", "non_blocking", "async"})
_PROPERTIES = {"is_cuda": "is_musa", "cuda_stream": "musa_stream", "cuda_event": "musa_event"}


@visit(cst.Call, order=40)
def port_method(module: Module, node: cst.Call) -> None:
    """`x.cuda(...)`."""
    func = node.func
    if not isinstance(func, cst.Attribute) or func.attr.value != "cuda" or not module.imports("torch"):
        return
    if _is_own(module, func, "cuda") or _is_module(module, func):
        return
    if _takes_device(module, node):
        module.replace(func.attr, "musa", "cuda-method")
    else:
        message = "a method cuda() with these arguments is none of torch and is left"
        module.report(node, "cuda-method", message, severity=Severity.WARNING)


def _takes_device(module: Module, node: cst.Call) -> bool:
    positional = [arg for arg in node.args if arg.keyword is None]
    if len(positional) > 1 or any(arg.keyword and arg.keyword.value not in _KEYWORDS for arg in node.args):
        return False
    if any(arg.star for arg in node.args):
        return True
    return not positional or _may_be_device(module, positional[0].value)


def _may_be_device(module: Module, node: cst.BaseExpression) -> bool:
    """A number, a device, or a name that may be either; a string only when it is a device."""
    if isinstance(node, cst.SimpleString):
        text = text_of(module, node)
        if text is not None and plain(node).startswith("cuda"):
            module.edit(text.start, text.start + 4, "musa", "device-argument")
            return True
        return plain(node).startswith("musa")
    return not isinstance(node, (cst.Float, cst.FormattedString, cst.List, cst.Tuple, cst.Dict, cst.Lambda))


def _is_module(module: Module, func: cst.Attribute) -> bool:
    """Whether the receiver is a module that was imported, and no object."""
    full = module.qualified(func.value)
    if not full or full.startswith("torch."):
        return bool(full)
    root = root_of(func.value)
    bound = module.import_of(root)
    return bound is not None and bound[0] in module.imported_modules


def _is_own(module: Module, func: cst.Attribute, name: str) -> bool:
    """Whether it is `self.cuda` of a class that has a member of this name."""
    if dotted(func.value) not in (["self"], ["cls"]):
        return False
    owner = module.enclosing(func, cst.ClassDef)
    return owner is not None and (name in _members(module)[owner] or name in _set_on_self(module))


@lru_cache(maxsize=1)
def _members(module: Module) -> dict[cst.ClassDef, set[str]]:
    return {owner: _defined(owner) for owner in module.nodes(cst.ClassDef)}


@lru_cache(maxsize=1)
def _all_members(module: Module) -> set[str]:
    return {name for names in _members(module).values() for name in names}


def _defined(owner: cst.ClassDef) -> set[str]:
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


def _is_bound(parent: cst.CSTNode | None, node: cst.Attribute) -> bool:
    """Whether the attribute is set or deleted there, and not read."""
    if isinstance(parent, (cst.For, cst.CompFor, cst.AnnAssign, cst.AugAssign)):
        return parent.target is node
    return isinstance(parent, (cst.AssignTarget, cst.Del, cst.AsName))


@lru_cache(maxsize=1)
def _set_on_self(module: Module) -> set[str]:
    """Names that the file assigns as `self.name = ...`."""
    targets = (target.target for target in module.nodes(cst.AssignTarget))
    return {
        target.attr.value
        for target in targets
        if isinstance(target, cst.Attribute) and dotted(target.value) == ["self"]
    }


@visit(cst.FunctionDef, order=40)
def report_own_method(module: Module, node: cst.FunctionDef) -> None:
    """`def cuda(self, ...)`: callers of tensors and modules now say `musa`."""
    name = node.name.value
    if name in ("cuda", "is_cuda") and module.imports("torch") and module.enclosing(node, cst.ClassDef):
        new = name.replace("cuda", "musa")
        message = f"the class defines {name}() itself, while callers in the port say {new}"
        rule = "cuda-method" if name == "cuda" else "is-cuda"
        module.report(node.name, rule, message, severity=Severity.WARNING, name=name)


@visit(cst.Attribute, order=40)
def port_property(module: Module, node: cst.Attribute) -> None:
    """`x.is_cuda`, read and not called."""
    new = _PROPERTIES.get(node.attr.value)
    if new is None or not module.imports("torch") or module.is_claimed(node.attr):
        return
    parent = module.parent(node)
    if _is_bound(parent, node) or _is_own(module, node, node.attr.value):
        return
    if node.attr.value in _all_members(module):
        message = f"a class of this file has a member {node.attr.value} of its own: the place is left"
        module.report(node.attr, "is-cuda", message, severity=Severity.WARNING, name=node.attr.value)
        return
    if isinstance(parent, cst.Call) and parent.func is node:
        message = f"{node.attr.value}() is called: it is none of torch and is left"
        module.report(node.attr, "is-cuda", message, severity=Severity.WARNING, name=node.attr.value)
    elif not _is_module(module, node):
        module.replace(node.attr, new, "is-cuda")
