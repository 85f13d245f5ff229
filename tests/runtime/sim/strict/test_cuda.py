"""CUDA names that reach nothing are reported with the line and the counterpart."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from musa_compat import sim
from musa_compat.sim import checks

CASES: dict[str, tuple[Callable[[], Any], str, str]] = {
    "synchronize": (lambda: torch.cuda.synchronize(), "torch.cuda.synchronize", "torch.musa.synchronize"),
    "device_count": (lambda: torch.cuda.device_count(), "torch.cuda.device_count", "torch.musa.device_count"),
    "empty_cache": (lambda: torch.cuda.empty_cache(), "torch.cuda.empty_cache", "torch.musa.empty_cache"),
    "memory": (lambda: torch.cuda.memory_allocated(), "torch.cuda.memory_allocated", "torch.musa.memory_allocated"),
    "manual_seed": (lambda: torch.cuda.manual_seed_all(1), "torch.cuda.manual_seed_all", "torch.musa.manual_seed_all"),
    "Stream": (lambda: torch.cuda.Stream(), "torch.cuda.Stream", "torch.musa.Stream"),
    "CUDAGraph": (lambda: torch.cuda.CUDAGraph, "torch.cuda.CUDAGraph", "torch.musa.MUSAGraph"),
    "nvtx": (lambda: torch.cuda.nvtx.range_push("x"), "torch.cuda.nvtx", "torch.musa has nothing"),
    "utilization": (lambda: torch.cuda.utilization(), "torch.cuda.utilization", "torch.musa has nothing"),
    "getattr": (lambda: getattr(torch.cuda, "current_" + "device")(), "torch.cuda.current_device", "torch.musa.cur"),
    "zeros": (lambda: torch.zeros(1, device="cuda"), "a CUDA device", "the device 'musa'"),
    "to": (lambda: torch.zeros(1).to("cuda:0"), "a CUDA device", "the device 'musa'"),
    "cuda": (lambda: torch.zeros(1).cuda(), "a CUDA device", "the device 'musa'"),
    "module": (lambda: torch.nn.Linear(1, 1).cuda(), "a CUDA device", "the device 'musa'"),
    "is_cuda": (lambda: torch.zeros(1, device="musa").is_cuda, "Tensor.is_cuda", "Tensor.is_musa"),
    "autocast": (lambda: torch.autocast("cuda"), "torch.autocast for 'cuda'", "torch.autocast with 'musa'"),
    "GradScaler": (lambda: torch.amp.GradScaler(), "torch.amp.GradScaler for 'cuda'", "torch.amp.GradScaler with"),
}


@pytest.mark.parametrize("name", CASES)
def test_found(name: str) -> None:
    call, what, advice = CASES[name]
    warnings.simplefilter("ignore", UserWarning)  # torch's own, that there is no CUDA
    with sim.strict("raise", "cuda"), pytest.raises(sim.StrictError) as caught:
        call()
    finding = caught.value.finding
    assert (finding.check, finding.operator) == ("cuda", what)
    assert advice in finding.advice
    assert finding.place == (__file__, call.__code__.co_firstlineno)


def test_an_import_of_a_name_is_found() -> None:
    with sim.strict("raise", "cuda"), pytest.raises(sim.StrictError) as caught:
        from torch.cuda import set_device  # noqa: F401
    assert caught.value.finding.operator == "torch.cuda.set_device"
    assert caught.value.finding.place.file == __file__


def test_code_without_a_file_has_a_place() -> None:
    with sim.strict("raise", "cuda"), pytest.raises(sim.StrictError) as caught:
        exec("import torch\ntorch.cuda.synchronize()", {})
    assert caught.value.finding.place == ("<string>", 2)


def test_torch_itself_may_look_at_torch_cuda() -> None:
    with sim.strict("raise", "cuda"):
        assert not torch.cuda.is_available()
        layer = torch.nn.Linear(4, 4).to("musa")
        optimizer = torch.optim.Adam(layer.parameters(), fused=False)
        with torch.autocast("musa"), torch.random.fork_rng(devices=[]):
            layer(torch.ones(1, 4, device="musa")).sum().backward()
        optimizer.step()
        assert not torch.ones(1).is_cuda
        list(torch.utils.data.DataLoader([1, 2], pin_memory=True))


def test_it_leaves_no_trace() -> None:
    before = (type(torch.cuda), torch.cuda._lazy_init, torch.autocast.__init__, torch.amp.GradScaler.__init__)
    with sim.strict(), sim.strict("warn"):
        pass
    after = (type(torch.cuda), torch.cuda._lazy_init, torch.autocast.__init__, torch.amp.GradScaler.__init__)
    assert before == after
    for name in ("is_cuda", "numpy", "tolist"):
        assert name not in vars(torch.Tensor)


def test_what_a_redirect_serves_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", torch.musa.synchronize)
    with sim.strict("raise", "cuda"):
        torch.cuda.synchronize()


def test_a_redirect_can_say_what_it_cannot_serve() -> None:
    checks.cuda_call("torch.cuda.nvtx.range_push")  # off: nothing
    with sim.strict("raise", "cuda"), pytest.raises(sim.StrictError) as caught:
        checks.cuda_call("torch.cuda.gds", None)
    assert caught.value.finding.place.file == __file__
    with sim.strict("raise", "syncs"):
        checks.cuda_call("torch.cuda.gds", None)


def test_the_table_names_torch_cuda() -> None:
    from musa_compat.sim.checks import cuda

    table = cuda._table()
    for name in (*table["counterparts"], *table["lacks"], *table["answers"]):
        assert hasattr(torch.cuda, name) or importlib.util.find_spec(f"torch.cuda.{name}"), name
    for name, counterpart in table["counterparts"].items():
        module, _, attribute = counterpart.rpartition(".")
        assert name not in table["lacks"]
        assert pytest.importorskip(module.replace("torch.musa", "torch_musa")), attribute
