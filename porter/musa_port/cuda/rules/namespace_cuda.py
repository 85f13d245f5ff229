"""`using namespace cuda;`: a project's own namespace, or the one of the toolkit."""

from __future__ import annotations

import re

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check
from musa_port.cuda.rules.name import includes
from musa_port.cuda.syntax import Role
from musa_port.model import Severity
from musa_port.rules import Rule, register

USING = register(
    Rule(
        "C15",
        "using-cuda",
        Severity.WARNING,
        "Renames `using namespace cuda` only when it is certainly the namespace of the toolkit.",
        why="Many projects have a namespace of that name.",
        example=(
            "#include <cuda/std/array>\nusing namespace cuda;",
            "#include <musa/std/array>\nusing namespace musa;",
        ),
        advice="Check that the names used from this namespace come from the toolkit.",
    )
)


@check(order=65)
def decide(port: Port) -> None:
    """Decide each `using namespace cuda`."""
    bare = "musa" if port.names.reverse else "cuda"
    for word in port.facts.words:
        if word.role != Role.CODE or port.is_claimed(word.start) or port.text(word.start, word.end) != bare:
            continue
        if re.search(rb"using\s+namespace\s+(::\s*)?$", port.data[max(0, word.start - 40) : word.start]) is None:
            continue
        if port.data[word.end : word.end + 2] == b"::":
            continue
        _decide(port, word.start, word.end, bare)


def _decide(port: Port, start: int, end: int, bare: str) -> None:
    own = any(path == bare or path.endswith("::" + bare) for path in port.index.namespaces)
    toolkit = any(path.startswith(bare + "/") for path in includes(port))
    if own or not toolkit:
        port.claim(start, end)
        reason = (
            "the project has a namespace of that name" if own else "no header of the toolkit's namespace is included"
        )
        message = f"using namespace {bare} is left: {reason}"
        port.report("using-cuda", start, end, message, severity=Severity.INFO, name=bare)
        return
    new = "cuda" if port.names.reverse else "musa"
    port.edit(start, end, new, "using-cuda", "low")
    port.report("using-cuda", start, end, f"using namespace {bare} became {new}", new=new, name=bare)
