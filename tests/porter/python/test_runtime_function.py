"""P42: functions of torch.cuda.cudart()."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Port, Rewrites

HEAD = "import torch\n"
MUSA = "import torch\nimport torch_musa\n"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("torch.cuda.cudart().cudaHostUnregister(p)\n", "torch.musa.musart().musaHostUnregister(p)\n"),
        ("rt = torch.cuda.cudart()\nrt.cudaMemGetInfo(0)\n", "rt = torch.musa.musart()\nrt.musaMemGetInfo(0)\n"),
        ("ok = torch.cuda.cudart().cudaError.success\n", "ok = torch.musa.musart().musaError.success\n"),
    ],
)
def test_functions_that_are_there(rewrites: Rewrites, text: str, after: str) -> None:
    rewrites(HEAD + text, MUSA + after)


def test_functions_that_are_not_there(port: Port) -> None:
    result = port(HEAD + "torch.cuda.cudart().cudaProfilerStart()\n")
    assert [(f.rule, f.severity.value) for f in result.findings if f.rule == "P42"] == [("P42", "error")]


@pytest.mark.parametrize("text", ["rt = library()\nrt.cudaMemGetInfo(0)\n", "torch.version.cudaX\n"])
def test_others_are_left(rewrites: Rewrites, text: str) -> None:
    assert [f.rule for f in rewrites(HEAD + text).findings if f.rule == "P42"] == []
