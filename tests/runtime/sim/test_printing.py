from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import D, ok


def test_repr() -> None:
    s = repr(torch.arange(3.0, device=D))
    ok("device='musa:0'" in s, s)


def test_repr_big() -> None:
    s = repr(torch.randn(100, 100, device=D))
    ok("..." in s and "musa" in s)


def test_repr_fp8_bool_bf16() -> None:
    [
        repr(torch.zeros(3, device=D).to(t))
        for t in (torch.float8_e4m3fn, torch.bool, torch.bfloat16, torch.complex64, torch.int8)
    ]
