"""Device arguments: the mode, in this thread and in new ones."""

from __future__ import annotations

import functools
from typing import Any

from musa_compat.redirect import mode
from musa_compat.redirect.registry import patch, switch

switch(
    "device",
    "TorchFunctionMode of this thread",
    'device="cuda" in whatever PyTorch lets a mode see; names bound before are seen too',
    mode.turn_on,
    mode.turn_off,
)


def _with_mode(original: Any) -> Any:
    @functools.wraps(original)
    def run(self: Any, *args: Any) -> Any:
        if not mode.MODE.on or not mode.enter():
            return original(self, *args)
        try:
            return original(self, *args)
        finally:
            mode.leave()

    return run


patch("device", "threading:Thread._bootstrap_inner", reason="a new thread has no modes; it gets this one")(_with_mode)
patch(
    "device",
    "concurrent.futures.thread:_WorkItem.run",
    reason="a thread of a pool may be older than the activation",
)(_with_mode)


@patch("device", "torch.utils._device:DeviceContext.__init__", reason="with torch.device(...), set_default_device(...)")
def _context(original: Any) -> Any:
    from musa_compat.redirect.devices import to_musa

    @functools.wraps(original)
    def __init__(self: Any, device: Any) -> None:
        original(self, to_musa(device))

    return __init__
