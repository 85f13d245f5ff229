"""Random programs of streams, events, waits and accesses, against a small model of happens-before in Python.

The model keeps the whole order as a graph of steps and asks whether a path leads from one access to the other: it has
no clocks and forgets nothing, so it shares no shortcut with the library.
"""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
hypothesis = pytest.importorskip("hypothesis")

from hypothesis import strategies as st

from musa_compat import sim

STREAMS, EVENTS, CELLS = 3, 3, 3
_stream, _event = st.integers(0, STREAMS - 1), st.integers(0, EVENTS - 1)
_cells = st.integers(0, CELLS - 1).flatmap(lambda a: st.integers(a + 1, CELLS).map(lambda b: (a, b)))
#: A program is a list of steps, each a tuple of a word and its arguments.
STEPS = st.one_of(
    st.tuples(st.just("read"), _stream, _cells),
    st.tuples(st.just("write"), _stream, _cells),
    st.tuples(st.just("copy out"), _stream, _cells),
    st.tuples(st.just("copy in"), _stream, _cells),
    st.tuples(st.just("host read"), _cells),
    st.tuples(st.just("host write"), _cells),
    st.tuples(st.just("record"), _event, _stream),
    st.tuples(st.just("wait"), _event, _stream),
    st.tuples(st.just("wait stream"), _stream, _stream),
    st.tuples(st.just("query event"), _event),
    st.tuples(st.just("synchronize event"), _event),
    st.tuples(st.just("synchronize stream"), _stream),
    st.tuples(st.just("item"), _stream),
    st.tuples(st.just("synchronize")),
)
Step = tuple[Any, ...]


class Model:
    """Which steps of a program race with an earlier one."""

    def __init__(self) -> None:
        self.before: list[set[int]] = []  # node -> direct predecessors
        self.last = [self.node(set()) for _ in range(STREAMS)]
        self.host = self.node(set())
        self.event: list[int | None] = [None] * EVENTS
        self.accesses: list[tuple[int, str, tuple[int, int], bool]] = []

    def node(self, before: set[int]) -> int:
        self.before.append(before)
        return len(self.before) - 1

    def is_before(self, a: int, b: int) -> bool:
        seen, todo = set(), [b]
        while todo:
            node = todo.pop()
            if node == a:
                return True
            if node not in seen:
                seen.add(node)
                todo += self.before[node]
        return False

    def access(self, node: int, memory: str, cells: tuple[int, int], write: bool) -> bool:
        races = any(
            memory == other
            and (write or wrote)
            and cells[0] < there[1]
            and there[0] < cells[1]
            and not self.is_before(then, node)
            for then, other, there, wrote in self.accesses
        )
        if not races:
            self.accesses.append((node, memory, cells, write))
        return races

    def on(self, stream: int, *more: int) -> int:
        """A step that is given to a stream: after the stream's last step, and what the host knew."""
        return self.node({self.last[stream], self.host, *more})

    def run(self, step: Step) -> bool:
        """Whether the step races. One that does is not done."""
        word, *rest = step
        if word in ("read", "write", "copy out", "copy in"):
            return self.operation(word, *rest)
        if word in ("host read", "host write"):
            node = self.node({self.host})
            races = self.access(node, "pinned", rest[0], word == "host write")
            self.host = self.host if races else node
            return races
        if word == "record":
            self.last[rest[1]] = self.event[rest[0]] = self.on(rest[1])
        elif word == "wait" and (at := self.event[rest[0]]) is not None:
            self.last[rest[1]] = self.on(rest[1], at)
        elif word == "wait stream":
            self.last[rest[0]] = self.on(rest[0], self.on(rest[1]))
        elif word in ("query event", "synchronize event") and (at := self.event[rest[0]]) is not None:
            self.host = self.node({self.host, at})
        elif word in ("synchronize stream", "item"):
            self.host = self.node({self.host, self.last[rest[0]]})
        elif word == "synchronize":
            self.host = self.node({self.host, *self.last})
        return False

    def operation(self, word: str, stream: int, cells: tuple[int, int]) -> bool:
        node = self.on(stream)
        kept = len(self.accesses)
        copy = word.startswith("copy")
        races = self.access(node, "device", cells, word in ("write", "copy in"))
        if not races and copy:
            races = self.access(node, "pinned", cells, word == "copy out")
        if races:
            del self.accesses[kept:]
        else:
            self.last[stream] = node
        return races


class Program:
    """The same steps on the simulated device."""

    def __init__(self) -> None:
        self.streams = [torch.musa.Stream() for _ in range(STREAMS)]
        self.events = [torch.musa.Event() for _ in range(EVENTS)]
        self.device = torch.zeros(CELLS, device="musa")
        self.pinned = torch.zeros(CELLS).pin_memory()
        with torch.no_grad():
            self.scalars = [torch.zeros((), device="musa") for _ in range(STREAMS)]
        torch.musa.synchronize()

    def run(self, step: Step) -> bool:
        try:
            self.do(*step)
        except sim.StrictError:
            return True
        return False

    def do(self, word: str, *rest: Any) -> None:
        if word in ("read", "write", "copy out", "copy in"):
            stream, (a, b) = rest
            with torch.musa.stream(self.streams[stream]):
                device, pinned = self.device[a:b], self.pinned[a:b]
                {
                    "read": lambda: device.sum(),
                    "write": lambda: device.fill_(1),
                    "copy out": lambda: pinned.copy_(device, non_blocking=True),
                    "copy in": lambda: device.copy_(pinned, non_blocking=True),
                }[word]()
        elif word == "host read":
            self.pinned[slice(*rest[0])].sum()
        elif word == "host write":
            self.pinned[slice(*rest[0])].fill_(2)
        elif word == "item":
            with torch.musa.stream(self.streams[rest[0]]):
                self.scalars[rest[0]].item()
        elif word == "record":
            self.events[rest[0]].record(self.streams[rest[1]])
        elif word == "wait":
            self.events[rest[0]].wait(self.streams[rest[1]])
        elif word == "wait stream":
            self.streams[rest[0]].wait_stream(self.streams[rest[1]])
        elif word == "query event":
            assert self.events[rest[0]].query()
        elif word == "synchronize event":
            self.events[rest[0]].synchronize()
        elif word == "synchronize stream":
            self.streams[rest[0]].synchronize()
        else:
            torch.musa.synchronize()


def test_random_programs_agree_with_the_model() -> None:
    races = 0

    @hypothesis.settings(max_examples=400, deadline=None, database=None, derandomize=True)
    @hypothesis.given(st.lists(STEPS, max_size=25))
    def agree(steps: list[Step]) -> None:
        nonlocal races
        with sim.strict("raise", "streams"):
            model, program = Model(), Program()
            for index, step in enumerate(steps):
                expected, got = model.run(step), program.run(step)
                races += expected
                assert got == expected, f"step {index} of {steps}: the model says {expected}"
        sim.findings(clear=True)

    agree()
    assert races > 100, "the programs are to hold races"
