"""The cost of an operation of the device stays small. The figures are in docs/benchmarks.md; here are the best times,
which other work on the machine disturbs least."""

from __future__ import annotations

import timeit

import pytest

torch = pytest.importorskip("torch")

from .helpers import D

#: µs over the CPU.
LIMIT = 4.0


def microseconds(function) -> float:
    return min(timeit.Timer(function).repeat(60, 300)) / 300 * 1e6


@pytest.mark.parametrize("operation", ["add", "view", "mm"])
def test_operation(operation: str) -> None:
    call = {"add": lambda t: t + t, "view": lambda t: t.view(-1), "mm": torch.mm}[operation]
    shape = (64, 64) if operation == "mm" else (16,)
    a = torch.ones(shape)
    b = a.to(D)
    arguments = {"cpu": (a, a), "sim": (b, b)} if operation == "mm" else {"cpu": (a,), "sim": (b,)}
    cpu, sim = (microseconds(lambda args=arguments[k]: call(*args)) for k in ("cpu", "sim"))
    assert sim - cpu < LIMIT
