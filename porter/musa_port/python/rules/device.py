"""Device strings: `device="cuda"`, `torch.device("cuda:0")`, `f"cuda:{rank}"`, `x.device.type == "cuda"`."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.devices import is_keyword, mapping_of, names_of, port_place
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.rules.name import becomes
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register

KEYWORD = register(
    Rule(
        "P4",
        "device-keyword",
        Severity.INFO,
        "Changes device strings given to keywords, options and entries that are called device.",
        example=('x = torch.zeros(4, device="cuda:0")', 'x = torch.zeros(4, device="musa:0")'),
    )
)
ARGUMENT = register(
    Rule(
        "P5",
        "device-argument",
        Severity.INFO,
        "Changes device strings in calls that take a device: torch.device, .to, torch.autocast, torch.cuda.*, ...",
        example=('x = x.to("cuda")', 'x = x.to("musa")'),
    )
)
STRING = register(
    Rule(
        "P6",
        "device-string",
        Severity.INFO,
        "Changes device strings that are built, and those that are assigned to a name with `dev` in it.",
        example=('device = f"cuda:{rank}"', 'device = f"musa:{rank}"'),
    )
)
#: Methods whose first argument may be a device.
_METHODS = frozenset({"to", "type", "to_empty"})
#: Modules whose functions take no other strings of this form than devices, by their names in the port.
_MODULES = ("torch.musa.", "torch.accelerator.")


@visit(cst.Call, order=30)
def port_call(module: Module, node: cst.Call) -> None:
    """Keywords, first arguments, and all arguments of the functions of torch.cuda."""
    if full := _of_device_module(module, node.func):
        if becomes(module, full).startswith(_MODULES):  # else the name of the function stays, and so do its devices
            for arg in node.args:
                port_place(module, arg.value, "device-argument")
        return
    for arg in node.args:
        if arg.keyword is not None and is_keyword(arg.keyword.value):
            port_place(module, arg.value, "device-keyword", mapping=mapping_of(arg.keyword.value))
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else (dotted(node.func) or [""])[-1]
    if node.args and _takes_device(module, node, name):
        first = node.args[0]
        if first.keyword is None or (first.keyword.value == "type" and name == "device"):
            port_place(module, first.value, "device-argument")
    elif len(node.args) > 1 and module.one_of(node.func, ("torch.load", "torch.jit.load")):
        second = node.args[1]
        if second.keyword is None:
            port_place(module, second.value, "device-argument", mapping="both")


def _of_device_module(module: Module, node: cst.BaseExpression) -> str:
    """The full name of a function of torch.cuda or its like, "" for anything else."""
    modules = ("torch.cuda.", *_MODULES)
    is_likely = isinstance(node, (cst.Name, cst.Attribute)) and any(
        full.startswith(modules) for full in module.possible(node)
    )
    full = module.qualified(node) if is_likely else ""
    return full if full.startswith(modules) else ""


def _takes_device(module: Module, node: cst.Call, name: str) -> bool:
    is_method = isinstance(node.func, cst.Attribute) and name in _METHODS
    return is_method or bool(module.one_of(node.func, names_of("function")))
