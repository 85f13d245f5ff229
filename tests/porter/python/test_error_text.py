"""P39: texts of CUDA's errors that a program looks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from musa_port import FilePort
    from tests.porter.python.conftest import Rewrites


def said(result: FilePort) -> list[tuple[int, str]]:
    return [(finding.line, finding.severity.value) for finding in result.findings if finding.rule == "P39"]


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ('if "CUDA out of memory" in str(e): pass', "warning"),
        ('if "CUDA out of memory." not in e.args[0]: raise', "warning"),
        ('if str(e).startswith("CUDA error"): pass', "warning"),
        ('if e.args[0].startswith(("CUDA error", "x")): pass', "warning"),
        ('if "CUDNN_STATUS_NOT_SUPPORTED" in str(e): pass', "warning"),
        ('if "cuda runtime error" in str(e).lower(): pass', "warning"),
        ('if re.search("NCCL error", str(e)): pass', "warning"),
        ('with pytest.raises(RuntimeError, match="CUDA out of memory"): pass', "warning"),
        ('if any(t in str(e) for t in TEXTS): pass\nTEXTS = ["CUDA out of memory."]', "info"),
        ('if "out of memory" in str(e): pass  # cuda', "info"),
    ],
)
def test_texts_are_left_and_reported(rewrites: Rewrites, text: str, severity: str) -> None:
    result = rewrites(text + "\n")
    assert [found for _, found in said(result)] == [severity]
    assert all("torch.OutOfMemoryError" in finding.advice for finding in result.findings if finding.rule == "P39")


@pytest.mark.parametrize(
    "text",
    [
        'raise RuntimeError("CUDA out of memory")',
        'print("CUDA error")',
        '"""CUDA out of memory"""',
        'x = "out of memory"  # cuda',
        'path = "cuda_errors.txt"',
        'if "errors" in mode: cuda = 1',
        'if name in ("cuda_failed_runs",): pass',
    ],
)
def test_other_texts(rewrites: Rewrites, text: str) -> None:
    assert said(rewrites(text + "\n")) == []
