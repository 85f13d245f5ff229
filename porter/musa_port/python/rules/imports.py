"""Import statements: what was imported from CUDA modules comes from their counterparts, under the same local names."""

from __future__ import annotations

import io
import tokenize
from typing import NamedTuple

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.paths import Target, import_of, package_of
from musa_port.python.registry import visit
from musa_port.python.rules.name import is_private, new_local, report_unsupported, rule_of
from musa_port.python.statements import new_statement
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register

MODULE = register(
    Rule(
        "P2",
        "import-torch-cuda",
        Severity.INFO,
        "Imports torch_musa where torch.cuda was imported as a module, under the same local name.",
        example=("from torch import cuda", "import torch_musa as cuda"),
        evidence="torch.musa is the module torch_musa itself",
    )
)
NAMES = register(
    Rule(
        "P3",
        "import-from-torch-cuda",
        Severity.INFO,
        "Imports from torch_musa what was imported from torch.cuda; an import of which only a part moves is split.",
        why="`torch.musa` is an attribute of torch and no package: `from torch.musa import x` fails.",
        example=("from torch.cuda.amp import autocast", "from torch_musa.core.amp import autocast"),
    )
)
CUDA_ONLY = register(
    Rule(
        "P31",
        "cuda-only-package",
        Severity.ERROR,
        "Reports packages that exist for CUDA only: cupy, numba.cuda, pycuda, cuda-python, nvtx, RAPIDS, TensorRT.",
        example=("import cupy", "import cupy"),
        advice="Write the part with torch, Triton or TileLang, or keep it out of the MUSA build.",
    )
)


class Part(NamedTuple):
    """One name of a from-import after porting: `from module import name as local`; module "" means `import name`."""

    module: str
    name: str
    local: str
    rule: str
    confidence: str = ""

    def alias(self) -> str:
        return self.name if self.local == self.name else f"{self.name} as {self.local}"


@visit(cst.Import, order=10)
def port_import(module: Module, node: cst.Import) -> None:
    """`import torch.cuda as tc`: each name by itself."""
    for alias in node.names:
        full = ".".join(dotted(alias.name))
        target = module.paths.find(full)
        if target is None or module.is_kept(target):
            continue
        if is_private(full):
            continue  # uses are reported
        if not target.row.supported:
            report_unsupported(module, alias.name, target)
        elif target.musa != target.cuda:
            _port_alias(module, node, alias, full, target)


def _port_alias(module: Module, node: cst.Import, alias: cst.ImportAlias, full: str, target: Target) -> None:
    path = package_of(target.musa + full[len(target.cuda) :])
    rule = "import-torch-cuda" if full.startswith("torch.") else rule_of(full)
    if alias.asname is not None:
        new = path
    elif full.startswith("torch.cuda"):
        new = "torch_musa" if _binds_torch_elsewhere(module, node) else "torch, torch_musa"
    else:
        new = path if "." in full else f"{path} as {full}"
    module.replace(alias.name, new, rule, target.row.confidence, musa=False)
    if "torch_musa" in new:
        module.new_imports.append(node)
    if target.row.flag:
        note = f": {target.row.note}" if target.row.note else ""
        module.report(alias, rule, f"{full} became {path}{note}", new=new, name=full)


def _binds_torch_elsewhere(module: Module, node: cst.Import) -> bool:
    """Whether another statement, or another part of this one, imports torch itself."""
    return any(
        dotted(alias.name) == ["torch"] and alias.asname is None
        for statement in module.nodes(cst.Import)
        for alias in statement.names
    ) or any(
        dotted(alias.name)[0] == "torch" and dotted(alias.name)[:2] != ["torch", "cuda"] and alias.asname is None
        for alias in node.names
    )


@visit(cst.ImportFrom, order=10)
def port_from_import(module: Module, node: cst.ImportFrom) -> None:
    """`from torch.cuda import a, b`: the names that move leave the statement."""
    if node.module is None or node.relative:
        return
    package = ".".join(dotted(node.module))
    if isinstance(node.names, cst.ImportStar):
        _port_star(module, node, package)
        return
    parts = [_part(module, alias, package) for alias in node.names]
    moving = [part for part in parts if part is not None]
    if not moving:
        return
    if len(moving) == len(parts) and len({part.module for part in moving}) == 1 and moving[0].module:
        _rewrite(module, node, moving)
    else:
        kept = [alias for alias, part in zip(node.names, parts, strict=True) if part is None]
        _split(module, node, package, kept, moving)
    if any((part.module or part.name).startswith("torch_musa") for part in moving):
        module.new_imports.append(node)


