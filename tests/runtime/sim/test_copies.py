from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch import nn

from .helpers import eq, ismusa, ok


def test_to_roundtrip() -> None:
    x = torch.randn(3, 4)
    m = x.to("musa")
    ismusa(m)
    eq(m, x)
    ok(m.cpu().device.type == "cpu")


def test_to_dtype_device() -> None:
    x = torch.randn(3, 4)
    m = x.to("musa", torch.bfloat16, non_blocking=True)
    ok(m.dtype == torch.bfloat16)
    eq(m, x.bfloat16())


def test_musa_method() -> None:
    x = torch.randn(3)
    ok(x.musa().is_musa)
    ok(not x.is_musa)


def test_copy_underscore() -> None:
    m = torch.zeros(3, 4, device="musa")
    x = torch.randn(3, 4)
    m.copy_(x)
    eq(m, x)
    y = torch.zeros(3, 4)
    y.copy_(m)
    eq(y, x)


def test_copy_strided() -> None:
    x = torch.randn(4, 3)
    m = torch.zeros(3, 4, device="musa").t()
    m.copy_(x)
    eq(m, x)


def test_copies_do_not_alias() -> None:
    x = torch.zeros(3)
    m = x.to("musa")
    m += 1
    ok(x.sum().item() == 0, "to() aliased host")
    c = m.cpu()
    c += 1
    ok(m.sum().item() == 3, "cpu() aliased device")


def test_clone_contiguous() -> None:
    m = torch.randn(3, 4, device="musa").t()
    c = m.contiguous()
    ok(c.is_contiguous())
    eq(c, m)
    eq(m.clone(), m)


def test_deepcopy() -> None:
    import copy

    m = torch.randn(3, device="musa")
    c = copy.deepcopy(m)
    ismusa(c)
    eq(c, m)
    ok(c.data_ptr() != m.data_ptr())


def test_deepcopy_module() -> None:
    import copy

    m = nn.Linear(3, 3).to("musa")
    c = copy.deepcopy(m)
    ismusa(c.weight)
    eq(c.weight, m.weight)
