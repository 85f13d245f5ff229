from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import eq, ismusa, ok


def test_second_device() -> None:
    x = torch.randn(3, device="musa:1")
    ismusa(x, 1)
    ismusa(x + x, 1)
    ismusa(x @ x, 1)
    ismusa(torch.zeros_like(x), 1)
    ismusa(x[1:], 1)
    ismusa(x.nonzero(), 1)


def test_copy_between() -> None:
    x = torch.randn(3, device="musa:0")
    y = x.to("musa:1")
    ismusa(y, 1)
    eq(x, y)
    ok(x.data_ptr() != y.data_ptr())
    y2 = torch.zeros(3, device="musa:0")
    y2.copy_(y)
    eq(y2, x)


def test_mixed_index_error() -> None:
    try:
        torch.ones(3, device="musa:0") + torch.ones(3, device="musa:1")
    except RuntimeError as e:
        ok("device" in str(e).lower())
        return
    raise AssertionError("no error for musa:0 + musa:1")


def test_mixed_index_error_mm() -> None:
    try:
        torch.ones(3, 3, device="musa:0") @ torch.ones(3, 3, device="musa:1")
    except RuntimeError as e:
        ok("device" in str(e).lower())
        return
    raise AssertionError("no error for musa:0 @ musa:1")


def test_autograd_two_devices() -> None:
    x = torch.ones(3, device="musa:0", requires_grad=True)
    ((x * 2).to("musa:1") * 3).sum().backward()
    ismusa(x.grad, 0)
    eq(x.grad, torch.full((3,), 6.0))


def test_invalid_ordinal() -> None:
    try:
        torch.empty(1, device="musa:7")
    except Exception:
        return
    raise AssertionError("musa:7 accepted with 2 devices")


def test_memory_per_device() -> None:
    b0, b1 = (torch.musa.memory_allocated(0), torch.musa.memory_allocated(1))
    held = torch.empty(1 << 20, dtype=torch.uint8, device="musa:1")
    ok(torch.musa.memory_allocated(0) == b0 and torch.musa.memory_allocated(1) == b1 + held.nbytes)


def test_threads_current_device() -> None:
    import threading

    r = []
    torch.musa.set_device(1)
    th = threading.Thread(target=lambda: r.append(torch.musa.current_device()))
    th.start()
    th.join()
    ok(r == [0], f"{r}")
