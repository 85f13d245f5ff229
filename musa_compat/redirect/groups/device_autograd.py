"""Python that runs in a backward pass: functions, hooks, recomputed checkpoints."""

from __future__ import annotations

from functools import wraps
from typing import Any

from musa_compat.redirect import mode
from musa_compat.redirect.registry import patch


@patch(
    "device",
    "torch.autograd.graph:_engine_run_backward",
    "torch.autograd:_engine_run_backward",
    reason="PyTorch takes the mode off while it runs backward(); the engine's threads get what is on then",
)
def _engine(original: Any) -> Any:
    @wraps(original)
    def _engine_run_backward(*args: Any, **kwargs: Any) -> Any:
        if not mode.MODE.on or not mode.enter():
            return original(*args, **kwargs)
        try:
            return original(*args, **kwargs)
        finally:
            mode.leave()

    return _engine_run_backward
