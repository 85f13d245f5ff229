from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import D, eq


def test_index_get() -> None:
    x = torch.randn(5, 4)
    m = x.to(D)
    i = torch.tensor([0, 2])
    eq(m[i.to(D)], x[i])
    eq(m[m > 0], x[x > 0])
    eq(m[:, 1], x[:, 1])
    eq(m[[0, 1]], x[[0, 1]])
    eq(m[i], x[i])


def test_index_put() -> None:
    x = torch.zeros(5, 4)
    m = x.to(D)
    i = torch.tensor([0, 2])
    x[i] = 1
    m[i.to(D)] = 1
    eq(m, x)
    m[m > 0] = 7
    x[x > 0] = 7
    eq(m, x)
    m.index_put_((i.to(D),), torch.ones(2, 4, device=D), accumulate=True)
    x.index_put_((i,), torch.ones(2, 4), accumulate=True)
    eq(m, x)
    m[0, 1] = 3.5
    x[0, 1] = 3.5
    eq(m, x)


def test_gather_scatter() -> None:
    x = torch.randn(3, 4)
    i = torch.tensor([[0, 1], [1, 0], [2, 3]])
    eq(x.to(D).gather(1, i.to(D)), x.gather(1, i))
    eq(
        torch.zeros(3, 4, device=D).scatter_add_(1, i.to(D), x[:, :2].to(D)),
        torch.zeros(3, 4).scatter_add_(1, i, x[:, :2]),
    )
    eq(x.to(D).index_select(0, torch.tensor([1], device=D)), x[1:2])
    eq(x.to(D).masked_fill(x.to(D) > 0, 0.0), x.masked_fill(x > 0, 0.0))
    eq(torch.take_along_dim(x.to(D), i.to(D), 1), torch.take_along_dim(x, i, 1))


def test_searchsorted_etc() -> None:
    s = torch.arange(10.0)
    v = torch.tensor([2.5, 7.0])
    eq(torch.searchsorted(s.to(D), v.to(D)), torch.searchsorted(s, v))
    eq(torch.repeat_interleave(torch.tensor([1, 2], device=D)), torch.repeat_interleave(torch.tensor([1, 2])))
