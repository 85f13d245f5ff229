"""Definitions that only give a name of one side the name of the other stay as they are."""

from __future__ import annotations

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check
from musa_port.model import Severity
from musa_port.rules import Rule, register

ALIAS = register(
    Rule(
        "C50",
        "alias-define",
        Severity.INFO,
        "Leaves a #define alone that maps a CUDA name to its MUSA name, or a name to itself.",
        why="Renaming both sides would make the macro refer to itself.",
        example=("#define cudaFree musaFree", "#define cudaFree musaFree"),
    )
)


@check(order=15)
def keep_aliases(port: Port) -> None:
    """Claim alias definitions."""
    for macro in port.facts.macros:
        if macro.kind == "alias" and not port.is_claimed(macro.start):
            port.claim(macro.start, macro.end)
            message = f"the definition of {macro.name} is an alias and stays"
            port.report("alias-define", macro.start, macro.end, message, name=macro.name)
