"""Where statements stand: lines, indentation, and how one more statement is added beside another."""

from __future__ import annotations

import libcst as cst

from musa_port.python.module import Module


def line_of(module: Module, node: cst.CSTNode) -> cst.SimpleStatementLine | cst.SimpleStatementSuite | None:
    """The line of small statements that a statement is on."""
    around: cst.CSTNode | None = module.enclosing(node, cst.SimpleStatementLine, cst.SimpleStatementSuite)
    return around if isinstance(around, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) else None


def new_statement(module: Module, node: cst.CSTNode) -> str:
    """What separates a statement from one more after it in the same block.

    A new line with the same indentation; a semicolon on a line that holds several statements, or in `if x: import y`.
    """
    line = line_of(module, node)
    if isinstance(line, cst.SimpleStatementSuite) or (line is not None and len(line.body) > 1):
        return "; "
    return newline(module) + indentation(module, node)


def newline(module: Module) -> str:
    """The line ending of the file."""
    return module.tree.default_newline


def indentation(module: Module, node: cst.CSTNode) -> str:
    """The white space before the line that the node begins on."""
    start, _ = module.span(node)
    data = module.draft.data
    begin = data.rfind(b"\n", 0, start) + 1
    end = begin
    while end < len(data) and data[end : end + 1] in (b" ", b"\t"):
        end += 1
    return data[begin:end].decode()


def after_line(module: Module, node: cst.CSTNode) -> int:
    """Offset behind the line ending of the line that the statement ends on (the end of the file when it has none)."""
    _, end = module.span(node)
    found = module.draft.data.find(b"\n", end)
    return found + 1 if found >= 0 else len(module.draft.data)
