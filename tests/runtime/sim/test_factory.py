from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import eq, ismusa, ok


def test_empty() -> None:
    t = torch.empty(2, 3, device="musa")
    ismusa(t)
    ok(type(t) is torch.Tensor, f"type {type(t)}")


def test_empty_strided() -> None:
    t = torch.empty_strided((2, 3), (1, 2), device="musa:0")
    ok(t.stride() == (1, 2))


def test_zeros_ones_full() -> None:
    for f in (
        lambda d: torch.zeros(3, device=d),
        lambda d: torch.ones(3, device=d),
        lambda d: torch.full((3,), 2.0, device=d),
        lambda d: torch.arange(5, device=d),
        lambda d: torch.linspace(0, 1, 5, device=d),
        lambda d: torch.eye(3, device=d),
        lambda d: torch.tril_indices(3, 3, device=d),
    ):
        ismusa(f("musa"))
        eq(f("musa"), f("cpu"))


def test_tensor_from_list() -> None:
    t = torch.tensor([1, 2, 3], device="musa")
    ismusa(t)
    ok(t.tolist() == [1, 2, 3])


def test_randn() -> None:
    t = torch.randn(100, device="musa")
    ismusa(t)
    ok(t.std().item() > 0.5)


def test_rand_family() -> None:
    ismusa(torch.rand(3, device="musa"))
    ismusa(torch.randint(0, 9, (3,), device="musa"))
    ismusa(torch.randperm(5, device="musa"))
    ismusa(torch.bernoulli(torch.full((3,), 0.5, device="musa")))


def test_like() -> None:
    t = torch.empty(2, device="musa")
    ismusa(torch.zeros_like(t))
    ismusa(torch.randn_like(t))
    ismusa(t.new_empty(3))
    ismusa(t.new_tensor([1.0]))


def test_as_tensor_numpy() -> None:
    import numpy as np

    t = torch.as_tensor(np.arange(3.0), device="musa")
    ismusa(t)
    eq(t, torch.arange(3.0, dtype=torch.float64))
