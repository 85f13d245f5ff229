"""TVM's module `tir`, which newer TVM calls `tirx`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.statements import indentation, newline
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register
from musa_port.tilelang.recognise import is_tilelang

TIR = register(
    Rule(
        "H15",
        "tvm-tirx",
        Severity.ERROR,
        "Imports TVM's tirx as tir, and falls back to the old name.",
        why="The TVM of tilelang-musa 0.1.12 calls the module tirx; older versions have tir.",
        example=(
            "from tvm import tir",
            "try:\n    from tvm import tirx as tir\nexcept ImportError:\n    from tvm import tir",
        ),
        advice="Write tvm.tirx where the file goes through the module tvm itself.",
    )
)
_MODULE = "tvm.tir"


@visit(cst.ImportFrom, order=8)
def port_from(module: Module, node: cst.ImportFrom) -> None:
    """`from tvm import tir`, `from tvm.tir import PrimFunc`."""
    if node.module is None or node.relative or not is_tilelang(module) or isinstance(node.names, cst.ImportStar):
        return
    package = dotted(node.module)
    if package[:2] == ["tvm", "tir"]:
        listed = ", ".join(module.code(alias) for alias in node.names)
        rest = "".join(f".{part}" for part in package[2:])
        _with_fallback(module, node, f"from tvm.tirx{rest} import {listed}", module.code(node))
    elif package == ["tvm"]:
        _port_module(module, node, [alias for alias in node.names if dotted(alias.name) == ["tir"]])


def _port_module(module: Module, node: cst.ImportFrom, moving: list[cst.ImportAlias]) -> None:
    if not moving or isinstance(node.names, cst.ImportStar):
        return
    local = _local(moving[0])
    kept = [module.code(alias) for alias in node.names if alias not in moving]
    old = "from tvm import tir" if local == "tir" else f"from tvm import tir as {local}"
    before = [f"from tvm import {', '.join(kept)}"] if kept else []
    _with_fallback(module, node, f"from tvm import tirx as {local}", old, before)


def _local(alias: cst.ImportAlias) -> str:
    return alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else "tir"


@visit(cst.Import, order=8)
def port_import(module: Module, node: cst.Import) -> None:
    """`import tvm.tir as tir`; without `as`, every use would have to change."""
    if not is_tilelang(module):
        return
    found = [alias for alias in node.names if dotted(alias.name)[:2] == ["tvm", "tir"]]
    if found and len(node.names) == 1 and found[0].asname is not None:
        new = module.code(node).replace(_MODULE, "tvm.tirx", 1)
        _with_fallback(module, node, new, module.code(node))
    elif found:
        _report(module, found[0])


@visit(cst.Attribute, order=8)
def report_use(module: Module, node: cst.Attribute) -> None:
    """`tvm.tir.PrimFunc` after `import tvm`."""
    if node.attr.value != "tir" or not is_tilelang(module):
        return
    if isinstance(module.parent(node), (cst.ImportAlias, cst.ImportFrom)):
        return
    if module.qualified(node) in (_MODULE, f"tilelang.{_MODULE}"):
        _report(module, node)


def _report(module: Module, node: cst.CSTNode) -> None:
    message = "tvm.tir is left: the TVM of tilelang-musa 0.1.12 calls it tvm.tirx"
    module.report(node, "tvm-tirx", message, severity=Severity.ERROR, once="tvm.tir")


def _with_fallback(
    module: Module, node: cst.ImportFrom | cst.Import, new: str, old: str, before: list[str] | None = None
) -> None:
    """Write `try: new, except ImportError: old` for an import, unless it stands in such a statement."""
    if any(isinstance(parent, cst.Try) for parent in module.ancestors(node)) and _mentions_tirx(module):
        return
    line = module.parent(node)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1 or "#" in module.code(node):
        _report(module, node)
        return
    block = module.tree.default_indent
    lines = [*(before or []), "try:", block + new, "except ImportError:", block + " ".join(old.split())]
    text = (newline(module) + indentation(module, node)).join(lines)
    module.replace(node, text, "tvm-tirx", musa=False)


def _mentions_tirx(module: Module) -> bool:
    """Whether some import of the file names tirx."""
    return any("tirx" in name for name in _imported(module))


def _imported(module: Module) -> Iterator[str]:
    for node in module.nodes(cst.Import):
        yield from (".".join(dotted(alias.name)) for alias in node.names)
    for statement in module.nodes(cst.ImportFrom):
        if statement.module is not None and not isinstance(statement.names, cst.ImportStar):
            package = ".".join(dotted(statement.module))
            yield from (f"{package}.{dotted(alias.name)[0]}" for alias in statement.names)
