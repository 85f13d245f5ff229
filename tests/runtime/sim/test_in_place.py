from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch import nn

from .helpers import D, eq, ismusa, ok


def test_out_variant() -> None:
    o = torch.empty(3, device=D)
    r = torch.add(torch.ones(3, device=D), 1, out=o)
    ok(r is o)
    eq(o, torch.full((3,), 2.0))


def test_out_resize() -> None:
    o = torch.empty(0, device=D)
    torch.add(torch.ones(3, device=D), 1, out=o)
    ok(o.shape == (3,))
    eq(o, torch.full((3,), 2.0))
    o = torch.empty(0, device=D)
    torch.mm(torch.eye(3, device=D), torch.eye(3, device=D), out=o)
    eq(o, torch.eye(3))
    o2 = torch.empty(0, device=D)
    torch.cat([o, o], out=o2)
    ok(o2.shape == (6, 3))


def test_out_noncontig() -> None:
    o = torch.zeros(3, 3, device=D).t()
    torch.mm(torch.eye(3, device=D), torch.ones(3, 3, device=D), out=o)
    eq(o, torch.ones(3, 3))


def test_resize() -> None:
    m = torch.zeros(2, device=D)
    m.resize_(4, 4)
    ok(m.shape == (4, 4))
    m.fill_(1)
    ok(m.sum().item() == 16)
    ok(m.untyped_storage().nbytes() >= 64)


def test_storage_resize() -> None:
    m = torch.zeros(4, device=D)
    m.untyped_storage().resize_(0)
    ok(m.untyped_storage().size() == 0)
    m.untyped_storage().resize_(16)
    m.fill_(1)
    ok(m.sum().item() == 4)


def test_set_data() -> None:
    p = nn.Parameter(torch.zeros(3))
    p.data = torch.ones(3, device=D)
    ismusa(p)


def test_set() -> None:
    m = torch.zeros(4, device=D)
    n = torch.empty(0, device=D)
    n.set_(m.untyped_storage(), 1, (2,), (1,))
    n.fill_(2)
    ok(m.tolist() == [0, 2, 2, 0])


def test_inplace_ops() -> None:
    m = torch.ones(3, device=D)
    m += 1
    m.mul_(2)
    m.zero_()
    m.fill_(5)
    m.add_(torch.ones(3, device=D), alpha=2)
    ok(m.tolist() == [7, 7, 7])
    m.uniform_()
    m.normal_()
    m.random_(0, 3)
    m.exponential_()
