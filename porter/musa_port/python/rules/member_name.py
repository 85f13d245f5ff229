"""Names of members of tensors and modules in strings: `getattr(x, "cuda")()`, `methodcaller("cuda")`."""

from __future__ import annotations

import libcst as cst

from musa_port.python.literals import plain, text_of
from musa_port.python.module import Module
from musa_port.python.owners import has_own
from musa_port.python.registry import visit
from musa_port.python.rules.tensor import PROPERTIES

_ASKING = frozenset({"getattr", "hasattr"})
_MAKING = frozenset({"operator.methodcaller", "operator.attrgetter"})


@visit(cst.Call, order=42)
def port_call(module: Module, node: cst.Call) -> None:
    """A member that is named by a literal."""
    if not node.args or not module.imports("torch"):
        return
    if isinstance(node.func, cst.Name) and node.func.value in _ASKING:
        if len(node.args) > 1 and plain(node.args[1].value):
            receiver, name = node.args[0].value, node.args[1].value
            _port_name(module, name, _new(module, node, receiver, plain(name)))
    elif module.one_of(node.func, _MAKING):
        for arg in node.args[:1]:
            _port_name(module, arg.value, _member(plain(arg.value)))


def _member(name: str) -> str:
    return {"cuda": "musa", **PROPERTIES}.get(name, "")


def _new(module: Module, call: cst.Call, receiver: cst.BaseExpression, name: str) -> str:
    """The name of the member in the port, "" where it stays or nobody knows."""
    full = module.qualified(receiver)
    if full.startswith(("torch.Tensor", "torch.nn.")):
        return _member(name)
    if full or not _member(name) or has_own(module, receiver, name):
        return ""
    return _member(name) if name != "cuda" or _is_method(module, call, receiver) else ""


def _is_method(module: Module, call: cst.Call, receiver: cst.BaseExpression) -> bool:
    """Whether what is asked for is called: there, or elsewhere in the file as `x.cuda()` of the same `x`."""
    parent = module.parent(call)
    if isinstance(parent, cst.Call) and parent.func is call:
        return True
    functions = (other.func for other in module.nodes(cst.Call))
    return any(
        isinstance(func, cst.Attribute) and func.attr.value == "cuda" and func.value.deep_equals(receiver)
        for func in functions
    )


def _port_name(module: Module, node: cst.BaseExpression, new: str) -> None:
    text = text_of(module, node)
    if text is not None and new and new != text.value:
        rule = "is-cuda" if text.value in PROPERTIES else "cuda-method"
        module.edit(text.start, text.start + len(text.value), new, rule)
