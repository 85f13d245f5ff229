from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch.profiler import ProfilerActivity, profile

import musa_compat


def test_the_activity_of_cuda() -> None:
    with musa_compat.activated():
        x = torch.ones(8, 8, device="cuda")
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
            x @ x
        assert isinstance(p, torch.profiler.profile)
        assert ProfilerActivity.PrivateUse1 in p.activities
        assert ProfilerActivity.CUDA not in p.activities
        assert p.use_device == "musa"
        assert "aten::mm" in p.key_averages().table(sort_by="cuda_time_total")


def test_the_older_profiler() -> None:
    with musa_compat.activated():
        x = torch.ones(8, 8, device="cuda")
        for options in ({"use_device": "cuda"}, {"use_cuda": True}):
            with torch.autograd.profiler.profile(**options) as p:
                x @ x
            assert p.use_device == "musa"
            assert any(event.name == "aten::mm" for event in p.function_events)
        with torch.autograd.profiler.profile() as p:
            x @ x
        assert p.use_device is None
