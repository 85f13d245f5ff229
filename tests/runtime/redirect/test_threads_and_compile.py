from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

torch = pytest.importorskip("torch")
import musa_compat

from ..sim.helpers import eq, ismusa


def in_a_thread(work: Any) -> Any:
    result: list[Any] = []
    thread = threading.Thread(target=lambda: result.append(work()))
    thread.start()
    thread.join()
    return result[0]


def test_new_threads() -> None:
    class Mine(threading.Thread):
        def run(self) -> None:
            self.x = torch.ones(2, device="cuda")

    with musa_compat.activated():
        ismusa(in_a_thread(lambda: torch.ones(2, device="cuda:1")), 1)
        ismusa(in_a_thread(lambda: in_a_thread(lambda: torch.ones(2).cuda())))
        thread = Mine()
        thread.start()
        thread.join()
        ismusa(thread.x)


def test_pools_old_and_new() -> None:
    with ThreadPoolExecutor(1) as old:
        old.submit(lambda: None).result()
        with musa_compat.activated(), ThreadPoolExecutor(2) as new:
            for pool in (old, new):
                for x in pool.map(lambda i: torch.full((2,), float(i), device="cuda"), range(4)):
                    ismusa(x)
        assert old.submit(torch.overrides._get_current_function_mode_stack).result() == []


def test_a_thread_that_goes_on_after_deactivation() -> None:
    go, results = threading.Event(), []

    def work() -> None:
        results.append(torch.ones(1, device="cuda").device.type)
        go.wait()
        results.append(torch.ones(1).device.type)
        try:
            torch.ones(1, device="cuda")
        except (AssertionError, RuntimeError):
            results.append("refused")

    with musa_compat.activated():
        thread = threading.Thread(target=work)
        thread.start()
        while not results:
            pass
    go.set()
    thread.join()
    assert results == ["musa", "cpu", "refused"]


def test_the_threads_of_autograd() -> None:
    seen = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            seen.append((threading.get_ident(), torch.zeros(2, device="cuda").device.type, grad.is_cuda))
            return grad * 2

    with musa_compat.activated():
        x = torch.ones(2, device="cuda", requires_grad=True)
        Look.apply(x).sum().backward()
        eq(x.grad, torch.full((2,), 2.0))
        assert [entry[1:] for entry in seen] == [("musa", True)]
        assert seen[0][0] != threading.get_ident()


def test_hooks_and_checkpoints() -> None:
    from torch.utils.checkpoint import checkpoint

    def block(x: Any) -> Any:
        return x * torch.full((2,), 3.0, device="cuda")

    seen = []
    with musa_compat.activated():
        x = torch.ones(2, device="cuda", requires_grad=True)
        x.register_hook(lambda grad: seen.append(torch.ones(1, device="cuda:1").device.index))
        checkpoint(block, x, use_reentrant=False).sum().backward()
        (grad,) = torch.autograd.grad(block(x).sum(), x)
        eq(grad, torch.full((2,), 3.0))
        eq(x.grad, grad)
    assert seen == [1, 1]


def test_data_loader() -> None:
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.arange(8.0))
    with musa_compat.activated():
        for workers in (0, 1):
            loader = DataLoader(data, 4, num_workers=workers, pin_memory=True)
            batches = [batch.to("cuda", non_blocking=True) for (batch,) in loader]
            ismusa(batches[1])
            eq(torch.cat(batches), torch.arange(8.0))


def function(x: Any) -> Any:
    y = torch.zeros(4, device="cuda") + x.sum()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        z = x @ x
    if x.is_cuda:
        y = y + 1
    y = y + torch.full((4,), 2.0, device=torch.device("cuda"))
    return y + z.to("cuda:0") + x.new_ones(4, device="cuda") + torch.ones(4).cuda()


def test_compile() -> None:
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    with musa_compat.activated():
        x = torch.ones(4, 4, device="cuda")
        result = compiled(x)
        ismusa(result)
        eq(result, torch.full((4, 4), 25.0))
        eq(result, function(x))
        assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
        compiled(x)
        assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


def test_compile_on_the_cpu_before_during_and_after() -> None:
    def three(x: Any) -> Any:
        return x * 3 if not x.is_cuda else x

    compiled = torch.compile(three, backend="eager", fullgraph=True)
    x = torch.ones(2)
    eq(compiled(x), x * 3)
    with musa_compat.activated():
        eq(compiled(x), x * 3)
        eq(compiled(x.cuda()), x)
    eq(compiled(x), x * 3)


def test_fx() -> None:
    with musa_compat.activated():
        traced = torch.fx.symbolic_trace(lambda x: x + torch.zeros(2, device=torch.device("cuda:0")))
        ismusa(traced(torch.ones(2, device="cuda")))
        traced.recompile()
        ismusa(traced(torch.ones(2, device="cuda")))


def test_streams_events_generators_by_device() -> None:
    real = torch.Stream, torch.Event, torch.Generator

    class Mine(torch.Generator):
        pass

    with musa_compat.activated():
        assert torch.Stream(device="cuda:1").device.index == 1
        assert torch.Stream("cuda").device.type == "musa"
        assert torch.Event(device="cuda").device.type == "musa"
        generator = torch.Generator(device="cuda").manual_seed(3)
        numbers = torch.rand(3, device="cuda", generator=generator)
        eq(numbers, torch.rand(3, device="cuda", generator=generator.manual_seed(3)))
        assert isinstance(generator, torch.Generator)
        assert isinstance(torch.default_generator, torch.Generator)
        assert isinstance(torch.cuda.current_stream(), torch.Stream)
        assert not isinstance(3, torch.Generator)
        assert issubclass(torch.cuda.Stream, torch.Stream)

        class Theirs(torch.Generator):
            pass

        assert type(Theirs(device="cuda")) is Theirs
        assert not isinstance(generator, Theirs)
        assert isinstance(Mine(), torch.Generator)
    assert (torch.Stream, torch.Event, torch.Generator) == real
    assert type(generator) is torch.Generator
