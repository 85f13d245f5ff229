"""Host rules that TileLang programs share with every other program: the rules for Python do the work."""

from __future__ import annotations

from musa_port.model import Severity
from musa_port.rules import Rule, register

DEVICE = register(
    Rule(
        "H1",
        "tilelang-device",
        Severity.INFO,
        "Device strings of a TileLang program become musa, as in every Python file.",
        why="Rules P4, P5, P6 and P9 do it: keywords, first arguments, built strings and comparisons.",
        evidence="TileLang on MUSA allocates outputs on torch.device('musa', index)",
    )
)
METHOD = register(
    Rule(
        "H2",
        "tilelang-cuda-method",
        Severity.INFO,
        "Calls of `.cuda()` in a TileLang program become `.musa()`, as in every Python file.",
        why="Rule P7 does it.",
    )
)
TORCH = register(
    Rule(
        "H3",
        "tilelang-torch-cuda",
        Severity.INFO,
        "Names of `torch.cuda` in a TileLang program become those of `torch.musa`, as in every Python file.",
        why="Rule P1 does it for names, P2 and P3 for imports.",
    )
)
OTHER = register(
    Rule(
        "H4",
        "tilelang-torch-cuda-other",
        Severity.INFO,
        "Names of `torch.cuda` that torch_musa is not known to have are left and reported.",
        why="Rule P1 does it.",
    )
)
PROCESSORS = register(
    Rule(
        "H19",
        "multi-processor-count",
        Severity.INFO,
        "The field `multi_processor_count` keeps its name; the properties come from `torch.musa`.",
        why="Rule P1 renames the call that gives the properties. Persistent kernels size their grid by this number.",
    )
)
TF32 = register(
    Rule(
        "H27",
        "tilelang-allow-tf32",
        Severity.INFO,
        "The TF32 switches of torch become those of torch_musa.",
        why="Rule P11 does it. Of T.gemm, the dtype decides: float32 operands go to the TF32 unit.",
    )
)
