from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F
from torch import nn

from .helpers import D, eq, ismusa


def test_train_step() -> None:
    torch.manual_seed(0)
    import copy

    a = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.LayerNorm(16), nn.Linear(16, 4))
    b = copy.deepcopy(a).to(D)
    x, y = (torch.randn(32, 8), torch.randint(0, 4, (32,)))
    for mod, d in ((a, "cpu"), (b, D)):
        o = torch.optim.AdamW(mod.parameters(), lr=0.01)
        for _ in range(3):
            o.zero_grad()
            F.cross_entropy(mod(x.to(d)), y.to(d)).backward()
            nn.utils.clip_grad_norm_(mod.parameters(), 1.0)
            o.step()
    for p, q in zip(a.parameters(), b.parameters(), strict=False):
        eq(q, p, rtol=0.0001, atol=1e-05)


def test_sgd_foreach_fused() -> None:
    l = nn.Linear(3, 3).to(D)
    l(torch.ones(1, 3, device=D)).sum().backward()
    torch.optim.SGD(l.parameters(), 0.1, foreach=True).step()


def test_transformer_encoder() -> None:
    m = nn.TransformerEncoderLayer(16, 2, batch_first=True).to(D).eval()
    ismusa(m(torch.randn(1, 4, 16, device=D)))


def test_lstm() -> None:
    torch.manual_seed(0)
    import copy

    a = nn.LSTM(4, 5)
    b = copy.deepcopy(a).to(D)
    x = torch.randn(3, 2, 4)
    eq(b(x.to(D))[0], a(x)[0])


def test_module_musa() -> None:
    ismusa(nn.Linear(2, 2).musa().weight)


def test_dropout_rng() -> None:
    torch.manual_seed(3)
    a = F.dropout(torch.ones(100, device=D))
    torch.manual_seed(3)
    b = F.dropout(torch.ones(100, device=D))
    eq(a, b)
