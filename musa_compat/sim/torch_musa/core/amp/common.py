"""What mixed precision supports."""

from __future__ import annotations

from typing import Any

import torch


def amp_definitely_not_available() -> bool:
    """False."""
    return False


def get_amp_supported_dtype() -> list[Any]:
    """float16 and bfloat16."""
    return [torch.float16, torch.bfloat16]
