"""Dispatch keys that are bare arguments of PyTorch's registration macros."""

from __future__ import annotations

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check
from musa_port.cuda.syntax import Role
from musa_port.cuda.text import call_around
from musa_port.model import Severity
from musa_port.rules import Rule, register

KEY = register(
    Rule(
        "C14",
        "dispatch-key",
        Severity.INFO,
        "Rewrites the dispatch key in TORCH_LIBRARY_IMPL and its relatives.",
        why="MUSA tensors dispatch on PrivateUse1.",
        example=("TORCH_LIBRARY_IMPL(ns, CUDA, m)", "TORCH_LIBRARY_IMPL(ns, PrivateUse1, m)"),
        evidence="c10_aten.csv",
    )
)


@check(order=60)
def decide(port: Port) -> None:
    """Rewrite dispatch keys."""
    keys = {key for rows in port.names.macro_arguments.values() for key in rows}
    for word in port.facts.words:
        name = port.text(word.start, word.end)
        if name not in keys or word.role in (Role.COMMENT, Role.STRING) or port.is_claimed(word.start):
            continue
        call = call_around(port.data, word.start, limit=400)
        row = port.names.macro_arguments.get(call[0], {}).get(name) if call and call[1] == 1 else None
        if row is not None:
            port.edit(word.start, word.end, row.musa, "dispatch-key", row.confidence)
