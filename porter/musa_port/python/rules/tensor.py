"""Members of tensors, modules, streams: `x.cuda()`, `x.is_cuda`, `stream.cuda_stream`."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import plain, text_of
from musa_port.python.module import Module
from musa_port.python.owners import all_members, classes_of, has_own, is_of_torch, overrides
from musa_port.python.registry import visit
from musa_port.python.tree import root_of
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
PROPERTIES = {"is_cuda": "is_musa", "cuda_stream": "musa_stream", "cuda_event": "musa_event"}


@visit(cst.Call, order=40)
def port_method(module: Module, node: cst.Call) -> None:
    """`x.cuda(...)`."""
    func = node.func
    if not isinstance(func, cst.Attribute) or func.attr.value != "cuda" or not module.imports("torch"):
        return
    if has_own(module, func.value, "cuda") or _is_module(module, func):
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


def _is_bound(parent: cst.CSTNode | None, node: cst.Attribute) -> bool:
    """Whether the attribute is set or deleted there, and not read."""
    if isinstance(parent, (cst.For, cst.CompFor, cst.AnnAssign, cst.AugAssign)):
        return parent.target is node
    return isinstance(parent, (cst.AssignTarget, cst.Del, cst.AsName))


@visit(cst.FunctionDef, order=40)
def port_definition(module: Module, node: cst.FunctionDef) -> None:
    """`def cuda(self)` changes with its calls where it overrides the method of torch; other classes keep theirs."""
    name = node.name.value
    if name not in ("cuda", "is_cuda") or not module.imports("torch") or module.enclosing(node, cst.ClassDef) is None:
        return
    if name == "cuda" and overrides(module, node):
        module.replace(node.name, "musa", "cuda-method")
        return
    new = name.replace("cuda", "musa")
    message = f"the class keeps its own {name}, while {new} is asked of objects that may be of torch"
    rule = "cuda-method" if name == "cuda" else "is-cuda"
    module.report(node.name, rule, message, severity=Severity.WARNING, name=name)


#: What the method `cuda` is chosen from, or with.
_PLACES = (cst.Arg, cst.Assign, cst.AnnAssign, cst.Element, cst.Return, cst.IfExp, cst.Lambda, cst.ListComp)
#: What unittest.mock gives a method that it stands for.
_OF_MOCKS = re.compile(
    r"return_value|side_effect|called|call_(count|args|args_list)|mock_calls|assert_\w*call(s|ed)\w*|reset_mock"
)
_OPTIONS = frozenset("args arg opt opts options config cfg conf flags params hparams settings".split())


@visit(cst.Attribute, order=41)
def port_method_as_value(module: Module, node: cst.Attribute) -> None:
    """`map(torch.Tensor.cuda, xs)`, `move = x.cuda if gpu else x.cpu`."""
    if node.attr.value != "cuda" or not module.imports("torch") or module.is_claimed(node.attr):
        return
    parent = module.parent(node)
    if isinstance(parent, cst.Call) and parent.func is node:
        return
    if _is_method_of_torch(module, node) or _is_beside_cpu(node, parent) or _is_mocked(parent):
        module.replace(node.attr, "musa", "cuda-method")
    elif isinstance(parent, _PLACES) and not _is_flag(module, node, parent):
        message = f"{module.code(node)} is left: this file does not show whether it is the method of a tensor"
        module.report(node, "cuda-method", message, advice="Write `musa` where it is the method.", name="cuda")


def _is_method_of_torch(module: Module, node: cst.Attribute) -> bool:
    """`torch.nn.Module.cuda`, or the same of a class of the file that inherits from one of torch."""
    full = module.qualified(node)
    if full:
        return full.startswith(("torch.Tensor.", "torch.nn."))
    owners = classes_of(module, node.value) if not has_own(module, node.value, "cuda") else []
    return any(is_of_torch(module, owner) for owner in owners) and not _is_set(module, node)


def _is_set(module: Module, node: cst.Attribute) -> bool:
    return _is_bound(module.parent(node), node)


def _is_mocked(parent: cst.CSTNode | None) -> bool:
    """`x.cuda.return_value`, `x.cuda.assert_called_once()`."""
    return isinstance(parent, cst.Attribute) and _OF_MOCKS.fullmatch(parent.attr.value) is not None


def _is_beside_cpu(node: cst.Attribute, parent: cst.CSTNode | None) -> bool:
    """`x.cuda if gpu else x.cpu`."""
    branches = (parent.body, parent.orelse) if isinstance(parent, cst.IfExp) else ()
    others = [branch.attr.value for branch in branches if isinstance(branch, cst.Attribute) and branch is not node]
    return others == ["cpu"]


def _is_flag(module: Module, node: cst.Attribute, parent: cst.CSTNode) -> bool:
    """Whether it is a member of options, of a class of the file, or of a module, or what `x if c else y` tests."""
    is_test = isinstance(parent, cst.IfExp) and parent.test is node
    name = node.value.attr if isinstance(node.value, cst.Attribute) else node.value
    is_option = isinstance(name, cst.Name) and name.value.lower() in _OPTIONS
    return is_test or is_option or _is_module(module, node) or has_own(module, node.value, "cuda")


@visit(cst.Attribute, order=40)
def port_property(module: Module, node: cst.Attribute) -> None:
    """`x.is_cuda`, read and not called."""
    new = PROPERTIES.get(node.attr.value)
    if new is None or not module.imports("torch") or module.is_claimed(node.attr):
        return
    parent = module.parent(node)
    if _is_bound(parent, node) or has_own(module, node.value, node.attr.value):
        return
    if node.attr.value in all_members(module):
        message = f"a class of this file has a member {node.attr.value} of its own: the place is left"
        module.report(node.attr, "is-cuda", message, severity=Severity.WARNING, name=node.attr.value)
        return
    if isinstance(parent, cst.Call) and parent.func is node:
        message = f"{node.attr.value}() is called: it is none of torch and is left"
        module.report(node.attr, "is-cuda", message, severity=Severity.WARNING, name=node.attr.value)
    elif not _is_module(module, node):
        module.replace(node.attr, new, "is-cuda")
