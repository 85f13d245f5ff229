from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch import nn

from .helpers import D, ismusa, ok


def test_device_object() -> None:
    d = torch.device("musa", 1)
    ok(str(d) == "musa:1" and d.type == "musa" and (d.index == 1))
    ok(torch.device("musa:0") == torch.device("musa", 0))
    ok(torch.device(0).type == "musa", f"torch.device(0) is {torch.device(0)}")


def test_with_device() -> None:
    with torch.device("musa"):
        t = torch.zeros(3)
        l = nn.Linear(2, 2)
    ismusa(t)
    ismusa(l.weight)


def test_set_default_device() -> None:
    torch.set_default_device("musa")
    t = torch.ones(3)
    torch.set_default_device(None)
    ismusa(t)


def test_musa_device_ctx() -> None:
    with torch.musa.device(1):
        ok(torch.musa.current_device() == 1)
        t = torch.empty(2, device="musa")
    ismusa(t, 1)
    ok(torch.musa.current_device() == 0)


def test_device_of() -> None:
    with torch.musa.device_of(torch.empty(1, device="musa:1")):
        ok(torch.musa.current_device() == 1)


def test_meta_device() -> None:
    assert (torch.empty(3, device="meta") + 1).device.type == "meta"
    l = nn.Linear(2, 2, device="meta").to_empty(device=D)
    ismusa(l.weight)


def test_accelerator_api() -> None:
    a = torch.accelerator
    ok(a.is_available())
    ok(a.current_accelerator().type == "musa")
    ok(a.device_count() == 2, f"count {a.device_count()}")
    ok(a.current_device_index() == 0)
    a.synchronize()


def test_accelerator_set_device() -> None:
    torch.accelerator.set_device_index(1)
    ok(torch.accelerator.current_device_index() == 1 and torch.musa.current_device() == 1)
    t = torch.empty(1, device="musa")
    ismusa(t, 1)
