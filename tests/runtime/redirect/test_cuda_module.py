from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")
import musa_compat

from ..sim.helpers import eq, ismusa


def test_every_name_of_torch_musa_is_there() -> None:
    from musa_compat.redirect import counterparts

    with musa_compat.activated():
        names = counterparts.names()
        assert len(names) > 50
        for name in names:
            value, theirs = getattr(torch.cuda, name), counterparts.counterpart(name)
            assert getattr(value, "__wrapped__", value) is theirs, name


def test_what_torch_cuda_says() -> None:
    musa = torch.musa
    with musa_compat.activated():
        cuda = torch.cuda
        assert cuda.is_available()
        assert cuda.device_count() == cuda._device_count_nvml() == 2
        assert cuda.current_device() == 0
        assert cuda.get_device_capability() == cuda.get_device_capability("cuda:1") == (3, 1)
        assert cuda.get_device_name("cuda") == musa.get_device_name()
        assert cuda.get_device_properties(device="cuda").multi_processor_count == 60
        assert cuda.get_device_properties() == cuda.get_device_properties(torch.device("cuda", 1))
        assert cuda.get_arch_list() == ["31"]
        assert cuda.get_gencode_flags() == "--offload-arch=mp_31"
        assert cuda.can_device_access_peer("cuda:0", "cuda:1")
        assert cuda.is_bf16_supported(including_emulation=False)
        assert cuda.is_initialized()
        assert cuda.get_sync_debug_mode() == 0
        assert cuda.nccl.version() == musa.mccl.version()
        assert cuda._get_device_index("cuda:1") == cuda._utils._get_device_index(torch.device("cuda:1")) == 1
        assert cuda._get_device_index(None, optional=True) == 0
        cuda.init()
        cuda.ipc_collect()
        cuda.empty_cache()
        cuda.synchronize("cuda:1")
        with pytest.warns(UserWarning, match="does not look for synchronisation"):
            cuda.set_sync_debug_mode("warn")


def test_devices() -> None:
    with musa_compat.activated():
        torch.cuda.set_device("cuda:1")
        ismusa(torch.ones(1, device="cuda"), 1)
        with torch.cuda.device("cuda:0"):
            ismusa(torch.ones(1, device="cuda"), 0)
            with torch.cuda.device_of(torch.ones(1, device="cuda:1")):
                assert torch.cuda.current_device() == 1
        assert torch.cuda.current_device() == 1
        torch.cuda.set_device(torch.device("cuda", 0))
        assert torch.cuda.current_device() == 0


def test_memory() -> None:
    with musa_compat.activated():
        before = torch.cuda.memory_allocated("cuda:1")
        x = torch.empty(1024, device="cuda:1")
        assert torch.cuda.memory_allocated(device=torch.device("cuda:1")) - before >= 4096
        assert torch.cuda.memory.memory_allocated(1) == torch.musa.memory_allocated(1)
        assert torch.cuda.max_memory_allocated("cuda:1") >= 4096
        assert torch.cuda.memory_cached(1) == torch.cuda.memory_reserved(1)
        free, total = torch.cuda.mem_get_info("cuda:1")
        assert total - free >= 4096
        assert torch.cuda.memory_stats("cuda:1")["allocated_bytes.all.current"] >= 4096
        assert "current" in torch.cuda.memory_summary("cuda:1")
        torch.cuda.reset_peak_memory_stats("cuda:1")
        torch.cuda.set_per_process_memory_fraction(0.5, "cuda:1")
        with pytest.raises(torch.cuda.OutOfMemoryError):
            torch.empty(total, dtype=torch.uint8, device="cuda:1")
        del x


