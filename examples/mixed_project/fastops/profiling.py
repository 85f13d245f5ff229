"""Time and kernels of a function."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch.profiler import ProfilerActivity, profile


def milliseconds(function: Callable[[], object], device: torch.device, repeats: int = 10) -> float:
    """Mean time of a call: between two events on a GPU, by the clock on a CPU."""
    function()
    if device.type == "cuda":
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(repeats):
            function()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / repeats
    start = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - start) / repeats * 1e3


def kernel_table(function: Callable[[], object], device: torch.device, rows: int = 10) -> str:
    """What a call launches, the most expensive first."""
    on_gpu = device.type == "cuda"
    activities = [ProfilerActivity.CPU]
    if on_gpu:
        activities.append(ProfilerActivity.CUDA)
    with profile(activities=activities) as recorded:
        function()
    averages = recorded.key_averages()
    if on_gpu:
        return averages.table(sort_by="cuda_time_total", row_limit=rows)
    return averages.table(sort_by="cpu_time_total", row_limit=rows)
