from __future__ import annotations

import tempfile
import traceback

import pytest

torch = pytest.importorskip("torch")
from torch import nn

from .helpers import eq, ok


def _pg(rank, world, init, q, body):
    try:
        import torch.distributed as dist

        # PyTorch makes its thread pool anew after a fork; the engine's threads must not do that at once.
        torch.set_num_threads(1)
        torch.musa.set_device(rank)
        dist.init_process_group("mccl", init_method=f"file://{init}", rank=rank, world_size=world)
        body(rank, world, dist)
        dist.barrier()
        q.put((rank, None))
        dist.destroy_process_group()
    except BaseException as e:
        q.put((rank, "".join(traceback.format_exception_only(type(e), e))[-400:]))


def run_dist(body, world=2):
    import multiprocessing as mp

    ctx = mp.get_context("fork")
    q = ctx.Queue()
    f = tempfile.mktemp()
    ps = [ctx.Process(target=_pg, args=(r, world, f, q, body)) for r in range(world)]
    [p.start() for p in ps]
    errs = [q.get(timeout=60) for _ in ps]
    [p.join(20) for p in ps]
    errs = [e for e in errs if e[1]]
    ok(not errs, str(errs))


def test_mccl_available() -> None:
    import torch.distributed as dist

    ok(dist.is_backend_available("mccl"))
    ok(dist.get_default_backend_for_device("musa") == "mccl")


def test_all_reduce() -> None:

    def b(r, w, d):
        t = torch.full((3,), r + 1.0, device=f"musa:{r}")
        d.all_reduce(t)
        eq(t, torch.full((3,), 3.0))
        ok(d.get_backend() == "mccl", d.get_backend())

    run_dist(b)


def test_collectives() -> None:

    def b(r, w, d):
        dv = f"musa:{r}"
        t = torch.full((2,), float(r), device=dv)
        o = [torch.empty(2, device=dv) for _ in range(w)]
        d.all_gather(o, t)
        eq(torch.stack(o), torch.tensor([[0.0, 0], [1, 1]]))
        o = torch.empty(4, device=dv)
        d.all_gather_into_tensor(o, t)
        eq(o, torch.tensor([0.0, 0, 1, 1]))
        o = torch.empty(1, device=dv)
        d.reduce_scatter_tensor(o, torch.ones(2, device=dv))
        eq(o, torch.tensor([2.0]))
        d.broadcast(t, 1)
        eq(t, torch.ones(2))
        d.barrier()
        o = torch.empty(2, device=dv)
        d.all_to_all_single(o, torch.full((2,), float(r), device=dv))
        eq(o, torch.tensor([0.0, 1.0]))

    run_dist(b)


def test_p2p() -> None:

    def b(r, w, d):
        t = torch.full((2,), float(r), device=f"musa:{r}")
        if r == 0:
            d.send(t, 1)
        else:
            d.recv(t, 0)
            eq(t, torch.zeros(2))
        ops = [d.P2POp(d.isend, torch.full((2,), float(r), device=f"musa:{r}"), 1 - r), d.P2POp(d.irecv, t, 1 - r)]
        [q.wait() for q in d.batch_isend_irecv(ops)]
        eq(t, torch.full((2,), float(1 - r)))

    run_dist(b)


def test_object_collectives() -> None:

    def b(r, w, d):
        o = [None] * w
        d.all_gather_object(o, {"r": r})
        ok(o == [{"r": 0}, {"r": 1}])

    run_dist(b)


def test_ddp() -> None:

    def b(r, w, d):
        from torch.nn.parallel import DistributedDataParallel as DDP

        torch.manual_seed(0)
        m = DDP(nn.Linear(4, 4).to(f"musa:{r}"), device_ids=[r])
        m(torch.full((2, 4), r + 1.0, device=f"musa:{r}")).sum().backward()
        eq(m.module.weight.grad, torch.full((4, 4), 3.0))

    run_dist(b)


def test_device_mesh() -> None:

    def b(r, w, d):
        from torch.distributed.device_mesh import init_device_mesh

        m = init_device_mesh("musa", (2,))
        ok(m.get_local_rank() == r)

    run_dist(b)


def test_fsdp2() -> None:

    def b(r, w, d):
        from torch.distributed.fsdp import fully_shard

        m = nn.Linear(4, 4).to(f"musa:{r}")
        fully_shard(m)
        m(torch.ones(2, 4, device=f"musa:{r}")).sum().backward()

    run_dist(b)


def test_dtensor() -> None:

    def b(r, w, d):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor import Replicate, Shard, distribute_tensor

        m = init_device_mesh("musa", (2,))
        t = distribute_tensor(torch.arange(8.0).reshape(4, 2).to(f"musa:{r}"), m, [Shard(0)])
        eq(t.redistribute(m, [Replicate()]).to_local(), torch.arange(8.0).reshape(4, 2))

    run_dist(b)