def test_random_numbers() -> None:
    with musa_compat.activated():
        torch.cuda.manual_seed(7)
        state = torch.cuda.get_rng_state("cuda")
        a = torch.rand(4, device="cuda")
        torch.cuda.set_rng_state(state, device="cuda:0")
        eq(a, torch.rand(4, device="cuda"))
        states = torch.cuda.random.get_rng_state_all()
        assert len(states) == len(torch.cuda.default_generators) == 2
        torch.cuda.set_rng_state_all(states)
        torch.manual_seed(3)
        assert torch.cuda.initial_seed() == 3
        with torch.random.fork_rng(devices=[0], device_type="cuda"):
            torch.rand(4, device="cuda")
        b = torch.rand(4, device="cuda")
        torch.cuda.manual_seed_all(3)
        eq(b, torch.rand(4, device="cuda"))


def test_streams_and_events() -> None:
    with musa_compat.activated():
        side = torch.cuda.Stream(device="cuda", priority=-1)
        assert isinstance(side, torch.cuda.Stream)
        assert isinstance(side, torch.Stream)
        assert side.cuda_stream == side.musa_stream
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(side):
            assert torch.cuda.current_stream() == side
            start.record()
            torch.cuda._sleep(1_000_000)
            end.record()
        assert not end.query()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.current_stream().wait_event(end)
        end.synchronize()
        assert start.elapsed_time(end) > 0
        assert start.cuda_event == start.musa_event != 0
        assert torch.cuda.default_stream("cuda:1").device.index == 1
        assert torch.cuda.ExternalStream(side.cuda_stream, device="cuda").cuda_stream == side.cuda_stream
        assert torch.cuda.get_stream_from_external(side.cuda_stream, "cuda").cuda_stream == side.cuda_stream
        assert torch.cuda.streams.Stream is torch.cuda.Stream is torch.musa.Stream
        assert torch._C._cuda_getCurrentRawStream(0) == torch.cuda.current_stream().cuda_stream

        class Mine(torch.cuda.Stream):
            pass

        assert Mine(device="cuda:1").device.index == 1
    assert not hasattr(torch.musa.Stream, "cuda_stream")


def test_graphs() -> None:
    with musa_compat.activated():
        x = torch.ones(4, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(cuda_graph=graph, pool=torch.cuda.graph_pool_handle(), capture_error_mode="thread_local"):
            y = x * 2
            assert torch.cuda.is_current_stream_capturing()
        x.fill_(5)
        graph.replay()
        eq(y, torch.full((4,), 10.0))
        again = torch.cuda.graphs.CUDAGraph()
        with torch.cuda.graph(again, stream=torch.cuda.Stream()):
            x.add_(1)
        again.replay()


def test_runtime_nvtx_and_profiler_calls() -> None:
    with musa_compat.activated():
        runtime = torch.cuda.cudart()
        assert runtime.cudaMemGetInfo(0) == torch.musa.mem_get_info(0)
        assert runtime.cudaGetErrorString(0) == "no error"
        assert int(runtime.cudaHostRegister(0, 0, 0)) == 0
        with pytest.raises(AttributeError, match="musart"):
            runtime.cudaNoSuchThing
        torch.cuda.check_error(0)
        with pytest.raises(torch.cuda.CudaError):
            torch.cuda.check_error(2)
        assert torch.cuda.nvtx.range_push("a") == 0
        assert torch.cuda.nvtx.range_push("b") == 1
        assert torch.cuda.nvtx.range_pop() == 1
        torch.cuda.nvtx.mark("here")
        with torch.cuda.nvtx.range("c"), torch.cuda.profiler.profile():
            torch.cuda.nvtx.range_end(torch.cuda.nvtx.range_start("d"))


IMPORTS = [
    ("torch.cuda", "synchronize", "synchronize"),
    ("torch.cuda", "Stream", "Stream"),
    ("torch.cuda.memory", "memory_allocated", "memory_allocated"),
    ("torch.cuda.random", "manual_seed", "manual_seed"),
    ("torch.cuda.streams", "Event", "Event"),
    ("torch.cuda.graphs", "graph", "graph"),
    ("torch.cuda.graphs", "CUDAGraph", "MUSAGraph"),
]


def test_imports_give_what_torch_musa_has() -> None:
    with musa_compat.activated():
        for module, name, known in IMPORTS:
            value = getattr(importlib.import_module(module), name)
            assert getattr(value, "__wrapped__", value) is getattr(torch.musa, known)


def test_names_that_are_set_are_seen_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    from unittest import mock

    with musa_compat.activated():
        ours, theirs = torch.cuda.get_device_capability, torch.musa.get_device_capability
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: (9, 0))
        assert torch.musa.get_device_capability() == (9, 0)
        monkeypatch.undo()
        assert (torch.cuda.get_device_capability, torch.musa.get_device_capability) == (ours, theirs)
        with mock.patch.object(torch.musa, "get_device_capability", return_value=(8, 0)):
            assert torch.cuda.get_device_capability() == (8, 0)
        assert (torch.cuda.get_device_capability, torch.musa.get_device_capability) == (ours, theirs)
        torch.cuda.of_a_program = 3
        assert torch.musa.of_a_program == 3
        del torch.musa.of_a_program
        assert not hasattr(torch.cuda, "of_a_program")
        with mock.patch.object(torch.cuda, "is_available", return_value=False):
            assert torch.musa.is_available()
    assert torch.musa.get_device_capability is theirs


