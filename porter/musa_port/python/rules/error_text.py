"""Texts of errors of CUDA that a program looks for."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.joined import name_of
from musa_port.python.literals import is_docstring, plain
from musa_port.python.messages import is_message
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register

TEXT = register(
    Rule(
        "P39",
        "error-text",
        Severity.WARNING,
        "Reports texts of CUDA's errors that a program looks for in a message; they are left.",
        why="torch_musa and the MUSA runtime word their errors themselves: the text is never found on MUSA.",
        example=(
            'if "CUDA out of memory" in str(error): retry()',
            'if "CUDA out of memory" in str(error): retry()',
        ),
        advice="Catch torch.OutOfMemoryError, which torch_musa raises too; for other errors look for the MUSA text.",
    )
)
_OF_CUDA = re.compile(
    r"\b(?:CUDA|cuda|Cuda|cuDNN|CUDNN|cuBLAS|CUBLAS|NCCL|nccl)\b.{0,20}\b(?:out of memory|errors?|failure|failed)\b"
    r"|\b(?:CUDA_ERROR|CUDNN_STATUS|CUBLAS_STATUS|CUSOLVER_STATUS|cudaError)_?\w*|no CUDA-capable device"
)
_OF_ANY_DEVICE = re.compile(r"out of memory", re.I)
#: Functions and methods that look for a text.
_SEARCHES = frozenset("startswith endswith find count index search match fullmatch findall compile".split())


@visit(cst.SimpleString, order=80)
def report_text(module: Module, node: cst.SimpleString) -> None:
    """`"CUDA out of memory" in str(error)`, and the same text in any other place that is no message."""
    text = plain(node)
    searched = _is_searched(module, node)
    if not _OF_CUDA.search(text) and not (searched and _OF_ANY_DEVICE.search(text)):
        return
    if module.is_claimed(node) or is_docstring(module, node) or is_message(module, node):
        return
    is_sure = searched and _OF_CUDA.search(text)
    message = (
        f"{node.value} is looked for, which no error of MUSA says"
        if is_sure
        else f"{node.value} is left: errors of MUSA may have another text"
    )
    severity = Severity.WARNING if is_sure else Severity.INFO
    module.report(node, "error-text", message, severity=severity, name=text[:80])


def _is_searched(module: Module, node: cst.CSTNode) -> bool:
    """Whether the string, or the list that it is in, is compared with or looked for in another text."""
    parent = module.parent(node)
    while isinstance(parent, (cst.Element, cst.List, cst.Tuple, cst.Set, cst.ConcatenatedString)):
        parent = module.parent(parent)
    if isinstance(parent, (cst.Comparison, cst.ComparisonTarget, cst.MatchValue)):
        return True
    if not isinstance(parent, cst.Arg):
        return False
    call = module.parent(parent)
    is_pattern = parent.keyword is not None and parent.keyword.value in ("match", "pattern")
    return is_pattern or (isinstance(call, cst.Call) and name_of(call.func) in _SEARCHES)
