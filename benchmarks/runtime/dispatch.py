"""What a call pays for the choice of its provider: `python benchmarks/runtime/dispatch.py`.

Prints nanoseconds, the best of many short runs. The cached selection is to stay under 2,000.
"""

from __future__ import annotations

import importlib.util
import timeit
from collections.abc import Callable
from typing import NamedTuple

from musa_compat.device import Target, target
from musa_compat.registry import Registry, pin

LIMIT = 2000


class Signature(NamedTuple):
    """What DeepGEMM's entry points would ask of a call."""

    m: int
    n: int
    k: int
    a_dtype: str = "float8_e4m3fn"
    b_dtype: str = "float8_e4m3fn"
    d_dtype: str = "bfloat16"
    scale_format: str = "float32"
    gran_k: int = 128


def nanoseconds(function: Callable[[], object], number: int = 2000, repeat: int = 50) -> float:
    """The best time of one call."""
    return min(timeit.Timer(function).repeat(repeat, number)) / number * 1e9


def measure() -> dict[str, float]:
    """All rows of the table."""
    gemm = Registry().operator("bench.gemm", signature=Signature)
    for name in ("mate", "tilelang", "torch"):
        gemm.add(name, lambda: None, supports=lambda call: None if call.k % 128 == 0 else "K")
    cpu = Target("cpu")
    call = Signature(64, 4096, 7168)
    rows = {
        "cached selection": nanoseconds(lambda: gemm.select(cpu, call)),
        "signature and cached selection": nanoseconds(lambda: gemm.select(cpu, Signature(64, 4096, 7168))),
    }
    with pin("torch"):
        rows["cached selection in a pinned block"] = nanoseconds(lambda: gemm.select(cpu, call))
    sizes = iter(range(1, 10**9))
    rows["first selection of a signature"] = nanoseconds(
        lambda: gemm.select(cpu, Signature(next(sizes), 1, 128)), 500, 8
    )
    if importlib.util.find_spec("torch"):
        rows |= with_tensors(gemm.select)
    return rows


def with_tensors(select: Callable[..., object]) -> dict[str, float]:
    """What a shim does: read five tensors, find the target, select."""
    import torch

    a, b, d = torch.empty(64, 7168), torch.empty(4096, 7168), torch.empty(64, 4096)

    def call() -> object:
        m, k = a.shape
        return select(target(d.device), Signature(m, b.shape[0], k))

    return {"target of a tensor": nanoseconds(lambda: target(d.device)), "shapes, target, selection": nanoseconds(call)}


def main() -> None:
    """Print the table."""
    for name, time in measure().items():
        print(f"{name:40} {time:8.0f} ns")


if __name__ == "__main__":
    main()
