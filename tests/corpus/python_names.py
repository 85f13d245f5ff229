"""What dotted Python names and imports may become, straight from the data files."""

from __future__ import annotations

import ast
import re
from functools import cache

from . import api
from .python_source import PythonSource, dotted

_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_FROM = re.compile(r"from ([\w.]+) import ([\w, ]+)")
_MODULE = re.compile(r"import ([\w.]+)(?: as \w+)?|from ([\w.]+) import \.\.\.")
_SHORT = {"dist": "torch.distributed", "ProfilerActivity": "torch.profiler.ProfilerActivity", "tl": "triton.language"}
_TORCH, _MUSA = "torch.utils.cpp_extension", "torch_musa.utils.musa_extension"
#: Attributes of tensors, modules and events, by the name that torch gives them.
_MEMBERS = {"cuda": "musa", "is_cuda": "is_musa", "cuda_stream": "musa_stream"}
_COLUMN = re.compile(r"(self_)?cuda_((time|memory)\w*)")
#: Keywords of functions that build extensions, and of the profiler.
KEYWORDS = {
    "extra_cuda_cflags": "extra_musa_cflags",
    "with_cuda": "with_musa",
    "cuda_sources": "musa_sources",
    "use_cuda": "use_device",
    "cuda": "musa",
}


@cache
def table() -> dict[str, str]:
    """Full CUDA names and the full names that take their place."""
    names = {f"{_TORCH}.library_paths": f"{_MUSA}.library_paths"}
    for row in (*api.rows("torch_python"), *api.rows("triton_tilelang")):
        olds, news = _names(row["cuda_name"]), _names(row["musa_name"])
        if row["unsupported"] != "unsupported" and len(olds) == len(news):
            names.update({old: new for old, new in zip(olds, news, strict=True) if old != new})
    return names


def _names(text: str) -> list[str]:
    """The full names that a cell of the tables is about."""
    text = text.removesuffix("()").removesuffix("(cuda=True)").removesuffix("(musa=True)")
    if match := _FROM.fullmatch(text):
        return [f"{match[1]}.{name.strip()}" for name in match[2].split(",")]
    if match := _MODULE.fullmatch(text):
        return [match[1] or match[2]]
    if not _PATH.fullmatch(text):
        return []
    head, dot, rest = text.partition(".")
    return [_SHORT.get(head, head) + dot + rest]


def renamed(full: str) -> str | None:
    """What a full name becomes, by the longest row that fits; None when no row does."""
    for end in range(full.count(".") + 1, 0, -1):
        head = ".".join(full.split(".")[:end])
        if head in table() and (head != "torch.cuda" or full == head):
            return table()[head] + full[len(head) :]
    return None


def same(one: str, two: str) -> bool:
    """Whether two full names mean the same: `torch.musa` is the module torch_musa, which re-exports its core."""
    return _plain(one) == _plain(two)


def _plain(full: str) -> str:
    full = re.sub(r"^torch_musa\b", "torch.musa", full)
    return re.sub(r"^torch\.musa\.core\b", "torch.musa", full)


def is_renamed_chain(before: PythonSource, old: ast.AST, after: PythonSource, new: ast.AST) -> bool:
    """Whether a chain of names became what the tables say for what it means."""
    one, two = dotted(old), dotted(new)
    wanted = [name for full in before.meanings(one) if (name := renamed(full))]
    if any(same(name, full) for name in wanted for full in (two, *after.meanings(two))):
        return True
    (base, _, last), (new_base, _, new_last) = one.rpartition("."), two.rpartition(".")
    return base == new_base and is_renamed_member(before, old, last, new_last)


def is_renamed_member(before: PythonSource, node: ast.AST, old: str, new: str) -> bool:
    """Whether an attribute of an object, or of a library that was opened, became its counterpart."""
    if match := _COLUMN.fullmatch(old):
        return new == f"{match[1] or ''}musa_{match[2]}"
    if old == "cuda" and not isinstance(before.parents.get(node), ast.Call):
        return False
    return new == _MEMBERS.get(old, functions().get(old))


@cache
def functions() -> dict[str, str]:
    """Functions of the CUDA libraries and what they are on MUSA, for names that are looked up in a library."""
    tables = ("runtime", "driver", "nccl", "nvml", "nvrtc")
    return {row["cuda_name"]: row["musa_name"] for name in tables for row in api.rows(name) if row["musa_name"]}