def test_a_name_set_meanwhile_stays_where_it_was_set() -> None:
    with musa_compat.activated():
        torch.cuda.of_a_program = 3
    assert torch.cuda.of_a_program == 3


def test_copies_between_devices() -> None:
    import torch.cuda.comm as comm

    x = torch.arange(8.0).view(4, 2)
    with musa_compat.activated():
        first, second = comm.broadcast(x.cuda(), ["cuda:0", 1])
        ismusa(first, 0)
        ismusa(second, 1)
        eq(second, x)
        parts = comm.scatter(x.cuda(), [0, 1], chunk_sizes=[1, 3])
        eq(parts[1], x[1:])
        eq(comm.gather(parts, dim=0, destination="cuda:1"), x)
        assert comm.gather(parts, destination=torch.device("cpu")).device.type == "cpu"
        eq(comm.reduce_add([first, second]), x * 2)
        eq(comm.reduce_add_coalesced([[first], [second]])[0], x * 2)
        eq(comm.broadcast_coalesced([first], [0, 1])[1][0], x)
        out = [torch.zeros(4, 2, device=f"cuda:{i}") for i in range(2)]
        comm.broadcast(x.cuda(), out=out)
        eq(out[1], x)
        comm.scatter(x.cuda(), out=[out[0][:2], out[1][:2]])
        eq(out[1][:2], x[2:])
        eq(comm.gather([out[0][:2], out[1][:2]], out=torch.zeros(4, 2, device="cuda")), x)


def test_data_parallel() -> None:
    net = torch.nn.Linear(2, 3)
    x = torch.arange(8.0).view(4, 2)
    expected = net(x)
    with musa_compat.activated():
        result = torch.nn.DataParallel(net.cuda(), device_ids=[0, 1])(x.cuda())
        ismusa(result, 0)
        eq(result, expected)


def test_backends() -> None:
    built = torch.backends.cuda.is_built()
    with musa_compat.activated():
        assert torch.backends.cuda.is_built()
        torch.backends.cuda.matmul.allow_tf32 = False
        assert not torch.backends.cuda.matmul.allow_tf32
        torch.backends.cudnn.benchmark = True
        q = torch.randn(1, 1, 4, 8, device="cuda")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            context: Any = torch.backends.cuda.sdp_kernel(enable_flash=True, enable_math=False)
        with context:
            result = torch.nn.functional.scaled_dot_product_attention(q, q, q)
        eq(result, torch.nn.functional.scaled_dot_product_attention(q.cpu(), q.cpu(), q.cpu()))
    assert torch.backends.cuda.is_built() == built


def test_capability_of_an_nvidia_card() -> None:
    import subprocess
    import sys

    code = (
        "import musa_compat; from musa_compat import sim; sim.enable(cuda_capability='9.0')\n"
        "import torch; musa_compat.activate(); print(torch.cuda.get_device_capability())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "(9, 0)"
