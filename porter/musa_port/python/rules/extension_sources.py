"""Paths of CUDA sources in Python: they follow the files that this run renames."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from musa_port import renames
from musa_port.model import Severity
from musa_port.python.extensions import builds
from musa_port.python.flow import flow
from musa_port.python.literals import is_docstring, plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted, walk
from musa_port.python.words import is_decided, place
from musa_port.rules import Rule, register

SOURCES = register(
    Rule(
        "P17",
        "extension-sources",
        Severity.WARNING,
        "Makes paths, globs and suffixes of CUDA sources follow the files that this run renames.",
        why="A source that is renamed would no longer be found.",
        example=(
            'from torch.utils.cpp_extension import CUDAExtension\nCUDAExtension("ops", ["csrc/ops.cu"])',
            'from torch_musa.utils.musa_extension import MUSAExtension\nMUSAExtension("ops", ["csrc/ops.mu"])',
        ),
        advice="Check which file is meant. torch_musa gives only .mu files to mcc.",
    )
)
#: Functions and methods whose arguments are paths, parts of paths, globs or suffixes.
_TAKES_PATH = frozenset(
    "glob iglob rglob join joinpath Path PurePath PosixPath open endswith removesuffix match fnmatch filter "
    "fnmatchcase exists isfile relpath abspath realpath copy copyfile copy2 move files".split()
)
#: Methods whose first argument may be a suffix that they look for.
_SEEKS_SUFFIX = frozenset({"replace", "split", "rsplit", "partition", "rpartition"})
_DATA = frozenset({"package_data", "exclude_package_data", "data_files"})
_SUFFIXES = tuple(renames.SUFFIXES)


@visit(cst.Module, order=33)
def port_sources(module: Module, node: cst.Module) -> None:
    """What an extension is built from."""
    for build in builds(module):
        for value in build.values("sources"):
            for part in flow(module).sequences(value):
                for literal in _literals(module, part, set()):
                    port_literal(module, literal, is_source=build.is_cuda)


def _literals(
    module: Module, node: cst.BaseExpression, seen: set[cst.CSTNode]
) -> Iterator[cst.SimpleString | cst.FormattedString]:
    """Every string below an expression that names a source, and those of the names that it uses."""
    for item, _ in walk(node):
        if isinstance(item, (cst.SimpleString, cst.FormattedString)):
            yield item
        elif isinstance(item, (cst.Name, cst.Attribute)) and item not in seen:
            seen.add(item)
            for value in flow(module).values(item):
                if value is not item:
                    yield from _literals(module, value, seen)


@visit(cst.SimpleString, cst.FormattedString, order=34)
def port_path(module: Module, node: cst.SimpleString | cst.FormattedString) -> None:
    """A path in a place where paths stand: `glob("*.cu")`, `folder / "ops.cu"`, `name.endswith(".cu")`."""
    if suffix_of(node) and _is_path(module, node):
        port_literal(module, node)


@visit(cst.SimpleString, order=80)
def report_path(module: Module, node: cst.SimpleString) -> None:
    """A path of a renamed source in any other place."""
    if not suffix_of(node) or is_decided(module, node) or is_docstring(module, node):
        return
    path = _path(module, node)
    new = renames.new_name(module.draft.index, module.draft.path, path)
    if new is not None and new != path:
        message = f"{plain(node)} is left, while this run renames what it names"
        module.report(node, "extension-sources", message, severity=Severity.INFO, name=plain(node), once=plain(node))


def suffix_of(node: cst.CSTNode) -> str:
    """The suffix of a CUDA source that the string ends with, "" for other strings."""
    text = plain(node)
    if isinstance(node, cst.FormattedString) and node.parts and isinstance(node.parts[-1], cst.FormattedStringText):
        text = node.parts[-1].value
    return next((suffix for suffix in _SUFFIXES if text.endswith(suffix)), "")


def _is_path(module: Module, node: cst.CSTNode) -> bool:
    parent = module.parent(node)
    while isinstance(parent, (cst.Element, cst.List, cst.Tuple, cst.Set)):
        node, parent = parent, module.parent(parent)
    if isinstance(parent, cst.BinaryOperation):
        return isinstance(parent.operator, cst.Divide) and parent.right is node
    if isinstance(parent, (cst.Comparison, cst.ComparisonTarget)):
        comparison = parent if isinstance(parent, cst.Comparison) else module.parent(parent)
        return isinstance(comparison, cst.Comparison) and _compares_suffix(comparison)
    if isinstance(parent, cst.DictElement):
        return _is_data(module, parent)
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return False
    name = _name(call.func)
    return name in _TAKES_PATH or (name in _SEEKS_SUFFIX and call.args[0] is parent and plain(node) in _SUFFIXES)


def _compares_suffix(node: cst.Comparison) -> bool:
    """`path.suffix == ".cu"`, `os.path.splitext(name)[1] in (".cu", ".cuh")`."""
    for operand in (node.left, *(target.comparator for target in node.comparisons)):
        inner = operand.value if isinstance(operand, cst.Subscript) else operand
        if _name(inner.func if isinstance(inner, cst.Call) else inner) in ("suffix", "splitext", "ext", "suffixes"):
            return True
    return False


def _is_data(module: Module, element: cst.DictElement) -> bool:
    """`package_data={"pkg": ["csrc/*.cu"]}`."""
    arg = module.enclosing(element, cst.Arg)
    return arg is not None and arg.keyword is not None and arg.keyword.value in _DATA


def _name(node: cst.CSTNode) -> str:
    return node.attr.value if isinstance(node, cst.Attribute) else (dotted(node) or [""])[-1]


# ---- one path ---------------------------------------------------------------------------------------------------


def port_literal(module: Module, node: cst.SimpleString | cst.FormattedString, *, is_source: bool = False) -> None:
    """Rename a path in a string. `is_source` tells that an extension is built from it."""
    suffix = suffix_of(node)
    if not suffix or is_decided(module, node):
        return
    path = _path(module, node)
    new = renames.new_name(module.draft.index, module.draft.path, path)
    if new is not None and new != path:
        _edit_suffix(module, node, suffix, new[len(path) - len(suffix) :])
        return
    if is_source:
        _say_kept(module, node, path, new is not None)


def _edit_suffix(module: Module, node: cst.SimpleString | cst.FormattedString, suffix: str, new: str) -> None:
    last = node.parts[-1] if isinstance(node, cst.FormattedString) else node
    text = text_of(module, node) if last is node else None
    end = module.span(last)[1] if text is None else place(module, text, 0)[1]
    module.edit(end - len(suffix), end, new, "extension-sources", musa=False)
    module.claim(node)


def _say_kept(module: Module, node: cst.CSTNode, path: str, is_known: bool) -> None:
    if is_known:
        message = f"{path} keeps its name, and torch_musa gives only .mu files to mcc"
    else:
        message = f"{path} is left: no file of the tree is known by that name"
    module.report(node, "extension-sources", message, name=path, once=f"{path} {module.span(node)[0]}")


def _path(module: Module, node: cst.SimpleString | cst.FormattedString) -> str:
    """The path that is looked for in the tree; what is known only at run time is `{x}`, in the file's name `*`."""
    text = plain(node)
    if isinstance(node, cst.FormattedString):
        text = "".join(part.value if isinstance(part, cst.FormattedStringText) else "{x}" for part in node.parts)
        folder, slash, name = text.rpartition("/")
        text = folder + slash + name.replace("{x}", "*")
    if text in _SUFFIXES:
        return "*" + text
    return "/".join([*_folders(module, node), text])


def _folders(module: Module, node: cst.CSTNode) -> list[str]:
    """The literal parts right before the last one, of `os.path.join(here, "csrc", "ops.cu")`."""
    arg = module.parent(node)
    call = module.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(call, cst.Call) or _name(call.func) not in ("join", "joinpath"):
        return []
    found: list[str] = []
    for other in call.args:
        if other is arg:
            break
        found = [*found, plain(other.value).strip("/")] if plain(other.value) else []
    return found
