from __future__ import annotations

import io
import pickle

import pytest

torch = pytest.importorskip("torch")
from torch import nn

from .helpers import D, eq, ismusa, ok


def test_save_load() -> None:
    m = torch.randn(3, 4, device="musa:0")
    b = io.BytesIO()
    torch.save({"a": m, "v": m[1]}, b)
    b.seek(0)
    r = torch.load(b)
    ismusa(r["a"])
    eq(r["a"], m)
    ok(r["v"].untyped_storage().data_ptr() == r["a"].untyped_storage().data_ptr(), "sharing lost")


def test_load_map_location() -> None:
    m = torch.randn(3, device=D)
    b = io.BytesIO()
    torch.save(m, b)
    b.seek(0)
    r = torch.load(b, map_location="cpu")
    ok(r.device.type == "cpu")
    eq(r, m)
    b = io.BytesIO()
    torch.save(torch.randn(3), b)
    b.seek(0)
    ismusa(torch.load(b, map_location="musa:0"))


def test_save_fp8() -> None:
    m = torch.randn(4, device=D).to(torch.float8_e4m3fn)
    b = io.BytesIO()
    torch.save(m, b)
    b.seek(0)
    eq(torch.load(b).float(), m.float())


def test_pickle_tensor() -> None:
    m = torch.randn(3, device=D)
    r = pickle.loads(pickle.dumps(m))
    ismusa(r)
    eq(r, m)


def test_state_dict() -> None:
    l = nn.Linear(2, 2).to(D)
    b = io.BytesIO()
    torch.save(l.state_dict(), b)
    b.seek(0)
    nn.Linear(2, 2).to(D).load_state_dict(torch.load(b, weights_only=True))
