from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch import nn

from .helpers import D, eq, ok


def test_autocast_torch() -> None:
    with torch.autocast("musa", dtype=torch.bfloat16):
        r = torch.randn(4, 4, device=D) @ torch.randn(4, 4, device=D)
        ok(r.dtype == torch.bfloat16)
    ok((torch.randn(4, 4, device=D) @ torch.randn(4, 4, device=D)).dtype == torch.float32)


def test_autocast_fp32_ops() -> None:
    with torch.autocast("musa", dtype=torch.float16):
        ok(torch.randn(4, 4, device=D).half().softmax(-1).dtype == torch.float32)


def test_autocast_musa() -> None:
    with torch.musa.amp.autocast(dtype=torch.bfloat16):
        ok((torch.randn(4, 4, device=D) @ torch.randn(4, 4, device=D)).dtype == torch.bfloat16)


def test_gradscaler() -> None:
    l = nn.Linear(4, 4).to(D)
    o = torch.optim.SGD(l.parameters(), 0.1)
    s = torch.amp.GradScaler("musa")
    with torch.autocast("musa", dtype=torch.float16):
        y = l(torch.randn(2, 4, device=D)).sum()
    s.scale(y).backward()
    s.step(o)
    s.update()


def test_gradscaler_inf_skip() -> None:
    p = nn.Parameter(torch.ones(2, device=D))
    o = torch.optim.SGD([p], 0.1)
    s = torch.amp.GradScaler("musa", init_scale=2.0)
    s.scale(p.sum()).backward()
    p.grad[0] = float("inf")
    s.step(o)
    s.update()
    eq(p, torch.ones(2))
    ok(s.get_scale() == 1.0)
