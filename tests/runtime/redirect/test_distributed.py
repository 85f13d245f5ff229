from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
import torch.distributed as dist

import musa_compat

from ..sim.helpers import eq, ismusa


def init(path: Path, backend: Any = "nccl", **options: Any) -> None:
    dist.init_process_group(backend, init_method=f"file://{path}/store", rank=0, world_size=1, **options)


BACKENDS = ["nccl", "NCCL", "cpu:gloo,cuda:nccl", "cuda:nccl"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_backends(backend: str, tmp_path: Path) -> None:
    with musa_compat.activated():
        assert dist.is_nccl_available()
        init(tmp_path, backend)
        assert dist.get_backend() == backend.lower()
        x = torch.ones(2, device="cuda")
        dist.all_reduce(x)
        eq(x, torch.ones(2))
        if "gloo" in backend:
            dist.all_reduce(torch.ones(2))
        group = dist.new_group([0], backend=dist.Backend.NCCL)
        assert dist.get_backend(group) == "nccl"
        dist.broadcast(x, 0, group=group)
        dist.destroy_process_group()
    assert not dist.is_nccl_available()


@pytest.mark.parametrize("backend", ["nccl", None])
def test_device_id(backend: Any, tmp_path: Path) -> None:
    device = torch.device("cuda", 1)
    with musa_compat.activated():
        init(tmp_path, backend, device_id=device)
        assert dist.get_backend() == "nccl"
        dist.barrier(device_ids=[1])
        objects = [None]
        dist.all_gather_object(objects, {"a": 1})
        assert objects == [{"a": 1}]
        dist.destroy_process_group()


def test_gloo_is_left_alone(tmp_path: Path) -> None:
    with musa_compat.activated():
        init(tmp_path, "gloo")
        assert dist.get_backend() == "gloo"
        dist.destroy_process_group()


def test_device_mesh(tmp_path: Path) -> None:
    from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    with musa_compat.activated():
        init(tmp_path)
        for mesh in (init_device_mesh("cuda", (1,)), dist.init_device_mesh("cuda", (1, 1)), DeviceMesh("cuda", [0])):
            assert mesh.device_type == "musa"
        sharded = distribute_tensor(torch.eye(4), init_device_mesh("cuda", (1,), mesh_dim_names=("tp",)), [Shard(0)])
        ismusa(sharded.to_local())
        eq((sharded @ sharded).full_tensor(), torch.eye(4))
        dist.destroy_process_group()


TWO = """
import os, sys, musa_compat
from musa_compat import sim
sim.enable(devices=2)
musa_compat.activate()
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
rank = int(sys.argv[1])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
assert dist.get_backend() == "nccl"
torch.manual_seed(0)
net = DDP(torch.nn.Linear(4, 1).cuda(rank), device_ids=[rank], output_device=rank)
data = torch.linspace(-1, 1, 32).view(8, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(data[rank::2].to(torch.device("cuda", rank))).square().mean().backward()
    optimizer.step()
assert net.module.weight.device == torch.device("cuda", rank)
gathered = [torch.empty(1, 4, device="cuda") for _ in range(2)]
dist.all_gather(gathered, net.module.weight.detach())
assert torch.equal(*gathered)
print(net.module.weight.tolist())
dist.destroy_process_group()
"""


def test_two_processes_train_as_one_on_the_cpu(tmp_path: Path) -> None:
    commands = [[sys.executable, "-W", "ignore", "-c", TWO, str(rank), str(tmp_path / "store")] for rank in range(2)]
    processes = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for c in commands]
    outputs = [process.communicate(timeout=100) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    data = torch.linspace(-1, 1, 32).view(8, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(data).square().mean().backward()
        optimizer.step()
    for text, _ in outputs:
        eq(torch.tensor(eval(text.strip().splitlines()[-1])), net.weight)
