"""Calls that build C++ and CUDA sources: CUDAExtension, load, load_inline, by whatever name they were imported."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import libcst as cst

from musa_port.python.flow import Entry, flow
from musa_port.python.module import Module

PACKAGE = "torch.utils.cpp_extension"
#: Function -> what its first arguments are.
_POSITIONAL = {
    f"{PACKAGE}.CUDAExtension": ("name", "sources"),
    f"{PACKAGE}.CppExtension": ("name", "sources"),
    f"{PACKAGE}.load": ("name", "sources", "extra_cflags", "extra_cuda_cflags"),
    f"{PACKAGE}.load_inline": ("name", "cpp_sources", "cuda_sources", "functions"),
    "setuptools.Extension": ("name", "sources"),
    "setuptools.extension.Extension": ("name", "sources"),
    "distutils.core.Extension": ("name", "sources"),
}
#: Functions that give CUDA sources to nvcc.
CUDA = frozenset(f"{PACKAGE}.{name}" for name in ("CUDAExtension", "load", "load_inline"))


class Build(NamedTuple):
    """One such call: the full name of the function, and its arguments, those of `**options` too."""

    call: cst.Call
    function: str
    arguments: list[Entry]

    @property
    def is_cuda(self) -> bool:
        return self.function in CUDA

    def values(self, name: str) -> Iterator[cst.BaseExpression]:
        """What an argument is given."""
        return (entry.value for entry in self.arguments if entry.name == name)


@lru_cache(maxsize=1)
def builds(module: Module) -> tuple[Build, ...]:
    """Every such call in a module."""
    if not module.draft.mentions(b"Extension", b"cpp_extension"):
        return ()
    return tuple(_found(module))


def _found(module: Module) -> Iterator[Build]:
    for call in module.nodes(cst.Call):
        function = _function(module, call.func)
        if function:
            yield Build(call, function, list(_arguments(module, call, _POSITIONAL[function])))


def _function(module: Module, func: cst.BaseExpression) -> str:
    """The full name; a name that may stand for several, as in `Ext = CUDAExtension if cuda else CppExtension`."""
    full = module.one_of(func, _POSITIONAL)
    if full or not isinstance(func, cst.Name) or func.value in module.imported_roots:
        return full
    if not any(name.startswith(PACKAGE) for names in module.imported_roots.values() for name in names):
        return ""
    found = [module.one_of(value, _POSITIONAL) for value in flow(module).values(func) if value is not func]
    return next((name for name in found if name in CUDA), next(filter(None, found), ""))


def _arguments(module: Module, call: cst.Call, names: tuple[str, ...]) -> Iterator[Entry]:
    for arg, name in zip(call.args, names, strict=False):
        if arg.keyword is not None or arg.star:
            break
        yield Entry(name, arg.value, arg.value)
    for arg in call.args:
        if arg.keyword is not None:
            yield Entry(arg.keyword.value, arg.keyword, arg.value)
        elif arg.star == "**":
            yield from flow(module).entries(arg.value)
