"""Dotted Python names and what they become: `torch.cuda.Stream` to `torch.musa.Stream` (torch_python.csv and others).

A target that begins with `torch.musa` is an attribute of torch; `import_of` says where the same thing is imported from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from musa_port.mappings import Row, read_rows
from musa_port.names import Names

_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_FROM = re.compile(r"from ([\w.]+) import ([\w, ]+)")
_FROM_ALL = re.compile(r"from ([\w.]+) import \.\.\.")
_IMPORT = re.compile(r"import ([\w.]+)(?: as \w+)?")
#: Short names that the tables use for modules.
_SHORT = {"dist": "torch.distributed", "tl": "triton.language", "ProfilerActivity": "torch.profiler.ProfilerActivity"}
#: Modules that are attributes of `torch.musa`, and where they are imported from: neither it nor they are packages.
_PACKAGES = {
    "torch.musa.amp": "torch_musa.core.amp",
    "torch.musa.mccl": "torch_musa.core.mccl",
    "torch.musa.memory": "torch_musa.core.memory",
}
_HEADS = frozenset({"torch", "torch_musa", "pynvml", "pymtml", "triton", "tilelang"})
_IMPORTS = ("import", "module")
_TABLES = ("torch_python", "triton_tilelang")


@dataclass(frozen=True, slots=True)
class Target:
    """What a dotted name becomes. `musa` is empty when there is no counterpart, and `cuda` when it stays."""

    cuda: str
    musa: str
    row: Row


class Paths:
    """The look-up structure; see the module text."""

    def __init__(self, rows: dict[str, Target]) -> None:
        self._rows = rows

    def exact(self, full: str) -> Target | None:
        """The row of exactly this name."""
        return self._rows.get(full)

    def find(self, full: str) -> Target | None:
        """The row of the longest beginning of the name that has one."""
        while full:
            if full in self._rows:
                return self._rows[full]
            full = full.rpartition(".")[0]
        return None

    def moved(self, full: str) -> str:
        """The name after porting; the same when nothing changes it."""
        target = self.find(full)
        return target.musa + full[len(target.cuda) :] if target and target.musa else full


def load(names: Names) -> Paths:
    """The shipped tables, and above them the dotted names of the user's --map files."""
    user = {
        name: Target(name, row.musa, row)
        for name, row in names.headers.items()
        if row.area == "user" and _PATH.fullmatch(name)
    }
    return Paths({**_shipped(), **user}) if user else _shared()


@lru_cache(maxsize=1)
def _shared() -> Paths:
    return Paths(_shipped())


@lru_cache(maxsize=1)
def _shipped() -> dict[str, Target]:
    table: dict[str, Target] = {}
    rows = [row for area in _TABLES for row in read_rows(area)]
    for row in sorted(rows, key=lambda row: row.kind in _IMPORTS):  # what is said of an attribute counts first
        for target in _targets(row):
            table.setdefault(target.cuda, target)
    return table


def _targets(row: Row) -> Iterator[Target]:
    """The dotted names that a row is about; many rows describe something else."""
    if row.kind in _IMPORTS:
        yield from _imported(row)
        return
    source, target = _expanded(row.cuda.removesuffix("()")), _expanded(row.musa.removesuffix("()"))
    target = source if target == "same" else target
    if "." in source and _is_package_path(source) and (not target or _is_package_path(target)):
        yield Target(source, target, row)


def _is_package_path(text: str) -> bool:
    return _PATH.fullmatch(text) is not None and text.split(".")[0] in _HEADS and not text.endswith(".X")


def _expanded(text: str) -> str:
    head, dot, rest = text.partition(".")
    return _SHORT.get(head, head) + dot + rest


def _imported(row: Row) -> Iterator[Target]:
    sources, targets = _names(row.cuda), _names(row.musa)
    if row.musa and len(sources) != len(targets):
        return
    for source, target in zip(sources, targets or [""] * len(sources), strict=True):
        yield Target(source, attribute_of(target), row)


def _names(text: str) -> list[str]:
    """The full names that an import statement names."""
    if match := _FROM.fullmatch(text):
        return [f"{match.group(1)}.{name.strip()}" for name in match.group(2).split(",")]
    if match := _IMPORT.fullmatch(text):
        return [match.group(1)]
    if match := _FROM_ALL.fullmatch(text):
        return [match.group(1)]
    return [text] if _PATH.fullmatch(text) else []


def attribute_of(path: str) -> str:
    """`torch_musa.amp` as `torch.musa.amp`: the spelling of expressions."""
    for attribute, package in _PACKAGES.items():
        if path == package or path.startswith(package + "."):
            return attribute + path[len(package) :]
    if path == "torch_musa" or (path.startswith("torch_musa.") and not path.startswith("torch_musa.utils.")):
        return "torch.musa" + path[len("torch_musa") :]
    return path


def package_of(path: str) -> str:
    """What `import` needs for a module: `torch_musa.core.amp` for `torch.musa.amp`."""
    for attribute, package in _PACKAGES.items():
        if path == attribute or path.startswith(attribute + "."):
            return package + path[len(attribute) :]
    return re.sub(r"^torch\.musa\b", "torch_musa", path)


def import_of(path: str) -> tuple[str, str]:
    """(module, name) that `from module import name` needs; the module is "" for a top-level one."""
    module, _, name = path.rpartition(".")
    return ("", "torch_musa") if path == "torch.musa" else (package_of(module), name)
