"""`torch.cuda.FloatTensor` and the like."""

from __future__ import annotations

from collections.abc import Iterator

from musa_compat.redirect.registry import Patch, always, source
from musa_compat.redirect.typed import TYPES


@source
def _types() -> Iterator[Patch]:
    for name, made in TYPES.items():
        yield Patch("cuda", f"torch.cuda:{name}", "makes MUSA tensors", always(made), create=True)
