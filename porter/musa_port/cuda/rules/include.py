"""#include lines: SDK headers, headers of the project, and files that this run renames."""

from __future__ import annotations

import posixpath
import re

from musa_port.cuda.facts import Directive
from musa_port.cuda.port import Port
from musa_port.cuda.registry import check
from musa_port.mappings import Row
from musa_port.model import Severity
from musa_port.names import rename_inner_words
from musa_port.options import RENAMED
from musa_port.rules import Rule, register

HEADER = register(
    Rule(
        "C10",
        "sdk-header",
        Severity.INFO,
        "Renames an include of a CUDA, library or PyTorch header.",
        example=("#include <cuda_runtime.h>", "#include <musa_runtime.h>"),
        evidence="headers.csv, c10_aten.csv, cutlass.csv",
    )
)
MISSING = register(
    Rule(
        "C11",
        "missing-header",
        Severity.ERROR,
        "Reports an include of a header that has no MUSA counterpart.",
        example=("#include <cusparseLt.h>", "#include <cusparseLt.h>"),
        advice="Put the include and its uses under #ifndef __MUSA__, or write a MUSA path by hand.",
        evidence="headers.csv, confidence none",
    )
)
FOLLOW = register(
    Rule(
        "C12",
        "renamed-file",
        Severity.INFO,
        "Makes an include follow a file of the project that this run renames.",
        example=('#include "util.cuh"', '#include "util.muh"'),
    )
)
UNKNOWN = register(
    Rule(
        "C13",
        "unknown-header",
        Severity.WARNING,
        "Reports an include with a CUDA word that is neither in the tables nor in the tree.",
        example=("#include <other/cuda_tools.h>", "#include <other/cuda_tools.h>"),
        advice="Port the library that it comes from, or give its name with --map.",
    )
)

_TARGET = re.compile(rb'([<"])([^>"\n]+)[>"]')
_HAS_INCLUDE = re.compile(rb'__has_include(?:_next)?\s*\(\s*([<"])([^>"\n]+)[>"]')
_SUSPECT = re.compile(
    r"cuda|CUDA|cublas|cudnn|curand|cufft|cusparse|cusolver|cupti|nccl|nvrtc|nvml|nvshmem|(^|/)nv[tA-Z]"
)


@check(order=20)
def rewrite(port: Port) -> None:
    """Decide each include line and each `__has_include`."""
    for directive in port.facts.directives:
        if port.is_claimed(directive.start):
            continue
        pattern = _TARGET if directive.keyword in ("include", "include_next", "import") else _HAS_INCLUDE
        for match in pattern.finditer(port.data, directive.argument, directive.end):
            _decide(port, directive, match)
            if pattern is _TARGET:
                break


def _decide(port: Port, directive: Directive, match: re.Match[bytes]) -> None:
    start, end = match.span(2)
    target = match.group(2).decode("utf-8", "replace")
    quoted = match.group(1) == b'"'
    own = port.index.resolve(port.path, target) if quoted or "/" in target else None
    row = port.names.header(target)
    if own is None and row is None and not quoted:
        own = port.index.resolve(port.path, target)
    if own is not None and (quoted or row is None or _is_listed(port, own)):
        _follow(port, start, end, target, own)
    elif row is not None:
        _apply(port, start, end, row)
    elif (derived := _derive(target, port.names.reverse)) != target:
        port.edit(start, end, derived, "derived-name", "derived")
        message = f"{target} is in no table; renamed to {derived}"
        port.report("derived-name", start, end, message, new=derived, name=target)
    elif _SUSPECT.search(target) and not port.names.reverse:
        port.report("unknown-header", start, end, f"{target} is left as it is", name=target)


def _is_listed(port: Port, path: str) -> bool:
    return path in port.index.files


def _follow(port: Port, start: int, end: int, target: str, own: str) -> None:
    """The include names a file of the tree: only its extension may change."""
    renamed = port.index.files[own]
    if renamed != own:
        new = posixpath.splitext(target)[0] + posixpath.splitext(renamed)[1]
        port.edit(start, end, new, "renamed-file")
    port.claim(start, end)


def _apply(port: Port, start: int, end: int, row: Row) -> None:
    if not row.supported:
        note = f": {row.note}" if row.note else ""
        port.report("missing-header", start, end, f"{row.cuda} has no MUSA counterpart{note}", name=row.cuda)
        return
    new = _renamed_suffix(row) if row.kind == "header-prefix" else row.musa
    port.edit(start, end, new, "sdk-header", row.confidence)
    note = f": {row.note}" if row.note else ""
    if row.flag in ("semantic", "partial"):
        severity = Severity.WARNING if row.flag == "semantic" else Severity.INFO
        message = f"{row.cuda} became {new}" if new != row.cuda else row.cuda
        changed = new if new != row.cuda else ""
        port.report("sdk-header", start, end, message + note, severity=severity, new=changed, name=row.cuda)
    elif row.confidence in ("low", "medium-low") and new != row.cuda:
        message = f"{row.cuda} became {new} on weak evidence (confidence {row.confidence}){note}"
        port.report("unproven-name", start, end, message, new=new, name=row.cuda)


def _renamed_suffix(row: Row) -> str:
    """Below a prefix that moves (`thrust/system/cuda/`), file names move their inner words too."""
    if row.cuda.startswith("thrust/system/cuda/"):
        return row.musa.replace("cuda", "musa")
    return row.musa


def _derive(target: str, reverse: bool) -> str:
    """PyTorch's CUDA headers without a row: the compatibility tree of torch_musa follows one rule."""
    folder = (
        ("ATen/musa/", "c10/musa/", "ATen/native/musa/")
        if reverse
        else ("ATen/cuda/", "c10/cuda/", "ATen/native/cuda/")
    )
    if not target.startswith(folder):
        return target
    stem, suffix = posixpath.splitext(target)
    pairs = {new: old for old, new in RENAMED.items()} if reverse else RENAMED
    stem = stem.replace("/musa/", "/cuda/") if reverse else stem.replace("/cuda/", "/musa/")
    return rename_inner_words(stem, reverse) + pairs.get(suffix, suffix)
