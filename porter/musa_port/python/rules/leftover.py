"""What no rule decided and somebody should look at: device-like strings, unresolved torch.cuda, helper predicates."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.joined import name_of
from musa_port.python.literals import is_docstring, plain, text_of
from musa_port.python.messages import is_message
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted
from musa_port.python.uses import is_use
from musa_port.rules import Rule, register

STRING = register(
    Rule(
        "P33",
        "left-string",
        Severity.INFO,
        "Lists strings that look like a device or a backend in places that no rule knows; they are left.",
        why="The same word may be a key, a platform of the project, or the name of a file.",
        example=('if platform == "cuda":', 'if platform == "cuda":'),
        advice="Change the string by hand where it means the device.",
    )
)
NAME = register(
    Rule(
        "P34",
        "cuda-helper",
        Severity.INFO,
        "Lists names with `cuda` in them that the file imports from other packages.",
        why="A predicate such as is_torch_cuda_available stays false on MUSA, and no rewriting of names helps.",
        example=("from transformers.utils import is_torch_cuda_available",) * 2,
        advice="Look whether the package has a counterpart for MUSA.",
    )
)
_DEVICE_LIKE = re.compile(
    r"cuda(:\d+)?|nccl|(\w+:\w+,)*cuda:nccl(,\w+:\w+)*|torch\.cuda\.[A-Z]\w*(Tensor|Storage)"
    r"|(CUDA|Tensorrt|NvTensorRTRTX)ExecutionProvider|--?[\w-]+=(cuda(:\d+)?|nccl)"
)
#: What a string is run as a program by.
_RUNNERS = frozenset({"exec", "eval", "timeit", "repeat", "Timer"})
_CODE = re.compile(r"\btorch\.cuda\b|\.cuda\(|[\"']cuda(:\d+)?[\"']")
_WHERE = (cst.Comparison, cst.ComparisonTarget, cst.DictElement, cst.Index, cst.MatchValue)


@visit(cst.SimpleString, order=80)
def report_string(module: Module, node: cst.SimpleString) -> None:
    """`"cuda"` where it is neither a device nor text."""
    if not _DEVICE_LIKE.fullmatch(plain(node)):
        return
    text = text_of(module, node)
    if text is None or module.draft.is_claimed(text.start) or _is_text(module, node):
        return
    parent = module.parent(node)
    while isinstance(parent, (cst.Element, cst.List, cst.Tuple, cst.Set)):
        parent = module.parent(parent)
    severity = Severity.WARNING if isinstance(parent, _WHERE) else Severity.INFO
    module.report(node, "left-string", f"the string {node.value} is left", severity=severity, name=text.value)


@visit(cst.Call, order=80)
def report_code(module: Module, node: cst.Call) -> None:
    """`timeit.timeit("torch.cuda.synchronize()")`."""
    if name_of(node.func) not in _RUNNERS:
        return
    for arg in node.args:
        text = text_of(module, arg.value) if isinstance(arg.value, cst.SimpleString) else None
        if text is not None and _CODE.search(text.value) and not module.is_claimed(arg.value):
            message = "the code in this string names CUDA and is left"
            advice = "Write it for MUSA by hand."
            module.report(arg.value, "left-string", message, severity=Severity.WARNING, advice=advice, name="cuda")


def _is_text(module: Module, node: cst.CSTNode) -> bool:
    return is_docstring(module, node) or is_message(module, node)


@visit(cst.FormattedString, order=80)
def report_built(module: Module, node: cst.FormattedString) -> None:
    """`f"cuda:{i}"` in a place that no rule knows."""
    text = text_of(module, node)
    if text is None or not (text.value.startswith("cuda:") or text.value == "cuda"):
        return
    if not module.draft.is_claimed(text.start) and not _is_text(module, node):
        module.report(node, "left-string", "a string that begins like a device is left", name="cuda")


@visit(cst.Attribute, order=80)
def report_unresolved(module: Module, node: cst.Attribute) -> None:
    """`torch.cuda` where no import of this file says what `torch` is."""
    parts = dotted(node)
    if "cuda" not in parts or not is_use(module, node) or module.qualified(node) or module.is_claimed(node):
        return
    position = parts.index("cuda")
    if position and parts[position - 1] == "torch":
        message = f"{'.'.join(parts)} is left: this file does not import torch under that name"
        module.report(node, "torch-cuda", message, severity=Severity.WARNING, name=".".join(parts))


@visit(cst.ImportFrom, order=80)
def report_helpers(module: Module, node: cst.ImportFrom) -> None:
    """`from transformers.utils import is_torch_cuda_available`."""
    if node.module is None or node.relative or isinstance(node.names, cst.ImportStar):
        return
    package = ".".join(dotted(node.module))
    is_ported = package.split(".")[0] in ("torch", "torch_musa") and not package.startswith("torch.testing._internal")
    if is_ported or module.is_of_project(package):
        return
    for alias in node.names:
        name = dotted(alias.name)[0]
        if "cuda" in name.lower() and not module.is_claimed(alias.name):
            message = f"{package}.{name} may not know MUSA"
            module.report(alias, "cuda-helper", message, name=f"{package}.{name}", once=name)
