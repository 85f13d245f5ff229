"""Paths into the CUDA toolkit, and the libraries that it holds, where words of scripts name them."""

from __future__ import annotations

import re

from musa_port import flags
from musa_port.build import toolkit_paths
from musa_port.build.environment import row_for
from musa_port.build.fragment import Fragment
from musa_port.model import Severity

#: Variables that hold the folder of the toolkit.
ROOTS = frozenset({"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
_STEP = r"(?:/[\w.+@*-]+)*/?"
_LITERAL = re.compile(
    rf"(?:(?<=-I)|(?<=-L)|(?<![\w./}}$]))(?P<root>/usr/local/cuda|/opt/cuda)(?P<version>[\w.+$-][\w.+${{}}-]*)?(?P<below>{_STEP})"
)
_ROOT = re.compile(r"\b(?:CUDA_HOME|CUDA_PATH|CUDA_ROOT)=[\"']?$")
_VARIABLE = re.compile(rf"\$(?:\{{(?P<braced>\w+)\}}|(?P<bare>\w+))(?P<below>{_STEP})(?P<more>[\w$]?)")


def paths(text: Fragment, *, root: bool = False, keep: bool = False) -> None:
    """Every path into the toolkit in a text.

    root  whether the text is the folder of the toolkit itself
    keep  only report
    """
    for match in _LITERAL.finditer(text.text):
        _literal(text, match, root, keep)
    for match in _VARIABLE.finditer(text.text):
        name = match["braced"] or match["bare"]
        if name in ROOTS and match["below"].strip("/") and row_for(text.draft, name):
            _below_variable(text, match)


def folder(text: Fragment, name: str) -> None:
    """The value of a variable that holds the folder of the toolkit: report one that only CUDA can have."""
    if re.match(r"/|[A-Za-z]:", text.text) and not _LITERAL.match(text.text):
        message = f"{name} is {text.text}, of which no counterpart is known"
        text.report("toolkit-path", 0, len(text.text), message, severity=Severity.ERROR, name=text.text)


def _literal(text: Fragment, match: re.Match[str], root: bool, keep: bool) -> None:
    path = match.group().rstrip("/")
    span = match.start(), match.start() + len(path)
    if match["version"]:
        root = root or _ROOT.search(text.text, 0, match.start()) is not None
        severity = Severity.ERROR if root else Severity.WARNING
        message = "a path with a version of CUDA is left: which version of MUSA takes its place is not guessed"
        text.report("toolkit-path", *span, message, severity=severity, name="/usr/local/cuda-VERSION")
        return
    place = next(toolkit_paths.find(path), None)
    row = flags.path(match["root"])
    if keep or place is None or place.new is None or not place.sure or (row and not text.draft.names.allowed(row)):
        text.report("toolkit-path", *span, f"{path} is left", name=path)
    else:
        text.edit(*span, place.new, "toolkit-path", row.confidence if row else "")


def _below_variable(text: Fragment, match: re.Match[str]) -> None:
    """`/lib64` after `$CUDA_HOME`, whose name becomes another one elsewhere."""
    below = match["below"].rstrip("/")
    span = match.start("below"), match.start("below") + len(below)
    new, sure = toolkit_paths.below(below)
    if not sure or match["more"]:
        message = f"{match.group()} may be no folder of the MUSA toolkit"
        text.report("toolkit-path", *match.span(), message, name=match.group())
    elif new != below:
        text.edit(*span, new, "toolkit-path")


def library(name: Fragment) -> None:
    """A shared library that is named as such, `libcudart.so.12`."""
    row = name.draft.names.libraries.get(name.text)
    end = len(name.text)
    if row is None:
        return
    if not row.supported:
        name.report("toolkit-path", 0, end, f"{name.text} has no MUSA counterpart", name=name.text)
    elif name.draft.names.allowed(row) and name.edit(0, end, row.musa, "toolkit-path", row.confidence) and row.note:
        message = f"{name.text} became {row.musa}: {row.note}"
        name.report("toolkit-path", 0, end, message, severity=Severity.INFO, new=row.musa, name=name.text)
