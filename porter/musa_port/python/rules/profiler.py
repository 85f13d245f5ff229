"""The profiler: activities, and the columns of its tables."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register

PROFILER = register(
    Rule(
        "P14",
        "profiler",
        Severity.WARNING,
        "Renames the profiler's CUDA activity and the columns of its tables.",
        example=('table(sort_by="cuda_time_total")', 'table(sort_by="musa_time_total")'),
        advice="Newer versions of torch name these columns device_time_total and the like, for every device.",
        evidence="torch_musa adds ProfilerActivity.MUSA",
    )
)
_COLUMN = re.compile(r"(self_)?cuda_(time|memory)\w*")
_FIELD = re.compile(r"(self_)?cuda_(time_total|memory_usage)(_str)?")
#: A name that other things have too, and a word that shows a profile in the file.
_AVERAGE = re.compile(r"(self_)?cuda_time(_str)?")
_AVERAGES = b"key_averages"
_PROFILERS = frozenset("torch.profiler.profile torch.autograd.profiler.profile torch.profiler.profiler.profile".split())


@visit(cst.Arg, order=30)
def port_column(module: Module, node: cst.Arg) -> None:
    """`sort_by="cuda_time_total"`."""
    if node.keyword is None or node.keyword.value != "sort_by":
        return
    text = text_of(module, node.value)
    if text is not None and isinstance(node.value, cst.SimpleString) and _COLUMN.fullmatch(text.value):
        start = text.start + text.value.index("cuda")
        module.edit(start, start + len("cuda"), "musa", "profiler", musa=False)


@visit(cst.Attribute, order=30)
def port_event(module: Module, node: cst.Attribute) -> None:
    """`event.cuda_time_total`."""
    name = node.attr.value
    is_average = _AVERAGE.fullmatch(name) is not None and module.draft.mentions(_AVERAGES)
    if (is_average or _FIELD.fullmatch(name)) and module.imports("torch"):
        new = node.attr.value.replace("cuda", "musa", 1)
        module.replace(node.attr, new, "profiler", "medium", musa=False)
        module.report(node.attr, "profiler", f"{node.attr.value} became {new}", new=new, once=node.attr.value)


@visit(cst.Call, order=30)
def port_use_cuda(module: Module, node: cst.Call) -> None:
    """`profile(use_cuda=True)`."""
    for arg in node.args:
        if arg.keyword is not None and arg.keyword.value == "use_cuda" and module.one_of(node.func, _PROFILERS):
            if module.code(arg.value) == "True":
                start, end = module.span(arg.keyword)[0], module.span(arg.value)[1]
                module.edit(start, end, 'use_device="musa"', "profiler", "medium")
                module.report(arg, "profiler", "use_cuda=True became use_device", new='use_device="musa"')
            else:
                module.report(arg, "profiler", "use_cuda is left: on MUSA it is use_device='musa', or none")
