"""What the tests of the simulated device share."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

D = "musa"


def ok(condition: Any, message: str = "") -> None:
    """Fail with the message unless the condition holds."""
    assert condition, message


def eq(a: Any, b: Any, **tolerance: float) -> None:
    """Compare two tensors, wherever they are."""
    torch.testing.assert_close(a.detach().cpu(), b.detach().cpu(), **tolerance)


def ismusa(t: Any, index: int = 0) -> None:
    """Fail unless a tensor is on `musa:<index>`."""
    assert (t.device.type, t.device.index) == ("musa", index)
