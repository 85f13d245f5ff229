from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import D, eq, ismusa, ok


def test_fp8_cast() -> None:
    x = torch.randn(8, 8)
    for dt in (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz):
        m = x.to(D).to(dt)
        ismusa(m)
        eq(m.float(), x.to(dt).float())


def test_fp8_e8m0() -> None:
    x = torch.tensor([1.0, 2.0, 4.0])
    m = x.to(D).to(torch.float8_e8m0fnu)
    eq(m.float(), x)


def test_fp8_view_bytes() -> None:
    m = torch.randn(8).to(D).to(torch.float8_e4m3fn)
    v = m.view(torch.uint8)
    ok(v.data_ptr() == m.data_ptr())
    ismusa(v)
    m2 = v.view(torch.float8_e4m3fn)
    eq(m2.float(), m.float())


def test_fp8_index_cat() -> None:
    m = torch.randn(8, 4).to(D).to(torch.float8_e4m3fn)
    eq(m[2:4].float(), m.float()[2:4])
    torch.cat([m.view(torch.uint8), m.view(torch.uint8)])
    m[torch.tensor([1, 2], device=D)]


def test_fp8_scaled_mm() -> None:
    a = torch.randn(16, 32).to(torch.float8_e4m3fn)
    b = torch.randn(16, 32).to(torch.float8_e4m3fn).t()
    s = torch.tensor(1.0)
    eq(
        torch._scaled_mm(a.to(D), b.to(D), s.to(D), s.to(D), out_dtype=torch.bfloat16),
        torch._scaled_mm(a, b, s, s, out_dtype=torch.bfloat16),
    )


def test_fp4_packed() -> None:
    m = torch.zeros(8, dtype=torch.uint8, device=D).view(torch.float4_e2m1fn_x2)
    ismusa(m)
    ok(m.dtype == torch.float4_e2m1fn_x2)
