from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F

from .helpers import D, eq, ismusa, ok


def test_pointwise() -> None:
    x = torch.randn(5, 5)
    m = x.to("musa")
    for f in (
        torch.sin,
        torch.exp,
        torch.abs,
        torch.sigmoid,
        F.gelu,
        F.silu,
        lambda t: t * 2 + 1,
        lambda t: t / (t.abs() + 1),
        lambda t: t > 0,
        lambda t: torch.where(t > 0, t, -t),
        lambda t: t.clamp(-1, 1),
        lambda t: 1 - t,
        lambda t: t**2,
    ):
        r = f(m)
        ismusa(r)
        eq(r, f(x))


def test_matmul() -> None:
    a, b = (torch.randn(2, 4, 5), torch.randn(2, 5, 3))
    eq(a.to(D) @ b.to(D), a @ b)
    eq(torch.einsum("bij,bjk->bik", a.to(D), b.to(D)), a @ b)
    eq(torch.addmm(torch.zeros(4, 3, device=D), a[0].to(D), b[0].to(D)), a[0] @ b[0])


def test_bf16_matmul() -> None:
    a = torch.randn(8, 8).bfloat16()
    r = a.to(D) @ a.to(D)
    ok(r.dtype == torch.bfloat16)
    eq(r, a @ a)


def test_reductions() -> None:
    x = torch.randn(4, 5)
    m = x.to(D)
    for f in (
        lambda t: t.sum(),
        lambda t: t.mean(1),
        lambda t: t.max(),
        lambda t: t.max(1).values,
        lambda t: t.max(1).indices,
        lambda t: t.argmax(),
        lambda t: t.std(),
        lambda t: t.softmax(-1),
        lambda t: t.cumsum(0),
        lambda t: torch.topk(t, 2).values,
        lambda t: t.sort().indices,
        lambda t: t.norm(),
        lambda t: (t > 0).any(),
        lambda t: torch.logsumexp(t, 1),
    ):
        r = f(m)
        ismusa(r)
        eq(r, f(x))


def test_item_bool() -> None:
    m = torch.tensor([3.5], device=D)
    ok(m.item() == 3.5)
    ok(bool(m > 1))
    ok(int(m) == 3)
    ok(torch.equal(m, m.clone()))
    ok(torch.allclose(m, m))


def test_cat_stack() -> None:
    x = torch.randn(2, 3)
    m = x.to(D)
    eq(torch.cat([m, m]), torch.cat([x, x]))
    eq(torch.stack([m, m], 1), torch.stack([x, x], 1))
    eq(F.pad(m, (1, 1)), F.pad(x, (1, 1)))


def test_linalg() -> None:
    a = torch.randn(4, 4)
    a = a @ a.t() + 4 * torch.eye(4)
    m = a.to(D)
    eq(torch.linalg.inv(m), torch.linalg.inv(a), rtol=0.001, atol=0.0001)
    eq(torch.linalg.cholesky(m), torch.linalg.cholesky(a))
    torch.linalg.svd(m)
    torch.linalg.eigh(m)


def test_conv() -> None:
    x, w = (torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3))
    eq(F.conv2d(x.to(D), w.to(D), padding=1), F.conv2d(x, w, padding=1))
    eq(F.max_pool2d(x.to(D), 2), F.max_pool2d(x, 2))
    eq(F.interpolate(x.to(D), scale_factor=2), F.interpolate(x, scale_factor=2))


def test_sdpa() -> None:
    q = torch.randn(1, 2, 8, 16)
    m = q.to(D)
    eq(F.scaled_dot_product_attention(m, m, m, is_causal=True), F.scaled_dot_product_attention(q, q, q, is_causal=True))


def test_layernorm_rmsnorm_ce() -> None:
    x = torch.randn(4, 8)
    m = x.to(D)
    eq(F.layer_norm(m, (8,)), F.layer_norm(x, (8,)))
    eq(F.rms_norm(m, (8,)), F.rms_norm(x, (8,)))
    t = torch.tensor([0, 1, 2, 3])
    eq(F.cross_entropy(m, t.to(D)), F.cross_entropy(x, t))
    eq(F.group_norm(m, 2), F.group_norm(x, 2))
    eq(F.batch_norm(m, None, None, training=True), F.batch_norm(x, None, None, training=True))


def test_embedding_bag() -> None:
    w = torch.randn(10, 4)
    i = torch.tensor([1, 3, 5])
    eq(F.embedding(i.to(D), w.to(D)), F.embedding(i, w))


def test_scalar_mixed_device() -> None:
    m = torch.ones(3, device=D)
    eq(m + torch.tensor(2.0), torch.full((3,), 3.0))
    eq(m * 2, torch.full((3,), 2.0))


def test_cross_device_error() -> None:
    m, c = (torch.ones(3, device=D), torch.ones(3))
    try:
        m + c
    except RuntimeError as e:
        ok("device" in str(e).lower(), str(e))
        return
    raise AssertionError("no error for musa+cpu")


def test_cross_device_error_matmul() -> None:
    m, c = (torch.ones(3, 3, device=D), torch.ones(3, 3))
    try:
        m @ c
    except RuntimeError as e:
        ok("device" in str(e).lower(), str(e))
        return
    raise AssertionError("no error for musa@cpu")


def test_nonzero_unique() -> None:
    x = torch.tensor([0, 1, 0, 2, 2])
    m = x.to(D)
    eq(m.nonzero(), x.nonzero())
    eq(m.unique(), x.unique())
    eq(torch.bincount(m), torch.bincount(x))
    eq(torch.histc(m.float(), 3), torch.histc(x.float(), 3))


def test_fft() -> None:
    x = torch.randn(8)
    eq(torch.fft.fft(x.to(D)), torch.fft.fft(x))
    eq(torch.fft.rfft(x.to(D)), torch.fft.rfft(x))


def test_foreach() -> None:
    xs = [torch.randn(3) for _ in range(3)]
    ms = [x.to(D) for x in xs]
    torch._foreach_add_(ms, 1.0)
    for m, x in zip(ms, xs, strict=True):
        eq(m, x + 1)
    r = torch._foreach_norm(ms)
    ismusa(r[0])
