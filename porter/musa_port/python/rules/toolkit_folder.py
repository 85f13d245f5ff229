"""Folders and files of the installed toolkit, as a program puts their paths together."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from musa_port import flags
from musa_port.mappings import Row
from musa_port.model import Severity
from musa_port.python.joined import first, is_toolkit, looks_like_toolkit, whole
from musa_port.python.literals import Text, is_docstring, text_of
from musa_port.python.messages import is_message
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.words import is_decided, place
from musa_port.rules import Rule, register

FOLDER = register(
    Rule(
        "P37",
        "toolkit-folder",
        Severity.WARNING,
        "Follows paths below CUDA_HOME: lib64 becomes lib, nvcc becomes mcc; reports literal paths of the toolkit.",
        why="The folders of the MUSA toolkit have other names, and a path that is written down is not guessed.",
        example=(
            'from torch.utils.cpp_extension import CUDA_HOME\nlib = os.path.join(CUDA_HOME, "lib64")',
            'from torch_musa.utils.musa_extension import MUSA_HOME\nlib = os.path.join(MUSA_HOME, "lib")',
        ),
        advice="Write the folder that your MUSA SDK has, or read it from MUSA_HOME.",
        evidence="compiler_flags.csv, libraries.csv, env.csv",
    )
)
_ROOT = "/usr/local/cuda"
_LITERAL = re.compile(r"(?:/usr/local|/opt)/cuda(?![\w.]*\w*://)(?:-[\d.]+)?(?![\w-])")
#: Folders that the MUSA toolkit has under the same name.
_SAME = frozenset({"", "bin", "include"})


@visit(cst.SimpleString, cst.FormattedString, order=35)
def port_below(module: Module, node: cst.SimpleString | cst.FormattedString) -> None:
    """The parts of a path after CUDA_HOME."""
    parts = [part for part in _parts(module, node) if any(_is_known(module, name) for _, name in _steps(part))]
    if not parts or is_decided(module, node):
        return
    path = whole(module, node)
    root = first(path)
    if root is node or isinstance(root, (cst.SimpleString, cst.ConcatenatedString)):
        return
    if is_toolkit(module, root):
        for part in parts:
            _port_steps(module, node, part)
        module.claim(node)
    elif looks_like_toolkit(root):
        for part in parts:
            for _, name in _steps(part):
                if (new := _target(module, name)) is not None:
                    message = f"{name} is left; below the MUSA toolkit it is {new[0]}"
                    module.report(node, "toolkit-folder", message, name=name, once=name)


def _parts(module: Module, node: cst.SimpleString | cst.FormattedString) -> Iterator[Text]:
    """The literal texts of a string."""
    if isinstance(node, cst.SimpleString):
        text = text_of(module, node)
        if text is not None:
            yield text
        return
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText) and "\\" not in part.value:
            yield Text(part.value, module.span(part)[0])


def _steps(text: Text) -> Iterator[tuple[int, str]]:
    """The folders and the file of a text, with the place of each."""
    if " " not in text.value:
        for match in re.finditer(r"[^/]+", text.value):
            yield match.start(), match.group()


def _is_known(module: Module, name: str) -> bool:
    return _target(module, name) is not None


def _target(module: Module, name: str) -> tuple[str, Row] | None:
    """What a folder or a file of the toolkit is called in that of MUSA, when that differs and is known."""
    row = flags.path(f"{_ROOT}/{name}")
    if row is not None and name not in _SAME:
        return row.musa.rpartition("/")[2], row
    row = flags.tool(name) if name == "nvcc" else module.draft.names.libraries.get(name)
    return (row.musa, row) if row is not None and row.supported else None


def _port_steps(module: Module, node: cst.CSTNode, text: Text) -> None:
    for start, name in _steps(text):
        found = _target(module, name)
        if found is None or not module.draft.names.allowed(found[1]):
            continue
        begin, _ = place(module, text, start)
        if module.draft.is_claimed(begin):
            continue
        new, row = found
        module.edit(begin, begin + len(name), new, "toolkit-folder", row.confidence, musa=False)
        note = f": {row.note}" if row.note else ""
        message = f"{name} below the folder of the toolkit became {new}{note}"
        module.report(node, "toolkit-folder", message, severity=Severity.INFO, new=new, name=name, once=name)


def _usual() -> str:
    row = flags.path(_ROOT)
    return row.musa if row is not None else "another folder"


@visit(cst.SimpleString, cst.FormattedString, order=80)
def report_literal(module: Module, node: cst.SimpleString | cst.FormattedString) -> None:
    """`"/usr/local/cuda"` in any place."""
    for text in _parts(module, node):
        for match in _LITERAL.finditer(text.value):
            is_known = is_decided(module, node) or module.draft.is_claimed(text.start)
            if not is_known and not is_docstring(module, node) and not is_message(module, node):
                message = f"{match.group()} is left; the MUSA toolkit is usually in {_usual()}"
                module.report(node, "toolkit-folder", message, name=match.group(), once=match.group())
