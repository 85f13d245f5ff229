"""A name that a line continuation splits."""

from __future__ import annotations

import re

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check
from musa_port.cuda.syntax import Role
from musa_port.model import Severity
from musa_port.rules import Rule, register

SPLIT = register(
    Rule(
        "C53",
        "split-name",
        Severity.WARNING,
        "Reports an API name that a backslash at the end of a line splits; it stays.",
        example=("cuda\\\nMalloc(&p, n);", "cuda\\\nMalloc(&p, n);"),
        advice="Join the two lines and port again.",
    )
)

_CONTINUED = re.compile(rb"\\\r?\n(\w+)")


@check(order=70)
def report(port: Port) -> None:
    """Look at words that end at a continuation."""
    for word in port.facts.words:
        match = _CONTINUED.match(port.data, word.end)
        if match is None or word.role in (Role.COMMENT, Role.STRING) or port.is_claimed(word.start):
            continue
        name = port.text(word.start, word.end) + match.group(1).decode("utf-8", "replace")
        if port.names.find(name) is not None:
            port.claim(word.start, match.end())
            port.report("split-name", word.start, match.end(), f"{name} is split by a line continuation", name=name)
