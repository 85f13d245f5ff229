"""What an operation of the simulated device costs beside the same operation on the CPU."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from benchmarks.porter.tables import Table

Call = Callable[[], object]


class Case(NamedTuple):
    """`make(device)` gives the call; `limit` is how many µs over the CPU's are allowed, or None."""

    name: str
    make: Callable[[str], Call]
    calls: int = 2000
    limit: float | None = None


class Pair(NamedTuple):
    """µs for one call: medians over the rounds; `extra` is the median of the rounds' differences."""

    cpu: float
    sim: float
    extra: float
    ratio: float


def _tensor(*shape: int, device: str) -> Any:
    return torch.linspace(-1, 1, steps=torch.Size(shape).numel()).reshape(shape).to(device)


def _add(device: str) -> Call:
    a = _tensor(16, device=device)
    return lambda: a + a


def _view(device: str) -> Call:
    a = _tensor(16, device=device)
    return lambda: a.view(4, 4)


def _mm(size: int) -> Callable[[str], Call]:
    def make(device: str) -> Call:
        a = _tensor(size, size, device=device)
        return lambda: torch.mm(a, a)

    return make


def _item(device: str) -> Call:
    a = _tensor(1, device=device)
    return lambda: a.item()


def _empty(device: str) -> Call:
    where = torch.device(device)
    return lambda: torch.empty(16, device=where)


def _mul_(device: str) -> Call:
    a = _tensor(16, device=device)
    return lambda: a.mul_(1.0)


def _add_out(device: str) -> Call:
    a = _tensor(16, device=device)
    out = torch.empty_like(a)
    return lambda: torch.add(a, a, out=out)


def _cat(device: str) -> Call:
    a = _tensor(16, device=device)
    return lambda: torch.cat((a, a))


def _layer_norm(device: str) -> Call:
    a, w = _tensor(8, 64, device=device), _tensor(64, device=device)
    return lambda: torch.nn.functional.layer_norm(a, (64,), w, w)


def _conv(device: str) -> Call:
    a, w = _tensor(1, 4, 8, 8, device=device), _tensor(4, 4, 3, 3, device=device)
    return lambda: torch.nn.functional.conv2d(a, w)


def _step(device: str) -> Call:
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 64)).to(device)
    a = _tensor(8, 64, device=device)
    return lambda: layers(a).sum().backward()


def _to_device(device: str) -> Call:
    a, b = _tensor(1024, device="cpu"), torch.empty(1024, device=device)
    return lambda: b.copy_(a)


def _to_host(device: str) -> Call:
    a, b = _tensor(1024, device=device), torch.empty(1024)
    return lambda: b.copy_(a)


OVER_CPU = 4.0
CASES = (
    Case("add, 16 elements", _add, limit=OVER_CPU),
    Case("view", _view, limit=OVER_CPU),
    Case("mm, 64 x 64", _mm(64), limit=OVER_CPU),
    Case("item", _item),
    Case("empty, 16 elements", _empty),
    Case("mul_, 16 elements", _mul_),
    Case("add with out=, 16 elements", _add_out),
    Case("cat of two, 16 elements", _cat),
    Case("layer_norm, 8 x 64", _layer_norm),
    Case("conv2d, 4 channels, 8 x 8", _conv, 500),
    Case("two-layer MLP, forward and backward", _step, 200),
    Case("copy to the device, 4 KB", _to_device),
    Case("copy to the host, 4 KB", _to_host),
)
#: How much slower than the CPU's a large matrix product may be.
RATIO = 1.05
LARGE = Case("mm, 1024 x 1024", _mm(1024), 1)


def compare(cases: tuple[Case, ...], rounds: int) -> dict[str, Pair]:
    """Times of all cases: in each round each case runs on the CPU and on the device, which of them first alternates."""
    calls = {case: {device: case.make(device) for device in ("cpu", "musa")} for case in cases}
    times: dict[Case, list[dict[str, float]]] = {case: [] for case in cases}
    for number in range(-1, rounds):  # the first round warms up
        for case in cases:
            order = ("cpu", "musa") if number % 2 else ("musa", "cpu")
            taken = {device: _microseconds(calls[case][device], case.calls) for device in order}
            if number >= 0:
                times[case].append(taken)
    return {case.name: _pair(taken) for case, taken in times.items()}


def _microseconds(call: Call, number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        call()
    return (time.perf_counter() - start) / number * 1e6


def _pair(rounds: list[dict[str, float]]) -> Pair:
    median = statistics.median
    return Pair(
        median(r["cpu"] for r in rounds),
        median(r["musa"] for r in rounds),
        median(r["musa"] - r["cpu"] for r in rounds),
        median(r["musa"] / r["cpu"] for r in rounds),
    )


def tables(rounds: int) -> list[Table]:
    """The two tables. The simulated device must be enabled."""
    torch.set_num_threads(1)
    small = compare(CASES, rounds)
    large = compare((LARGE,), 3 * rounds)[LARGE.name]
    asked = {case.name: f"under {case.limit:g}" if case.limit else "" for case in CASES}
    wide = f"{large.cpu / 1e3:.2f} ms", f"{large.sim / 1e3:.2f} ms", f"{large.ratio:.3f}", f"under {RATIO}"
    rows = [
        [name, f"{pair.cpu:.2f}", f"{pair.sim:.2f}", f"{pair.extra:.2f}", asked[name]] for name, pair in small.items()
    ]
    return [
        Table(
            "Operations of the simulated device",
            f"Microseconds for one call from Python, one thread: medians of {rounds} rounds, in each of which every "
            "operation ran on both, one after the other. The difference is the median of the rounds' differences.",
            ("", "CPU", "simulated", "difference", "asked"),
            [list(row) for row in rows],
        ),
        Table(
            "A large matrix product on the simulated device",
            f"{LARGE.name}, float32, one thread: medians of {3 * rounds} rounds.",
            ("", "CPU", "simulated", "ratio", "asked"),
            [[LARGE.name, *wide]],
        ),
    ]
