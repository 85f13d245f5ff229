from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .helpers import D, ismusa, ok


def test_alias_to_cpu() -> None:
    from musa_compat import sim as S

    m = torch.zeros(3, 4, device=D)
    c = S.as_cpu(m)
    ok(c.device.type == "cpu" and c.data_ptr() == m.data_ptr())
    c += 1
    ok(m.sum().item() == 12)
    c2 = S.as_cpu(m.t())
    ok(c2.stride() == m.t().stride())


def test_alias_from_cpu() -> None:
    from musa_compat import sim as S

    c = torch.zeros(3)
    m = S.from_cpu(c, 1)
    ismusa(m, 1)
    m += 1
    ok(c.sum().item() == 3)
