"""Operations that PyTorch uses on accelerators only and that have no CPU kernel: LSTM and GRU cells, `mm.dtype`."""

from __future__ import annotations

from typing import Any

import torch

_library: list[Any] = []


def register() -> None:
    """Register them for the device."""
    library = torch.library.Library("aten", "IMPL")
    _library.append(library)
    for name, function in {
        "_thnn_fused_lstm_cell": _lstm,
        "_thnn_fused_lstm_cell_backward_impl": _lstm_backward,
        "_thnn_fused_gru_cell": _gru,
        "_thnn_fused_gru_cell_backward": _gru_backward,
        "mm.dtype": _mm,
        "bmm.dtype": _mm,
    }.items():
        try:
            library.impl(name, function, "PrivateUse1")
        except RuntimeError:  # this torch has no such overload
            continue


def _lstm(ig: Any, hg: Any, cx: Any, b1: Any = None, b2: Any = None) -> Any:
    gates = ig + hg if b1 is None else ig + hg + b1 + b2
    i, f, c, o = gates.chunk(4, 1)
    i, f, c, o = i.sigmoid(), f.sigmoid(), c.tanh(), o.sigmoid()
    cy = f * cx + i * c
    return o * cy.tanh(), cy, torch.cat([i, f, c, o], 1)


def _lstm_backward(gh: Any, gc: Any, cx: Any, cy: Any, workspace: Any, has_bias: bool) -> Any:
    if gh is None and gc is None:
        return None, None, None
    i, f, c, o = workspace.chunk(4, 1)
    t = cy.tanh()
    gh = torch.zeros_like(cy) if gh is None else gh
    dc = gh * o * (1 - t * t) + (0 if gc is None else gc)
    gates = [dc * c * i * (1 - i), dc * cx * f * (1 - f), dc * i * (1 - c * c), gh * t * o * (1 - o)]
    g = torch.cat(gates, 1)
    return g, dc * f, g.sum(0) if has_bias else None


def _gru(ig: Any, hg: Any, hx: Any, b1: Any = None, b2: Any = None) -> Any:
    if b1 is not None:
        ig, hg = ig + b1, hg + b2
    ir, iz, inew = ig.chunk(3, 1)
    hr, hz, hn = hg.chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    n = (inew + r * hn).tanh()
    return n + z * (hx - n), torch.cat([r, z, n, hx, hn], 1)


def _gru_backward(gh: Any, workspace: Any, has_bias: bool) -> Any:
    r, z, n, hx, hn = workspace.chunk(5, 1)
    dn = gh * (1 - z) * (1 - n * n)
    dz = gh * (hx - n) * z * (1 - z)
    dr = dn * hn * r * (1 - r)
    gi, ghid = torch.cat([dr, dz, dn], 1), torch.cat([dr, dz, dn * r], 1)
    return gi, ghid, gh * z, gi.sum(0) if has_bias else None, ghid.sum(0) if has_bias else None


def _mm(a: Any, b: Any, out_dtype: Any) -> Any:
    torch.ops.musa_sim.strict_uses("aten::mm.dtype" if a.dim() == 2 else "aten::bmm.dtype", a)
    low = a.dtype in (torch.float16, torch.bfloat16)
    if not (out_dtype == a.dtype or (out_dtype == torch.float32 and low)):
        raise RuntimeError("out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs")
    return a.to(out_dtype) @ b.to(out_dtype)
