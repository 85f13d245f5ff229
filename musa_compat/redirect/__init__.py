"""CUDA spellings become MUSA's at run time: `x.cuda()`, `device="cuda"`, `torch.cuda.*`, `torch.autocast("cuda")`.

Nothing happens at import. `activate()` applies small patches that `status()` lists and `deactivate()` takes back.
Works with torch_musa, and with the simulated device (`musa_compat.sim.enable()`).
"""

from __future__ import annotations

from musa_compat.redirect.activation import activate, activated, deactivate, is_active
from musa_compat.redirect.options import GROUPS
from musa_compat.redirect.presence import NoDeviceError
from musa_compat.redirect.report import Row, Status, status

__all__ = ["GROUPS", "NoDeviceError", "Row", "Status", "activate", "activated", "deactivate", "is_active", "status"]
