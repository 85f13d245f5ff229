from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import D, eq, ok


def test_pin_memory() -> None:
    x = torch.randn(3).pin_memory()
    ok(x.is_pinned())
    ok(not torch.randn(3).is_pinned())
    m = x.to(D, non_blocking=True)
    eq(m, x)


def test_empty_pinned() -> None:
    x = torch.empty(3, pin_memory=True)
    ok(x.is_pinned())
