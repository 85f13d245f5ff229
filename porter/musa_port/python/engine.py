"""Porting one Python file: parse, visit every node once, let the rules decide."""

from __future__ import annotations

import io
import tokenize

import libcst as cst

from musa_port.draft import Draft
from musa_port.languages import Language, register
from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visitors
from musa_port.rules import Rule
from musa_port.rules import register as register_rule

UNPARSED = register_rule(
    Rule(
        "F16",
        "unparsed-source",
        Severity.ERROR,
        "Copies a Python file that does not parse, or that is not written in UTF-8, and names the place.",
        why="Python 2, templates and notebooks exported as text have no syntax tree, and text is not ported blindly.",
        advice="Port the file by hand, or make it Python 3 in UTF-8 and port again.",
    )
)
_BOM = b"\xef\xbb\xbf"


def port(draft: Draft) -> None:
    """Decide one file. What cannot be parsed is left and reported."""
    offset = len(_BOM) if draft.data.startswith(_BOM) else 0
    tree = _parse(draft, draft.data[offset:])
    if tree is None:
        return
    module = Module(draft, tree, offset)
    for visitor in visitors():
        for kind in visitor.kinds:
            for node in module.nodes(kind):
                visitor.function(module, node)


def _parse(draft: Draft, data: bytes) -> cst.Module | None:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
        if encoding not in ("utf-8", "ascii") and not data.isascii():
            raise SyntaxError(f"is written in {encoding}")
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        _report(draft, error.message, error.raw_line)
    except (SyntaxError, UnicodeDecodeError) as error:
        _report(draft, str(error), 1)
    except RecursionError:
        _report(draft, "is nested too deeply", 1)
    return None


def _report(draft: Draft, message: str, line: int) -> None:
    start = draft.lines.start(min(line, draft.lines.count))
    draft.report("unparsed-source", start, start, f"not ported, does not parse: {message}")


PYTHON = register(Language("python", "python", ("*.py", "*.pyi"), port, interpreter=r"python[\d.]*"))
