"""Patterns that are right on a card give no finding; each of them with one wait taken out gives one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from musa_compat import sim

#: Runs a wait, unless it is the one that is taken out.
Wait = Callable[..., None]
MUSA = "musa"


def side_stream(wait: Wait) -> None:
    """As in the notes on semantics of CUDA streams."""
    side = torch.musa.Stream()
    a = torch.empty(64, device=MUSA).normal_()
    wait("enter", side.wait_stream, torch.musa.default_stream())
    with torch.musa.stream(side):
        b = a.sum()
    wait("leave", torch.musa.default_stream().wait_stream, side)
    b.mul_(2)


def events(wait: Wait) -> None:
    """A producer and a consumer by events, there and back."""
    producer, consumer = torch.musa.Stream(), torch.musa.Stream()
    ready, used = torch.musa.Event(), torch.musa.Event()
    buffer = torch.zeros(8, device=MUSA)
    producer.wait_stream(torch.musa.current_stream())
    total = torch.zeros(8, device=MUSA)
    consumer.wait_stream(torch.musa.current_stream())
    for step in range(3):
        with torch.musa.stream(producer):
            wait("used", used.wait)
            buffer.fill_(step)
            ready.record()
        with torch.musa.stream(consumer):
            wait("ready", ready.wait)
            total += buffer
            used.record()
    wait("end", consumer.synchronize)
    total.add_(1)


def prefetcher(wait: Wait) -> None:
    """The next batch is copied on a side stream while the present one is computed."""
    side, main = torch.musa.Stream(), torch.musa.current_stream()
    weight = torch.ones(4, 4, device=MUSA)

    def load() -> Any:
        with torch.musa.stream(side):
            return torch.ones(4, 4).pin_memory().to(MUSA, non_blocking=True)

    batch = load()
    for _ in range(3):
        wait("batch", main.wait_stream, side)
        present = batch
        wait("record", present.record_stream, main)
        batch = load()
        out = present @ weight
        del present
    out.sum()


def double_buffer(wait: Wait) -> None:
    """Two pinned buffers: one is filled by the host while the other is copied."""
    side = torch.musa.Stream()
    pinned = [torch.empty(16).pin_memory() for _ in range(2)]
    copied = [torch.musa.Event() for _ in range(2)]
    total = torch.zeros(16, device=MUSA)
    for step in range(4):
        slot = step % 2
        wait("copied", copied[slot].synchronize)
        pinned[slot].fill_(step)
        with torch.musa.stream(side):
            batch = pinned[slot].to(MUSA, non_blocking=True)
            copied[slot].record()
        wait("arrived", torch.musa.current_stream().wait_event, copied[slot])
        batch.record_stream(torch.musa.current_stream())
        total += batch


def copy_to_the_host(wait: Wait) -> None:
    """What is copied without blocking is read after an event."""
    loss, done = torch.ones(3, device=MUSA).sum(), torch.musa.Event()
    host = loss.to("cpu", non_blocking=True)
    done.record()
    wait("done", done.synchronize)
    assert host.item() == 3


def copy_to_numpy(wait: Wait) -> None:
    """The same, by `query` and NumPy."""
    side, host = torch.musa.Stream(), torch.empty(3, pin_memory=True)
    device = torch.ones(3, device=MUSA)
    wait("enter", side.wait_stream, torch.musa.current_stream())
    with torch.musa.stream(side):
        host.copy_(device, non_blocking=True)
    wait("query", side.query)
    assert host.numpy().sum() == 3


def backward_on_a_side_stream(wait: Wait) -> None:
    """Autograd orders its own streams, and the gradients with the stream that called it."""
    side, main = torch.musa.Stream(), torch.musa.current_stream()
    layer = torch.nn.Linear(4, 4).to(MUSA)
    x = torch.ones(2, 4, device=MUSA)
    wait("enter", side.wait_stream, main)
    with torch.musa.stream(side):
        loss = layer(x).sum()
        loss.backward()
    wait("leave", main.wait_stream, side)
    for parameter in layer.parameters():
        parameter.data.add_(parameter.grad)


def backward_of_two_streams(wait: Wait) -> None:
    """`backward` is called on another stream than the forward pass ran on."""
    side, main = torch.musa.Stream(), torch.musa.current_stream()
    weight = torch.ones(4, device=MUSA, requires_grad=True)
    wait("enter", side.wait_stream, main)
    with torch.musa.stream(side):
        left = (weight * 2).sum()
    right = (weight * 3).sum()
    wait("join", main.wait_stream, side)
    (left + right).backward()
    weight.grad.mul_(2)


def sub_ranges(wait: Wait) -> None:
    """Streams write columns of one tensor at once: they do not meet."""
    streams = [torch.musa.Stream() for _ in range(2)]
    out = torch.zeros(8, 6, device=MUSA)
    for k, stream in enumerate(streams):
        wait(f"enter {k}", stream.wait_stream, torch.musa.current_stream())
        with torch.musa.stream(stream):
            out[:, 3 * k : 3 * k + 3] = k
    for k, stream in enumerate(streams):
        wait(f"leave {k}", torch.musa.current_stream().wait_stream, stream)
    out.sum()


def device_synchronize(wait: Wait) -> None:
    """One call for all streams."""
    side, a = torch.musa.Stream(), torch.ones(4, device=MUSA)
    wait("before", torch.musa.synchronize)
    with torch.musa.stream(side):
        a.add_(1)
    wait("after", torch.musa.synchronize)
    a.add_(1)


def two_devices(wait: Wait) -> None:
    """A copy between devices waits by itself for the current streams of both; a side stream has to be waited for."""
    side, a = torch.musa.Stream("musa:1"), torch.ones(4, device="musa:0")
    b = a.to("musa:1", non_blocking=True)
    wait("enter", side.wait_stream, torch.musa.current_stream("musa:1"))
    with torch.musa.stream(side):
        b.add_(1)
    wait("leave", torch.musa.current_stream("musa:1").wait_stream, side)
    a.copy_(b)
    a.add_(1)


def freed_memory(wait: Wait) -> None:
    """A tensor of one stream is used on another and dropped: its memory goes to the next tensor of its stream."""
    side, a = torch.musa.Stream(), torch.ones(1024, device=MUSA)
    wait("enter", side.wait_stream, torch.musa.current_stream())
    with torch.musa.stream(side):
        kept = a * 2
    wait("record", a.record_stream, side)
    del a
    torch.ones(1024, device=MUSA)
    torch.musa.current_stream().wait_stream(side)
    kept.add_(1)


def graph_replay(wait: Wait) -> None:
    """What a graph reads and writes happens on the stream of its replay."""
    static, side = torch.zeros(4, device=MUSA), torch.musa.Stream()
    graph = torch.musa.MUSAGraph()
    with torch.musa.graph(graph):
        out = static * 2
    static.fill_(3)
    wait("enter", side.wait_stream, torch.musa.current_stream())
    with torch.musa.stream(side):
        graph.replay()
    wait("leave", torch.musa.current_stream().wait_stream, side)
    out.add_(1)


def graph_with_a_fork(wait: Wait) -> None:
    """Streams within a capture."""
    x, side, graph = torch.ones(4, device=MUSA), torch.musa.Stream(), torch.musa.MUSAGraph()
    with torch.musa.graph(graph):
        main = torch.musa.current_stream()
        y = x + 1
        wait("fork", side.wait_stream, main)
        with torch.musa.stream(side):
            z = y * 2
        wait("join", main.wait_stream, side)
        z.add_(1)
    graph.replay()


def optimizer_step(wait: Wait) -> None:
    """Training on one stream, with a scaler, needs no wait at all."""
    layer = torch.nn.Linear(4, 4).to(MUSA)
    optimizer = torch.optim.AdamW(layer.parameters(), 0.1)
    scaler = torch.amp.GradScaler(MUSA)
    for _ in range(2):
        with torch.autocast(MUSA):
            loss = layer(torch.ones(2, 4, device=MUSA)).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


PATTERNS: dict[Callable[[Wait], None], list[str]] = {
    side_stream: ["enter", "leave"],
    events: ["used", "ready", "end"],
    prefetcher: ["batch", "record"],
    double_buffer: ["copied", "arrived"],
    copy_to_the_host: ["done"],
    copy_to_numpy: ["enter", "query"],
    backward_on_a_side_stream: ["enter", "leave"],
    backward_of_two_streams: ["enter", "join"],
    sub_ranges: ["enter 0", "enter 1", "leave 0", "leave 1"],
    device_synchronize: ["before", "after"],
    two_devices: ["enter", "leave"],
    freed_memory: ["enter", "record"],
    graph_replay: ["enter", "leave"],
    graph_with_a_fork: ["fork", "join"],
    optimizer_step: [],
}


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_a_correct_program_gives_no_finding(pattern: Callable[[Wait], None]) -> None:
    called: dict[str, None] = {}

    def wait(name: str, function: Any, *arguments: Any) -> None:
        called[name] = None
        function(*arguments)

    with sim.strict("raise", "streams"):
        pattern(wait)
    assert sim.findings() == []
    assert list(called) == PATTERNS[pattern], "the list of waits is to be complete"


@pytest.mark.parametrize(
    ("pattern", "missing"),
    [
        pytest.param(pattern, name, id=f"{pattern.__name__}-{name}")
        for pattern, names in PATTERNS.items()
        for name in names
    ],
)
def test_a_missing_wait_is_found(pattern: Callable[[Wait], None], missing: str) -> None:
    def wait(name: str, function: Any, *arguments: Any) -> None:
        if name != missing:
            function(*arguments)

    with sim.strict("raise", "streams"), pytest.raises(sim.StrictError) as caught:
        pattern(wait)
    finding = caught.value.finding
    assert finding.check == "streams"
    assert finding.place.file == __file__
    assert finding.earlier.file == __file__
    start = pattern.__code__.co_firstlineno
    end = max(line for *_, line in pattern.__code__.co_lines() if line)
    assert start < finding.earlier.line <= end or pattern is prefetcher
    assert start < finding.place.line <= end or pattern is prefetcher
    assert finding.stream != finding.earlier_stream
