from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import D, ok


def test_stream_basic() -> None:
    s = torch.musa.Stream()
    ok(s.device.type == "musa")
    ok(s != torch.musa.current_stream())


def test_stream_ctx() -> None:
    s = torch.musa.Stream()
    with torch.musa.stream(s):
        ok(torch.musa.current_stream() == s)
        torch.ones(3, device=D) * 2
    ok(torch.musa.current_stream() == torch.musa.default_stream())
    torch.musa.current_stream().wait_stream(s)
    s.synchronize()
    ok(s.query())


def test_stream_priority() -> None:
    s = torch.musa.Stream(priority=-1)
    ok(s.priority == -1)
    ok(isinstance(s.musa_stream, int))


def test_event() -> None:
    e1, e2 = (torch.musa.Event(enable_timing=True), torch.musa.Event(enable_timing=True))
    e1.record()
    a = torch.randn(300, 300, device=D)
    a @ a
    e2.record()
    torch.musa.synchronize()
    ok(e1.elapsed_time(e2) > 0)
    ok(e1.query())
    e2.synchronize()
    torch.musa.Stream().wait_event(e2)


def test_torch_stream_generic() -> None:
    s = torch.Stream(device="musa")
    ok(s.device.type == "musa")
    e = torch.Event("musa")
    e.record(s)
    e.synchronize()
    ok(e.query())


def test_torch_stream_ctx() -> None:
    s = torch.Stream(device="musa")
    with s:
        ok(torch.accelerator.current_stream() == s)


def test_record_stream() -> None:
    t = torch.empty(3, device=D)
    t.record_stream(torch.musa.Stream())


def test_set_stream() -> None:
    s = torch.musa.Stream()
    torch.musa.set_stream(s)
    ok(torch.musa.current_stream() == s)
    torch.musa.set_stream(torch.musa.default_stream())
