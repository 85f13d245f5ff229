from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import eq, ismusa, ok


def test_view_aliasing() -> None:
    m = torch.zeros(2, 6, device="musa")
    v = m.view(3, 4)
    v.fill_(1)
    ok(m.sum().item() == 12)
    m[0].zero_()
    ok(v.sum().item() == 6)


def test_view_same_storage() -> None:
    m = torch.zeros(2, 6, device="musa")
    v = m[1, 2:4]
    ok(v.data_ptr() == m.data_ptr() + 8 * 4)
    ok(v.untyped_storage().data_ptr() == m.untyped_storage().data_ptr())
    ok(v._base is m, "no _base")


def test_many_views() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    m = x.to("musa")
    for f in (
        lambda t: t.permute(2, 0, 1),
        lambda t: t.transpose(0, 2),
        lambda t: t.unsqueeze(1).expand(2, 5, 3, 4),
        lambda t: t.unfold(2, 2, 1),
        lambda t: t.select(1, 1),
        lambda t: t.narrow(2, 1, 2),
        lambda t: t.diagonal(dim1=1, dim2=2),
        lambda t: t.flatten(),
        lambda t: t.view(torch.int32),
        lambda t: t.movedim(0, 1),
        lambda t: torch.as_strided(t, (2, 2), (1, 2), 3),
        lambda t: t.squeeze(),
        lambda t: t.reshape(6, 4),
        lambda t: t.swapaxes(0, 1),
    ):
        eq(f(m), f(x))
        ismusa(f(m))
    for a, b in zip(m.split(1), x.split(1), strict=False):
        eq(a, b)
    for a, b in zip(m.chunk(2, -1), x.chunk(2, -1), strict=False):
        eq(a, b)


def test_complex_views() -> None:
    x = torch.randn(3, 2)
    m = x.to("musa")
    c = torch.view_as_complex(m)
    eq(torch.view_as_real(c), x)
    eq(c.conj().resolve_conj(), torch.view_as_complex(x).conj().resolve_conj())
    eq(c.imag, torch.view_as_complex(x).imag)


def test_version_counter() -> None:
    m = torch.zeros(3, device="musa")
    v = m[1:]
    n = m._version
    v.add_(1)
    ok(m._version == n + 1, f"{m._version} {n}")


def test_inplace_view_ops() -> None:
    m = torch.zeros(2, 3, device="musa")
    m.t_()
    ok(m.shape == (3, 2))
    m.unsqueeze_(0)
    ok(m.shape == (1, 3, 2))
