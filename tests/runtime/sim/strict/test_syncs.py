"""Hidden waits of the host are found, and others are none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from musa_compat import sim

D = "musa"

HIDDEN: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x[0, 0].item(),
    "bool": lambda x: bool(x.sum() > 0),
    "int": lambda x: int(x.sum()),
    "float": lambda x: float(x.sum()),
    "branch": lambda x: 1 if x.any() else 0,
    "tolist": lambda x: x.tolist(),
    "print": lambda x: str(x),
    "format": lambda x: f"{x.sum():.1f}",
    "cpu": lambda x: x.cpu(),
    "to cpu": lambda x: x.to("cpu"),
    "copy_ to the host": lambda x: torch.empty(4, 4).copy_(x),
    "blocking copy to pinned": lambda x: torch.empty(4, 4, pin_memory=True).copy_(x),
    "pageable": lambda x: torch.ones(3).to(D, non_blocking=True),
    "blocking from pinned": lambda x: torch.ones(3).pin_memory().to(D),
    "tensor of a list": lambda x: torch.tensor([1.0, 2.0], device=D),
    "nonzero": lambda x: x.nonzero(),
    "where": lambda x: torch.where(x > 0),
    "masked_select": lambda x: x.masked_select(x > 0),
    "masked indexing": lambda x: x[x > 0],
    "masked assignment of a tensor": lambda x: x.__setitem__(x > 0, torch.zeros(16, device=D)),
    "unique": lambda x: x.unique(),
    "unique_consecutive": lambda x: torch.unique_consecutive(x),
    "bincount": lambda x: torch.bincount(x.flatten().long()),
    "repeat_interleave": lambda x: x.repeat_interleave(torch.ones(4, dtype=torch.long, device=D), 0),
    "equal": lambda x: torch.equal(x, x),
    "allclose": lambda x: torch.allclose(x, x),
    "one_hot": lambda x: torch.nn.functional.one_hot(x.long()),
    "inverse": lambda x: torch.linalg.inv(torch.eye(3, device=D)),
    "index of a loop": lambda x: list(range(x[0, 0].long())),
}

NONE: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: (x @ x + 1).sum(),
    "indexing by integers": lambda x: x[torch.arange(2, device=D)],
    "indexing by slices": lambda x: x[1:, ::2],
    "assignment": lambda x: x.__setitem__(0, 1.0),
    "where of three": lambda x: torch.where(x > 0, x, 0.0),
    "masked_fill": lambda x: x.masked_fill(x > 0, 0.0),
    "pinned without blocking": lambda x: torch.ones(3).pin_memory().to(D, non_blocking=True),
    "to the host without blocking": lambda x: x.to("cpu", non_blocking=True),
    "explicit": lambda x: (torch.musa.synchronize(), torch.musa.current_stream().synchronize()),
    "event": lambda x: torch.musa.current_stream().record_event().synchronize(),
    "random": lambda x: torch.nn.functional.dropout(torch.randn(3, device=D)),
    "shape": lambda x: (x.shape, len(x), x.is_contiguous()),
    "repeat_interleave by a number": lambda x: x.repeat_interleave(2, 0),
    "of the CPU": lambda x: (torch.ones(3).sum().item(), torch.ones(3)[torch.ones(3) > 0].tolist()),
    "another device": lambda x: x.to("musa:1"),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_found(name: str) -> None:
    x = torch.ones(4, 4, device=D)
    with sim.strict("raise", "syncs"), pytest.raises(sim.StrictError) as caught:
        HIDDEN[name](x)
    finding = caught.value.finding
    assert (finding.check, finding.place.file) == ("syncs", __file__)
    assert finding.place.line == HIDDEN[name].__code__.co_firstlineno
    with sim.strict("raise", "streams"):
        HIDDEN[name](x)


@pytest.mark.parametrize("name", NONE)
def test_not_found(name: str) -> None:
    x = torch.ones(4, 4, device=D)
    with sim.strict("raise"):
        NONE[name](x)
    assert sim.findings() == []


def test_warning_changes_no_result() -> None:
    x = torch.arange(1.0, 17.0, device=D).reshape(4, 4)
    expected = {name: HIDDEN[name](x.clone()) for name in HIDDEN}
    with sim.strict("warn", "syncs"), warnings.catch_warnings():
        warnings.simplefilter("ignore", sim.StrictWarning)
        for name, value in expected.items():
            again = HIDDEN[name](x.clone())
            assert str(again) == str(value), name
    assert len(sim.findings()) > 20


def test_a_scaler_may_look_at_its_result() -> None:
    layer = torch.nn.Linear(2, 2).to(D)
    optimizer, scaler = torch.optim.SGD(layer.parameters(), 0.1), torch.amp.GradScaler(D)
    x = torch.ones(1, 2, device=D)
    with sim.strict("raise", "syncs"):
        scaler.scale(layer(x).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