def _port_star(module: Module, node: cst.ImportFrom, package: str) -> None:
    target = module.paths.find(package)
    if target is None or target.musa == target.cuda or module.is_kept(target) or node.module is None:
        return
    if not target.row.supported:
        report_unsupported(module, node.module, target)
        return
    new = package_of(module.paths.moved(package))
    module.replace(node.module, new, "import-from-torch-cuda", target.row.confidence, musa=False)
    module.new_imports.append(node)
    message = f"everything of {package} is imported: torch_musa has fewer and other names"
    module.report(node, "import-from-torch-cuda", message, severity=Severity.WARNING, new=new)


def _part(module: Module, alias: cst.ImportAlias, package: str) -> Part | None:
    """Where one imported name comes from after porting; None when it stays in the statement."""
    old = dotted(alias.name)[0]
    full = f"{package}.{old}"
    target = module.paths.find(full)
    if target is None or module.is_kept(target):
        return None
    if is_private(full):
        known = f"; torch_musa has {target.musa}" if target.cuda == full and target.row.supported else ""
        module.report(alias, "private-torch", f"{full} is private and is left{known}", name=full)
        return None
    if not target.row.supported:
        report_unsupported(module, alias.name, target)
        return None
    if target.cuda == "torch.cuda" and full != target.cuda:
        message = f"{full} is not known in torch_musa and is left"
        module.report(alias, rule_of(full), message, severity=Severity.ERROR, name=full)
        return None
    if target.musa == target.cuda or not module.draft.names.allowed(target.row):
        return None
    moved = target.musa + full[len(target.cuda) :]
    local = _local(alias) or (new_local(module, full, moved) if moved.rpartition(".")[2] != old else old)
    _report_meaning(module, alias, target)
    return Part(*import_of(moved), local, _rule(full), target.row.confidence)


def _rule(full: str) -> str:
    rule = rule_of(full)
    if rule == "torch-cuda":
        return "import-torch-cuda" if full == "torch.cuda" else "import-from-torch-cuda"
    return rule


def _report_meaning(module: Module, alias: cst.ImportAlias, target: Target) -> None:
    meant = target.row.flag in ("semantic", "partial") and not target.cuda.startswith("torch.version")
    if meant or rule_of(target.cuda) == "nvml":
        note = f": {target.row.note}" if target.row.note else ""
        message = f"{target.cuda} became {target.musa}{note}"
        severity = Severity.INFO if target.cuda.startswith("torch.cuda") else None
        module.report(
            alias,
            rule_of(target.cuda),
            message,
            severity=severity,
            new=target.musa,
            name=target.cuda,
            once=target.cuda,
        )


def _local(alias: cst.ImportAlias) -> str:
    return alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else ""


def _rewrite(module: Module, node: cst.ImportFrom, parts: list[Part]) -> None:
    """Every name moves to the same module: the statement keeps its layout."""
    assert node.module is not None
    assert not isinstance(node.names, cst.ImportStar)
    module.replace(node.module, parts[0].module, parts[0].rule, parts[0].confidence, musa=False)
    for alias, part in zip(node.names, parts, strict=True):
        new = part.name if alias.asname is not None else part.alias()
        module.replace(alias.name, new, part.rule, part.confidence, musa=False)


def _split(module: Module, node: cst.ImportFrom, package: str, kept: list[cst.ImportAlias], moving: list[Part]) -> None:
    """The names that stay, then one statement for each module that others move to. Comments come first."""
    statements = _comments(module, node)
    if kept:
        statements.append(f"from {package} import {_listed([module.code(alias) for alias in kept])}")
    by_module: dict[str, list[Part]] = {}
    for part in moving:
        by_module.setdefault(part.module, []).append(part)
    for new_module, parts in by_module.items():
        names = _listed([part.alias() for part in parts])
        statements.append(f"from {new_module} import {names}" if new_module else f"import {names}")
    start, end = module.span(node)
    new = new_statement(module, node).join(statements)
    module.edit(start, end, new, moving[0].rule, moving[0].confidence, musa=False)


def _comments(module: Module, node: cst.ImportFrom) -> list[str]:
    """The comments between the parentheses of the statement."""
    start, end = module.span(node)
    text = module.draft.text(start, end)
    if "#" not in text:
        return []
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def _listed(names: list[str]) -> str:
    """Names with commas, without comments, on one line or, when they are many, in parentheses."""
    names = [" ".join(name.split()) for name in names]
    line = ", ".join(names)
    return line if len(line) < 80 else "(\n    " + ",\n    ".join(names) + ",\n)"
