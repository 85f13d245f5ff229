from __future__ import annotations

import time

import pytest

torch = pytest.importorskip("torch")


def sleep(milliseconds: float) -> None:
    torch.musa._sleep(int(milliseconds * 1e-3 * 1750e6))


def test_a_busy_stream_is_not_done_until_it_is_waited_for() -> None:
    stream = torch.musa.Stream()
    with torch.musa.stream(stream):
        sleep(100)
    assert not stream.query()
    assert torch.musa.current_stream().query()
    start = time.perf_counter()
    stream.synchronize()
    assert time.perf_counter() - start > 0.05
    assert stream.query()


def test_events_measure_the_time_line_and_refuse_before_it_is_over() -> None:
    first, second = torch.musa.Event(enable_timing=True), torch.musa.Event(enable_timing=True)
    first.record()
    sleep(80)
    second.record()
    assert not second.query()
    with pytest.raises(RuntimeError, match="not ready"):
        first.elapsed_time(second)
    second.synchronize()
    assert 79 < first.elapsed_time(second) < 200


def test_waiting_for_an_event_makes_the_other_stream_busy() -> None:
    event, other = torch.musa.Event(), torch.musa.Stream()
    sleep(100)
    event.record()
    assert other.query()
    other.wait_event(event)
    assert not other.query()


def test_reading_a_scalar_waits_for_the_stream() -> None:
    tensor = torch.ones(1, device="musa")
    sleep(60)
    start = time.perf_counter()
    assert tensor.item() == 1
    assert time.perf_counter() - start > 0.04


def test_an_unrecorded_event_has_no_time() -> None:
    first, second = torch.musa.Event(enable_timing=True), torch.musa.Event(enable_timing=True)
    with pytest.raises(RuntimeError, match="recorded"):
        first.elapsed_time(second)
    assert second.query()
