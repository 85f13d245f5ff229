from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import D, eq, ismusa, ok


def test_counts() -> None:
    ok(torch.musa.is_available())
    ok(torch.musa.device_count() == 2)
    ok(torch.musa.current_device() == 0)
    torch.musa.synchronize()
    torch.musa.synchronize(1)
    torch.musa.empty_cache()
    ok(torch.musa.is_initialized())


def test_set_device() -> None:
    torch.musa.set_device(1)
    ok(torch.musa.current_device() == 1)
    ismusa(torch.empty(1, device="musa"), 1)
    ismusa(torch.ones(1).musa(), 1)


def test_properties() -> None:
    p = torch.musa.get_device_properties(0)
    p.name
    p.total_memory
    p.major
    p.minor
    p.multi_processor_count
    ok(torch.musa.get_device_name() == p.name)
    ok(torch.musa.get_device_capability() == (p.major, p.minor))


def test_memory_stats() -> None:
    torch.musa.empty_cache()
    torch.musa.reset_peak_memory_stats()
    b = torch.musa.memory_allocated()
    t = torch.empty(1 << 20, dtype=torch.uint8, device=D)
    ok(torch.musa.memory_allocated() - b >= 1 << 20, f"{torch.musa.memory_allocated()} {b}")
    del t
    ok(torch.musa.memory_allocated() == b, f"{torch.musa.memory_allocated()} {b}")
    ok(torch.musa.max_memory_allocated() >= b + (1 << 20))
    torch.musa.memory_reserved()
    torch.musa.memory_stats()
    torch.musa.mem_get_info()
    torch.musa.memory_summary()


def test_memory_of_op_outputs() -> None:
    a = torch.ones(1 << 18, device=D)
    b = torch.musa.memory_allocated()
    c = a + a
    ok(torch.musa.memory_allocated() - b >= 1 << 20, "op output not counted")
    v = c[3:]
    ok(torch.musa.memory_allocated() - b < 1 << 21, "view counted")
    del c, v
    ok(torch.musa.memory_allocated() == b)


def test_oom_error() -> None:
    torch.musa.set_per_process_memory_fraction(1e-06)
    try:
        torch.empty(1 << 28, device=D)
    except torch.OutOfMemoryError:
        return
    raise AssertionError("no OOM")


def test_manual_seed() -> None:
    torch.musa.manual_seed(7)
    a = torch.randn(5, device=D)
    torch.musa.manual_seed(7)
    b = torch.randn(5, device=D)
    eq(a, b)


def test_torch_manual_seed() -> None:
    torch.manual_seed(7)
    a = torch.randn(5, device=D)
    torch.manual_seed(7)
    eq(a, torch.randn(5, device=D))


def test_rng_independent_of_cpu() -> None:
    torch.manual_seed(1)
    a = torch.randn(3)
    torch.manual_seed(1)
    torch.randn(9, device=D)
    eq(torch.randn(3), a)


def test_rng_state() -> None:
    s = torch.musa.get_rng_state()
    a = torch.randn(5, device=D)
    torch.musa.set_rng_state(s)
    eq(torch.randn(5, device=D), a)


def test_fork_rng() -> None:
    torch.musa.manual_seed(0)
    with torch.random.fork_rng(devices=[0], device_type="musa"):
        torch.musa.manual_seed(5)
        torch.randn(3, device=D)
    a = torch.randn(3, device=D)
    torch.musa.manual_seed(0)
    eq(torch.randn(3, device=D), a)


def test_generator() -> None:
    g = torch.Generator(device="musa")
    g.manual_seed(3)
    a = torch.randn(4, device=D, generator=g)
    g.manual_seed(3)
    eq(torch.randn(4, device=D, generator=g), a)
    ok(g.device.type == "musa")


def test_seed_per_device() -> None:
    torch.musa.manual_seed_all(1)
    a, b = (torch.randn(3, device="musa:0"), torch.randn(3, device="musa:1"))
    eq(a, b)
