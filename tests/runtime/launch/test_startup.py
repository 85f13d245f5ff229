"""What `import torch` does in a program that `musa-compat run` started."""

from __future__ import annotations

import pytest

from musa_compat.launch import startup


def test_an_unknown_adapter_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSA_COMPAT_ADAPTER", "zluda")
    with pytest.raises(ValueError, match="MUSA_COMPAT_ADAPTER=zluda: expected own, torchada, none"):
        startup.on_import_torch()
