"""Kernel source in string literals: ported when the string flows into a run-time compiler."""

from __future__ import annotations

import re
from typing import NamedTuple

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check, extract
from musa_port.cuda.scan import Scan
from musa_port.cuda.syntax import Role
from musa_port.cuda.text import call_around, closing, split_arguments
from musa_port.model import Severity
from musa_port.rules import Rule, register

KERNEL = register(
    Rule(
        "C44",
        "kernel-text",
        Severity.WARNING,
        "Ports kernel source in a string that is given to a run-time compiler; reports other kernel text.",
        example=(
            'const char* src = R"(__global__ void k(__nv_bfloat16* p) {})";\nnvrtcCreateProgram(&p, src, 0, 0, 0, 0);',
            'const char* src = R"(__global__ void k(__mt_bfloat16* p) {})";\nmtrtcCreateProgram(&p, src, 0, 0, 0, 0);',
        ),
        advice="Port the text by hand, or pass it to the compiler call in the same file.",
    )
)


class Text(NamedTuple):
    """A string literal with kernel source: the span of its content, and whether it is a raw string."""

    start: int
    end: int
    raw: bool
    literal_start: int


_COMPILERS = frozenset("nvrtcCreateProgram mtrtcCreateProgram compile_kernel compileKernel load_inline".split())
_ESCAPE = re.compile(rb"\\(?:\r?\n|.)", re.S)


@extract("kernel-text", words=(b"__global__", b"__device__"))
def find(scan: Scan, start: int, end: int, role: int) -> Text | None:
    """The literal around a kernel's qualifier."""
    if role != Role.STRING:
        return None
    node = scan.leaf(start, end)
    while node.parent is not None and node.type not in ("raw_string_literal", "string_literal"):
        node = node.parent
    if node.type == "raw_string_literal":
        opening = scan.data.index(b"(", node.start_byte)
        return Text(opening + 1, scan.data.rindex(b")", opening, node.end_byte), True, node.start_byte)
    if node.type == "string_literal":
        return Text(node.start_byte + 1, node.end_byte - 1, False, node.start_byte)
    return None


@check(order=48)
def decide(port: Port) -> None:
    """Port or report each kernel text, once for each literal."""
    for note in dict.fromkeys(map(tuple, port.facts.notes.get("kernel-text", ()))):
        text = Text(*note)
        if port.is_claimed(text.start):
            continue
        if _is_compiled(port, text):
            _port_text(port, text)
        else:
            message = "kernel source in a string that no compiler call in this file takes"
            port.report("kernel-text", text.start, text.start, message)


def _is_compiled(port: Port, text: Text) -> bool:
    """Whether the literal is an argument of a compiler call, or its variable is one in the same file."""
    call = call_around(port.data, text.literal_start)
    if call and call[0] in _COMPILERS:
        return True
    head = port.data[max(0, text.literal_start - 200) : text.literal_start]
    assigned = re.search(rb"([A-Za-z_]\w*)\s*(?:\[\s*\])?\s*(?:=|\+=|\{|\()\s*(?:\"(?:[^\"\\]|\\.)*\"\s*)*$", head)
    return assigned is not None and assigned.group(1) in _compiled_names(port.data)


def _compiled_names(data: bytes) -> set[bytes]:
    names: set[bytes] = set()
    pattern = re.compile(rb"\b(" + "|".join(sorted(_COMPILERS)).encode() + rb")\s*\(")
    for match in pattern.finditer(data):
        close = closing(data, match.end() - 1)
        if close > 0:
            for span in split_arguments(data, match.end(), close):
                names.update(re.findall(rb"^&?\s*([A-Za-z_]\w*)", data[slice(*span)]))
    return names


def _port_text(port: Port, text: Text) -> None:
    """Port the content with the same engine, and shift what comes back."""
    from musa_port.cuda.engine import port_fragment

    content = port.data[text.start : text.end]
    if not text.raw:  # an escape and the letter after it are no part of a name
        content = _ESCAPE.sub(lambda match: b" \n" if match.group() == b"\\n" else b" " * len(match.group()), content)
    inner = port_fragment(port, content)
    port.claim(text.start, text.end)
    for change in inner.changes:
        port.changes.append(
            change._replace(rule="kernel-text", start=change.start + text.start, end=change.end + text.start)
        )
    line, column = port.lines.position(text.start)
    for finding in inner.findings:
        first = finding.line == 1 or not text.raw  # an ordinary string is on one line, whatever lines it describes
        moved = line if first else finding.line + line - 1, finding.column + (column - 1 if first else 0)
        port.findings.append(finding._replace(line=moved[0], column=moved[1], source_line=port.lines.text(moved[0])))
    port.uses.update(inner.uses)
