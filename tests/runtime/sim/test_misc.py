from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import D, eq, ismusa, ok


def test_numpy_error() -> None:
    try:
        torch.ones(3, device=D).numpy()
    except TypeError:
        return
    raise AssertionError("numpy() on device tensor did not raise")


def test_custom_op_privateuse1() -> None:
    lib = torch.library.Library("probe_ns", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 41, "PrivateUse1")
    r = torch.ops.probe_ns.f(torch.ones(1, device=D))
    ok(r.item() == 42)


def test_custom_op_decorator() -> None:

    @torch.library.custom_op("probe_ns2::g", mutates_args=(), device_types="musa")
    def g(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    eq(g(torch.ones(2, device=D)), torch.full((2,), 2.0))


def test_override_aten_op() -> None:
    lib = torch.library.Library("aten", "IMPL")
    lib.impl("sin", lambda x: x + 100, "PrivateUse1")
    ok(torch.zeros(1, device=D).sin().item() == 100)


def test_nested() -> None:
    n = torch.nested.nested_tensor([torch.ones(2, device=D), torch.ones(3, device=D)], layout=torch.jagged)
    ismusa(n)


def test_profiler() -> None:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as p:
        torch.ones(3, device=D) + 1
    ok("aten::add" in p.key_averages().table())


def test_dispatch_mode() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class M(TorchDispatchMode):
        def __torch_dispatch__(self, f, t, a=(), k=None):
            seen.append(str(f))
            return f(*a, **k or {})

    with M():
        torch.ones(3, device=D) + 1
    ok("aten.add.Tensor" in seen, str(seen))


def test_jit_script() -> None:

    @torch.jit.script
    def f(x: torch.Tensor):
        return x.sin() + 1

    x = torch.randn(3, device=D)
    eq(f(x), x.sin() + 1)


def test_cpu_compat_unaffected() -> None:
    x = torch.randn(3)
    ok(type(x + 1) is torch.Tensor and (x + 1).device.type == "cpu")


def test_columns_of_a_profile() -> None:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as prof:
        torch.ones(3, device=D) + 1
    averages = prof.key_averages()
    assert "aten::add" in averages.table(sort_by="musa_time_total")
    assert all(event.self_musa_time_total == event.self_device_time_total for event in averages)
