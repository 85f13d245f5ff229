from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import D, ok


class DS(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return (torch.full((2,), float(i)), i)


def test_dataloader_pin() -> None:
    for a, _b in torch.utils.data.DataLoader(DS(), 4, pin_memory=True):
        ok(a.is_pinned())
        a.to(D, non_blocking=True)


def test_dataloader_workers() -> None:
    n = 0
    for a, _b in torch.utils.data.DataLoader(DS(), 4, num_workers=2):
        n += len(a.to(D))
    ok(n == 8)


def test_dataloader_workers_pin() -> None:
    for a, _b in torch.utils.data.DataLoader(DS(), 4, num_workers=1, pin_memory=True):
        ok(a.is_pinned())


def test_dataloader_pin_device() -> None:
    import warnings

    warnings.simplefilter("ignore")
    for a, _b in torch.utils.data.DataLoader(DS(), 4, pin_memory=True, pin_memory_device="musa"):
        ok(a.is_pinned())
