"""Training, measuring and the process group."""

import socket

import pytest
import torch

from fastops.devices import describe, synchronize
from fastops.distributed import average, process_group
from fastops.profiling import kernel_table, milliseconds
from fastops.train import FeedForward, train


def test_training_learns(device: torch.device) -> None:
    losses = train(FeedForward(32, 64).to(device), device, steps=60)
    assert losses[-1] < losses[0] / 2


def test_measuring(device: torch.device) -> None:
    x = torch.randn(64, 64, device=device)
    assert milliseconds(lambda: x @ x, device) > 0
    assert "aten::mm" in kernel_table(lambda: x @ x, device)
    synchronize(device)
    assert describe(device)


def test_process_group_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "RANK": 0, "WORLD_SIZE": 1}.items():
        monkeypatch.setenv(name, str(value))
    with process_group() as device:
        assert average(torch.tensor([1.0, 3.0], device=device)).tolist() == [1.0, 3.0]
