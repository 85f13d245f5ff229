"""Backends of torch.distributed: nccl becomes mccl."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import choices, plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register

BACKEND = register(
    Rule(
        "P13",
        "distributed-backend",
        Severity.INFO,
        "Changes the backend nccl to mccl where a process group is made, asked for its backend, or configured.",
        example=('dist.init_process_group("nccl")', 'dist.init_process_group("mccl")'),
        evidence="torch_musa registers the backend mccl for musa devices",
    )
)
#: A backend, or a list such as `cpu:gloo,cuda:nccl`.
_BACKEND = re.compile(r"(\w+:)?\w+(,(\w+:)?\w+)*")
_OPTION_CALLS = frozenset({"add_argument", "option", "Option", "add_option"})


def is_backend_name(name: str) -> bool:
    """Whether a variable of this name holds a backend."""
    return name.lower().endswith("backend")


@visit(cst.Call, order=30)
def port_call(module: Module, node: cst.Call) -> None:
    """`init_process_group("nccl")`, `new_group(backend="nccl")`, `--dist-backend`."""
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else (dotted(node.func) or [""])[-1]
    if name in _OPTION_CALLS and any(is_backend_name(_option(arg)) for arg in node.args):
        for arg in node.args:
            if arg.keyword is not None and arg.keyword.value in ("default", "choices"):
                port_value(module, arg.value)
        return
    for arg in node.args:
        if arg.keyword is not None and is_backend_name(arg.keyword.value):
            port_value(module, arg.value)
    if any(_mentions_nccl(arg.value) for arg in node.args if arg.keyword is None) and _is_distributed(module, node):
        for arg in node.args:
            if arg.keyword is None:
                port_value(module, arg.value)


def _option(arg: cst.Arg) -> str:
    return plain(arg.value).lstrip("-").replace("-", "_") if arg.keyword is None else ""


def _mentions_nccl(node: cst.BaseExpression) -> bool:
    return any("nccl" in plain(choice) for choice in choices(node))


def _is_distributed(module: Module, node: cst.Call) -> bool:
    return module.qualified(node.func).startswith("torch.distributed.")


def port_value(module: Module, node: cst.BaseExpression) -> None:
    """Change a backend, or the parts of a list of backends."""
    for choice in choices(node):
        text = text_of(module, choice)
        if text is None or not isinstance(choice, cst.SimpleString) or not _BACKEND.fullmatch(text.value):
            continue
        new = ",".join(_ported(part) for part in text.value.split(","))
        if new != text.value:
            module.edit(text.start, text.start + len(text.value), new, "distributed-backend")


def _ported(part: str) -> str:
    device, colon, backend = part.rpartition(":")
    if backend.lower() != "nccl":
        return part
    return ("musa" if device == "cuda" else device) + colon + ("mccl" if backend == "nccl" else "MCCL")


@visit(cst.Param, order=30)
def port_default(module: Module, node: cst.Param) -> None:
    """`def init(backend="nccl")`."""
    if node.default is not None and is_backend_name(node.name.value):
        port_value(module, node.default)


@visit(cst.Assign, cst.AnnAssign, cst.NamedExpr, order=30)
def port_assignment(module: Module, node: cst.Assign | cst.AnnAssign | cst.NamedExpr) -> None:
    """`backend = "nccl" if ... else "gloo"`."""
    targets = [target.target for target in node.targets] if isinstance(node, cst.Assign) else [node.target]
    if node.value is not None and any(is_backend_name((dotted(target) or [""])[-1]) for target in targets):
        port_value(module, node.value)


@visit(cst.Return, order=30)
def port_return(module: Module, node: cst.Return) -> None:
    """`return "nccl"` in a function that is called after a backend."""
    if node.value is not None and "backend" in module.function_name(node).lower():
        port_value(module, node.value)


@visit(cst.Comparison, order=30)
def port_comparison(module: Module, node: cst.Comparison) -> None:
    """`dist.get_backend() == "nccl"`."""
    operands = [node.left, *(target.comparator for target in node.comparisons)]
    if any(_is_backend(module, operand) for operand in operands):
        for operand in operands:
            port_value(module, operand)


def _is_backend(module: Module, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call):
        return bool(module.one_of(node.func, ("torch.distributed.get_backend",)))
    return is_backend_name((dotted(node) or [""])[-1])


@visit(cst.Arg, order=40)
def report_graphs(module: Module, node: cst.Arg) -> None:
    """`torch.compile(f, backend="cudagraphs")`."""
    if node.keyword is not None and node.keyword.value == "backend" and plain(node.value) == "cudagraphs":
        message = "the backend cudagraphs of torch.compile has no counterpart in torch.compile on MUSA and is left"
        module.report(node, "distributed-backend", message, severity=Severity.ERROR, name="cudagraphs")


@visit(cst.Attribute, order=30)
def report_backend(module: Module, node: cst.Attribute) -> None:
    """`dist.Backend.NCCL`, `ProcessGroupNCCL`."""
    if "NCCL" not in node.attr.value:
        return
    full = module.qualified(node)
    if full.startswith("torch.distributed.") and not module.is_claimed(node):
        module.claim(node)
        message = f"{full} has no counterpart in torch.distributed: torch_musa registers its backend as 'mccl'"
        module.report(node, "distributed-backend", message, severity=Severity.ERROR, name=full)
