"""Arrays of restricted pointers as data members: a struct with one may not be assignable."""

from __future__ import annotations

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check, extract
from musa_port.cuda.scan import Scan
from musa_port.cuda.syntax import Role, ancestor
from musa_port.model import Severity
from musa_port.rules import Rule, register

RESTRICT = register(
    Rule(
        "C55",
        "restrict-array",
        Severity.INFO,
        "Reports a data member that is an array of const __restrict__ pointers.",
        why="The MUSA compiler may refuse to copy such a struct; ports add an assignment or drop the qualifier.",
        example=("struct A { const float* __restrict__ p[8]; };", "struct A { const float* __restrict__ p[8]; };"),
        advice="When a copy does not compile, drop __restrict__ from the member.",
    )
)


@extract("restrict-array", words=(b"__restrict__", b"__restrict"))
def find(scan: Scan, start: int, end: int, role: int) -> tuple[int, int] | None:
    """The qualifier, when it stands in an array member."""
    if role in (Role.COMMENT, Role.STRING, Role.MACRO):
        return None
    declaration = ancestor(scan.leaf(start, end), "field_declaration", "compound_statement", "parameter_list")
    if declaration is None or declaration.type != "field_declaration":
        return None
    text = declaration.text or b""
    return (start, end) if b"const" in text and b"[" in text else None


@check(order=85)
def report(port: Port) -> None:
    """Report the members."""
    for start, end in port.facts.notes.get("restrict-array", ()):
        if not port.is_claimed(start):
            port.report("restrict-array", start, end, "a struct with this member may not be assignable under mcc")
