"""Trains a small network on made-up data: python -m fastops.train --steps 50"""

from __future__ import annotations

import argparse
import os

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from fastops.devices import default_device, describe, seed
from fastops.distributed import average, process_group
from fastops.ops import rms_norm, silu_and_mul


class FeedForward(nn.Module):
    """A block of a transformer: `x + down(silu_and_mul(up(rms_norm(x))))`."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.up = nn.Linear(width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """`[..., width]` to `[..., width]`."""
        return x + self.down(silu_and_mul(self.up(rms_norm(x, self.weight))))


def train(model: nn.Module, device: torch.device, steps: int) -> list[float]:
    """The loss of each step."""
    on_gpu = device.type == "cuda"
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cuda", enabled=on_gpu)
    x = torch.randn(64, 32)
    if on_gpu:
        x = x.pin_memory().cuda(non_blocking=True)
    target = x.roll(1, dims=-1)
    losses = []
    for _ in range(steps):
        with torch.autocast(device.type, dtype=torch.float16 if on_gpu else torch.bfloat16):
            loss = nn.functional.mse_loss(model(x).float(), target)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


def main() -> None:
    """Read the arguments and train, with all processes of torchrun where it started this one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=default_device().type, choices=["cuda", "cpu"])
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    seed(0)
    if "WORLD_SIZE" not in os.environ:
        device = torch.device(arguments.device)
        losses = train(FeedForward(32, 64).to(device), device, arguments.steps)
        print(f"{describe(device)}: loss {losses[0]:.3f} -> {losses[-1]:.3f}")
        return
    with process_group() as device:
        losses = train(DistributedDataParallel(FeedForward(32, 64).to(device)), device, arguments.steps)
        print(f"{describe(device)}: loss {average(torch.tensor(losses[-1], device=device)).item():.3f}")


if __name__ == "__main__":
    main()
