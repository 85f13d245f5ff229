from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F
from torch import nn

from .helpers import D, eq, ismusa, ok


def test_backward() -> None:
    x = torch.randn(3, 4)
    a, b = (x.clone().requires_grad_(), x.to(D).requires_grad_())
    (a.sin() @ a.t()).pow(2).sum().backward()
    (b.sin() @ b.t()).pow(2).sum().backward()
    ismusa(b.grad)
    eq(b.grad, a.grad)


def test_grad_through_to() -> None:
    x = torch.randn(3, requires_grad=True)
    (x.to(D) * 2).sum().backward()
    eq(x.grad, torch.full((3,), 2.0))
    ok(x.grad.device.type == "cpu")


def test_grad_views_inplace() -> None:
    x = torch.randn(4, device=D, requires_grad=True)
    y = x * 1
    y[1:3] *= 3
    y.sum().backward()
    eq(x.grad, torch.tensor([1.0, 3, 3, 1]))


def test_double_backward() -> None:
    x = torch.tensor(2.0, device=D, requires_grad=True)
    (g,) = torch.autograd.grad(x**3, x, create_graph=True)
    (g2,) = torch.autograd.grad(g, x)
    ok(abs(g2.item() - 12) < 0.0001)


def test_custom_function() -> None:

    class Fn(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(3, device=D, requires_grad=True)
    Fn.apply(x).sum().backward()
    eq(x.grad, torch.full((3,), 2.0))


def test_checkpointing() -> None:
    from torch.utils.checkpoint import checkpoint

    l = nn.Linear(4, 4).to(D)
    x = torch.randn(2, 4, device=D, requires_grad=True)
    checkpoint(lambda t: F.dropout(l(t), 0.5), x, use_reentrant=False).sum().backward()
    ismusa(x.grad)


def test_saved_tensor_hooks() -> None:
    with torch.autograd.graph.save_on_cpu():
        x = torch.ones(3, device=D, requires_grad=True)
        y = (x * x).sum()
    y.backward()
    eq(x.grad, torch.full((3,), 2.0))


def test_conv_backward() -> None:
    torch.manual_seed(0)
    x = torch.randn(1, 2, 5, 5)
    l = nn.Conv2d(2, 3, 3)
    import copy

    m = copy.deepcopy(l).to(D)
    l(x).sum().backward()
    m(x.to(D)).sum().backward()
    eq(m.weight.grad, l.weight.grad)
    eq(m.bias.grad, l.bias.grad)


def test_functorch() -> None:
    f = lambda x: (x**2).sum()
    x = torch.randn(3, device=D)
    eq(torch.func.grad(f)(x), 2 * x)
    r = torch.func.vmap(lambda t: t.sin().sum())(torch.randn(4, 3, device=D))
    ismusa(r)
    torch.func.jacrev(lambda t: t.sin())(x)


def test_jvp() -> None:
    x = torch.randn(3, device=D)
    _o, t = torch.func.jvp(torch.sin, (x,), (torch.ones(3, device=D),))
    eq(t, x.cos())
