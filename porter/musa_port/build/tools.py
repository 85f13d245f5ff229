"""Programs of the CUDA toolkit besides the compiler."""

from __future__ import annotations

import posixpath

from musa_port import flags
from musa_port.build.fragment import Fragment
from musa_port.model import Severity
from musa_port.rules import Rule, register

TOOL = register(
    Rule(
        "B46",
        "cuda-tool",
        Severity.WARNING,
        "Reports calls of nvidia-smi, the debuggers and the profilers.",
        why="What their counterparts print and take differs, or no counterpart is proven: a new name would fail late.",
        example=("nvidia-smi --query-gpu=name --format=csv", "nvidia-smi --query-gpu=name --format=csv"),
        advice="Call the tool of the MUSA SDK by hand, and adapt what reads its output.",
        evidence="compiler_flags.csv, kind tool",
    )
)


def report(word: Fragment) -> bool:
    """Report a word that names a tool; whether it does."""
    name = posixpath.basename(word.text)
    row = flags.tool(name)
    if row is None or (row.supported and not row.flag):
        return False
    note = f": {row.note}" if row.note else ""
    target = f"its nearest counterpart is {row.musa}" if row.musa else "it has no counterpart"
    start = len(word.text) - len(name)
    word.report("cuda-tool", start, len(word.text), f"{name} is left; {target}{note}", name=name)
    return True
