from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch import nn

from .helpers import D, eq, ismusa


def test_compile_eager() -> None:
    f = torch.compile(lambda x: torch.sin(x) + x.sum(), backend="eager", fullgraph=True)
    x = torch.randn(3, device=D)
    eq(f(x), torch.sin(x) + x.sum())


def test_compile_eager_factory() -> None:
    f = torch.compile(
        lambda x: x + torch.ones(3, device=x.device) + torch.arange(3, device="musa"), backend="eager", fullgraph=True
    )
    x = torch.randn(3, device=D)
    eq(f(x), x + 1 + torch.arange(3, device=D))


def test_compile_aot_eager() -> None:
    f = torch.compile(lambda x: torch.sin(x) * 2, backend="aot_eager", fullgraph=True)
    x = torch.randn(3, device=D, requires_grad=True)
    f(x).sum().backward()
    eq(x.grad, 2 * x.cos())


def test_fake_tensor() -> None:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        x = torch.empty(3, 4, device=D)
        y = x @ x.t()
        ismusa(y)


def test_make_fx() -> None:
    from torch.fx.experimental.proxy_tensor import make_fx as mf

    g = mf(lambda x: x.sin() + 1)(torch.randn(3, device=D))
    ismusa(g(torch.randn(3, device=D)))


def test_export() -> None:

    class M(nn.Module):
        def forward(self, x):
            return x.sin() + 1

    ep = torch.export.export(M(), (torch.randn(3, device=D),))
    ismusa(ep.module()(torch.randn(3, device=D)))
