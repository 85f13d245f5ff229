from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import D, ok


def test_graph_capture_replay() -> None:
    g = torch.musa.MUSAGraph()
    x = torch.ones(3, device=D)
    with torch.musa.graph(g):
        y = x * 2
        z = y.sum()
    x.fill_(5)
    g.replay()
    ok(y.tolist() == [10, 10, 10] and z.item() == 30, f"{y} {z}")
