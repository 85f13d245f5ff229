"""Porting one Python file: parse, visit every node once, let the rules decide."""

from __future__ import annotations

import re
from functools import cache

import libcst as cst

from musa_port.build import traces
from musa_port.draft import Draft
from musa_port.languages import Language, Notes, register
from musa_port.mappings import read_rows
from musa_port.model import Severity
from musa_port.python.depth import deep_recursion, require_flat
from musa_port.python.encoding import Source
from musa_port.python.module import Module
from musa_port.python.registry import visitors
from musa_port.rules import Rule
from musa_port.rules import register as register_rule

UNPARSED = register_rule(
    Rule(
        "F16",
        "unparsed-source",
        Severity.ERROR,
        "Copies a Python file that does not parse, and names the place.",
        why="Python 2, templates and notebooks exported as text have no syntax tree, and text is not ported blindly.",
        advice="Port the file by hand, or make it Python 3 and port again.",
    )
)
#: libcst loses a form feed at the beginning of a line; an empty line is as long and means the same.
_FORM_FEED = re.compile(r"^\f", re.M)
_IMPORTED = re.compile(rb"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.M)
#: Strings hide what looks like a comment.
_COMMENT = re.compile(
    rb"""'''(?:\\.|[^\\])*?'''|"{3}(?:\\.|[^\\])*?"{3}|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|(?P<comment>\#[^\n]*)""",
    re.S,
)
_REQUIREMENTS = re.compile(rb"(?:install|setup|tests|extras)_requires?\b")
_CUDA_NAME = re.compile(rb"\b\w*CUDA\w*\b")


def port(draft: Draft) -> None:
    """Decide one file. What cannot be parsed is left and reported."""
    try:
        source = Source(draft.data)
        require_flat(source.text)
        if "\r" in source.text and "\n" not in source.text:
            _refuse(draft, "ends its lines with carriage returns alone; write newlines and port again", 1)
            return
        with deep_recursion():
            _decide(Module(draft, cst.parse_module(_FORM_FEED.sub("\n", source.text)), source))
    except cst.ParserSyntaxError as error:
        _refuse(draft, f"does not parse: {error.message.partition(': expected')[0]}", error.raw_line)
    except (SyntaxError, UnicodeDecodeError) as error:
        _refuse(draft, f"cannot be decoded: {error}", 1)
    except RecursionError:
        draft.changes.clear()
        draft.findings.clear()
        _refuse(draft, "is nested too deeply", 1)


def _decide(module: Module) -> None:
    for visitor in visitors():
        for kind in visitor.kinds:
            for node in module.nodes(kind):
                visitor.function(module, node)


def _refuse(draft: Draft, message: str, line: int) -> None:
    draft.keep_nothing()
    start = draft.lines.start(min(line, draft.lines.count))
    draft.report("unparsed-source", start, start, f"the file is not ported: it {message}")


def notes(data: bytes) -> Notes:
    """Names with CUDA in them that the file imports from elsewhere than torch: the module there must keep them."""
    found: set[str] = set()
    for match in _IMPORTED.finditer(data) if b"CUDA" in data else ():
        if not match.group(1).startswith(b"torch"):
            found.update(word.decode() for word in _CUDA_NAME.findall(match.group(2)))
    return {"python-imports": [sorted(found)]} if found else {}


def _traces(lowered: bytes) -> bool:
    """Whether the file requires or imports a package that a table knows: their names need no word of CUDA."""
    if b"_require" in lowered and _REQUIREMENTS.search(lowered) and traces.found(lowered):
        return True
    return _imports_of_packages().search(lowered) is not None


@cache
def _imports_of_packages() -> re.Pattern[bytes]:
    """Imports of the packages that exist for CUDA only."""
    rows = (row for row in read_rows("torch_python") if row.kind == "import" and not row.supported)
    names = {row.cuda.removeprefix("import ").partition(".")[0].lower() for row in rows} - {"torch"}
    return re.compile(rf"^[ \t]*(?:import|from)[ \t]+(?:{'|'.join(sorted(names))})\b".encode(), re.M)


PYTHON = register(Language("python", "python", ("*.py", "*.pyi"), port, r"python[\d.]*", notes, _traces, _COMMENT))
