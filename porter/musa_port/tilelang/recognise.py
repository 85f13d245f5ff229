"""Which files are TileLang, and what in them is a name of its language.

Recognition goes by imports, under whatever name: `import tilelang.language as T`, `from tilelang import language`,
`import tilelang` with `T = tilelang.language`. A call of `T.gemm` is known as the call of `gemm`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from musa_port.python.module import Module
from musa_port.python.tree import dotted

#: Packages that hold the words of kernels.
_LANGUAGES = ("tilelang.language.", "tilelang.cuda.language.", "tilelang.musa.language.")


def is_language(package: str) -> bool:
    """Whether a package is one that holds the words of kernels."""
    return f"{package}." in _LANGUAGES


def is_tilelang(module: Module) -> bool:
    """Whether the file imports TileLang."""
    return module.imports("tilelang")


def word(module: Module, node: cst.CSTNode) -> str:
    """`gemm` for `T.gemm`: the name within TileLang's language, "" for anything else."""
    full = module.qualified(node)
    return next((full[len(package) :] for package in _LANGUAGES if full.startswith(package)), "")


def calls(module: Module, *words: str) -> Iterator[cst.Call]:
    """Calls of these words of the language, in the order of the source; none in a file without TileLang."""
    table = _calls(module)
    found = [call for name in words for call in table.get(name, ())]
    return iter(sorted(found, key=lambda call: module.span(call)[0]) if len(words) > 1 else found)


def called_words(module: Module) -> dict[str, list[cst.Call]]:
    """Every word of the language that the file calls, and its calls."""
    return _calls(module)


@lru_cache(maxsize=1)
def _calls(module: Module) -> dict[str, list[cst.Call]]:
    table: dict[str, list[cst.Call]] = {}
    if is_tilelang(module):
        for call in module.nodes(cst.Call):
            name = word(module, call.func)
            if name:
                table.setdefault(name, []).append(call)
    return table


def argument(call: cst.Call, keyword: str, position: int | None = None) -> cst.BaseExpression | None:
    """The value given to a parameter, by keyword or by position (of a call without `*`), None when it is not given."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == keyword:
            return arg.value
    if position is None or any(arg.star for arg in call.args[: position + 1]):
        return None
    if position < len(call.args) and call.args[position].keyword is None:
        return call.args[position].value
    return None


def keyword(call: cst.Call, name: str) -> cst.Arg | None:
    """The keyword argument of this name."""
    return next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def last_name(node: cst.CSTNode) -> str:
    """`c` of `a.b.c`, of `f().c` and of `c`; "" for anything else."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return (dotted(node) or [""])[-1]


def kernel_name(module: Module, node: cst.CSTNode) -> str:
    """The function that a person would name the kernel by: the one around the node, the factory when that is `main`."""
    names = [function.name.value for function in module.all_enclosing(node, cst.FunctionDef)]
    generic = {"main", "kernel", "prim_func", "_kernel", "func"}
    return next((name for name in names if name not in generic), names[0] if names else "the module")
