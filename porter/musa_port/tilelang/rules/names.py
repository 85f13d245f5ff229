"""Names that TileLang has elsewhere for MUSA. The tables move them, as they move every name (triton_tilelang.csv)."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted
from musa_port.python.uses import is_use
from musa_port.rules import Rule, register
from musa_port.tilelang.recognise import is_tilelang, last_name

DETERMINE = register(
    Rule(
        "H14",
        "determine-target",
        Severity.ERROR,
        "Takes determine_target from tilelang.backend.target; reports other names of tilelang.utils.target.",
        why="The module tilelang.utils.target is gone since TileLang 0.1.12, on CUDA too. Rule P24 moves the import.",
        example=("from tilelang.utils.target import check_cuda_availability",) * 2,
        advice="Look for the name in tilelang.backend.target and tilelang.musa.target.",
    )
)
POSTPROC = register(
    Rule(
        "H16",
        "source-postprocessing",
        Severity.WARNING,
        "Registers hooks on the generated source under their MUSA names.",
        why="Rule P24 renames the functions that register them; what the hook looks for in CUDA source may be spelled "
        "otherwise in MUSA source.",
        example=(
            '@tvm.register_func("tilelang_callback_cuda_postproc")\ndef edit(code, target):\n    return code',
            '@tvm.register_func("tilelang_callback_musa_postproc")\ndef edit(code, target):\n    return code',
        ),
        advice="Read the body of the hook: it edits text that was CUDA source.",
    )
)
TRANSFORM = register(
    Rule(
        "H17",
        "backend-passes",
        Severity.WARNING,
        "Reports names of tilelang.cuda, such as its passes, which come from tilelang.musa in the port.",
        why="Rule P24 renames the package. What it holds is made for another architecture.",
        example=(
            "run = tilelang.cuda.transform.LowerHopperIntrin()",
            "run = tilelang.musa.transform.LowerHopperIntrin()",
        ),
        advice="Check that tilelang.musa has each of these names.",
    )
)
_OLD_MODULE = "tilelang.utils.target"
_REGISTER = re.compile(r"tilelang(\.engine(\.callback)?)?\.register_cuda_postproc(_callback)?")
_CALLBACK = "tilelang_callback_cuda_postproc"


@visit(cst.ImportFrom, order=8)
def report_import(module: Module, node: cst.ImportFrom) -> None:
    """Names of modules that are gone, hooks, and passes."""
    if node.module is None or node.relative or isinstance(node.names, cst.ImportStar):
        return
    package = ".".join(dotted(node.module))
    if package.split(".")[0] != "tilelang":
        return
    for alias in node.names:
        full = f"{package}.{dotted(alias.name)[0]}"
        if package == _OLD_MODULE and module.paths.exact(full) is None:
            message = f"{full} is left: its module is gone in newer TileLang"
            module.report(alias, "determine-target", message, name=full)
        elif _is_of_backend(module, full):
            _report_pass(module, alias, full)
        elif _REGISTER.fullmatch(full):
            _report_hook(module, alias, full)


@visit(cst.Attribute, order=8)
def report_name(module: Module, node: cst.Attribute) -> None:
    """The same as chains of names: `tilelang.cuda.transform.X`, `tilelang.register_cuda_postproc`."""
    name = node.attr.value
    if not is_tilelang(module) or not (name.startswith("register_cuda") or module.draft.mentions(b"tilelang.cuda")):
        return
    full = module.qualified(node) if is_use(module, node) else ""
    if _is_of_backend(module, full):
        _report_pass(module, node, full)
    elif _REGISTER.fullmatch(full):
        _report_hook(module, node, full)


def _is_of_backend(module: Module, full: str) -> bool:
    """Whether a name of the CUDA backend has no row of its own; those of macros for matrix units are for rule K28."""
    is_known = module.paths.exact(full) is not None or full.startswith("tilelang.cuda.intrinsics")
    return full.startswith("tilelang.cuda.") and not is_known


def _report_pass(module: Module, node: cst.CSTNode, full: str) -> None:
    new = full.replace("tilelang.cuda", "tilelang.musa", 1)
    module.report(node, "backend-passes", f"{full} became {new}: check that it exists", new=new, name=full)


def _report_hook(module: Module, node: cst.CSTNode, full: str) -> None:
    new = full.rpartition(".")[2].replace("cuda", "musa")
    message = f"{full.rpartition('.')[2]} became {new}: the hook edits what was CUDA source"
    module.report(node, "source-postprocessing", message, new=new, name=full)


@visit(cst.SimpleString, order=8)
def port_callback(module: Module, node: cst.SimpleString) -> None:
    """`register_func("tilelang_callback_cuda_postproc")`."""
    if plain(node) != _CALLBACK or not isinstance(module.parent(node), cst.Arg):
        return
    text = text_of(module, node)
    if text is not None:
        _rename(module, node, text.start)


@visit(cst.FunctionDef, order=8)
def port_hook(module: Module, node: cst.FunctionDef) -> None:
    """A hook that registers by its own name: `@tvm.register_func` above `def tilelang_callback_cuda_postproc`."""
    bare = [item.decorator for item in node.decorators if not isinstance(item.decorator, cst.Call)]
    if node.name.value == _CALLBACK and any(last_name(name).startswith("register_") for name in bare):
        _rename(module, node.name, module.span(node.name)[0])


def _rename(module: Module, node: cst.CSTNode, start: int) -> None:
    new = _CALLBACK.replace("cuda", "musa")
    module.edit(start, start + len(_CALLBACK), new, "source-postprocessing", musa=False)
    message = f"{_CALLBACK} became {new}: the hook edits what was CUDA source"
    module.report(node, "source-postprocessing", message, new=new, name=_CALLBACK)
