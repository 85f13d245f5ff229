"""Text that is left alone: regions marked in comments, and branches that a MUSA build does not take."""

from __future__ import annotations

from musa_port import regions
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


@extract("region", words=(b"musa", b"MUSIFY_EXCL_START", b"MUSIFY_EXCL_STOP", b"MUSIFY_EXCL_LINE"))
def find(scan: Scan, start: int, end: int, role: int) -> regions.Marker | None:
    """The marker at `start`."""
    return regions.marker_at(scan.data, start) if role == Role.COMMENT else None


@check(order=5)
def keep_regions(port: Port) -> None:
    """Leave the marked regions."""
    regions.keep(port, port.facts.notes.get("region", ()))


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
