"""Text that is left alone: regions marked in comments, and branches that a MUSA build does not take."""

from __future__ import annotations

import re

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check, extract
from musa_port.cuda.scan import Scan
from musa_port.cuda.syntax import Role
from musa_port.model import Severity
from musa_port.rules import Rule, register

REGION = register(
    Rule(
        "C60",
        "kept-region",
        Severity.INFO,
        "Leaves the text between the comments `musa-port: off` and `musa-port: on` alone.",
        why="Code that somebody ported by hand must survive the next run. The musify markers are honoured too.",
        example=(
            "// musa-port: off\ncudaFree(p);\n// musa-port: on",
            "// musa-port: off\ncudaFree(p);\n// musa-port: on",
        ),
    )
)
OPEN_REGION = register(
    Rule(
        "C61",
        "open-region",
        Severity.WARNING,
        "Reports a `musa-port: off` without its `on`: the rest of the file is left alone.",
        example=("// musa-port: off\ncudaFree(p);", "// musa-port: off\ncudaFree(p);"),
        advice="Add the closing comment `musa-port: on`.",
    )
)
BRANCH = register(
    Rule(
        "C62",
        "kept-branch",
        Severity.INFO,
        "Leaves a preprocessor branch alone that a MUSA build certainly does not take.",
        why="The source has a MUSA branch already; the other one is for CUDA.",
        example=(
            "#ifdef USE_MUSA\nmusaFree(p);\n#else\ncudaFree(p);\n#endif",
            "#ifdef USE_MUSA\nmusaFree(p);\n#else\ncudaFree(p);\n#endif",
        ),
    )
)

_MARKER = re.compile(rb"musa-port:\s*(off|on|ignore)\b|MUSIFY_EXCL_(START|STOP|LINE)\b")


@extract("region", words=(b"musa", b"MUSIFY_EXCL_START", b"MUSIFY_EXCL_STOP", b"MUSIFY_EXCL_LINE"))
def find(scan: Scan, start: int, end: int, role: int) -> tuple[str, int] | None:
    """The marker at `start`: (off, on or line; its place)."""
    match = _MARKER.match(scan.data, start)
    if match is None or role != Role.COMMENT:
        return None
    word = (match.group(1) or match.group(2)).decode()
    return {"off": "off", "START": "off", "on": "on", "STOP": "on", "ignore": "line", "LINE": "line"}[word], start


@check(order=5)
def keep_regions(port: Port) -> None:
    """Claim the marked regions."""
    opened = -1
    for kind, start in port.facts.notes.get("region", ()):
        if kind == "off" and opened < 0:
            opened = start
        elif kind == "on" and opened >= 0:
            _keep(port, opened, start)
            opened = -1
        elif kind == "line":
            begin = port.data.rfind(b"\n", 0, start) + 1
            stop = port.data.find(b"\n", start)
            _keep(port, begin, stop if stop >= 0 else len(port.data))
    if opened >= 0:
        port.report("open-region", opened, opened, "this region is never closed")
        _keep(port, opened, len(port.data))


def _keep(port: Port, start: int, end: int) -> None:
    port.claim(start, end)
    first, last = port.lines.number(start), port.lines.number(end)
    lines = f"line {first} is" if first == last else f"lines {first} to {last} are"
    port.report("kept-region", start, start, f"{lines} left alone")


@check(order=10)
def keep_branches(port: Port) -> None:
    """Claim the words of branches that MUSA does not take; each API name in one is listed."""
    for start, end in port.inactive:
        for word in port.facts.words:
            if start <= word.start < end and not port.is_claimed(word.start) and word.role in (Role.CODE, Role.MACRO):
                name = port.text(word.start, word.end)
                if name in port.names.identifiers:
                    message = f"{name} is in a branch that MUSA does not take"
                    port.report("kept-branch", word.start, word.end, message, name=name, once=name)
                    port.use(name, "kept")
        port.claim(start, end)
