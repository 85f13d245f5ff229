"""The translation of one device: `'cuda:1'` becomes `'musa:1'`."""

from __future__ import annotations

from typing import Any

import torch

#: The class of devices; the name `torch.device` may be another adapter's.
Device: Any = type(torch.empty(0).device)


class _Switch:
    """Whether translations happen. A replacement that outlives its activation then does nothing."""

    on = False


switch = _Switch()


def to_musa(value: Any) -> Any:
    """A device that says cuda, as text or `torch.device`, becomes the MUSA device of that index; else unchanged."""
    kind = value.__class__
    if kind is str:
        if value.startswith("cuda") and switch.on and (len(value) == 4 or value[4] == ":"):
            return "musa" + value[4:]
    elif kind is Device and value.type == "cuda" and switch.on:
        return Device("musa") if value.index is None else Device("musa", value.index)
    return value


def to_cuda(text: str) -> str:
    """The reverse, for code that reads names: `'musa:1'` becomes `'cuda:1'`."""
    if switch.on and (text == "musa" or text.startswith("musa:")):
        return "cuda" + text[4:]
    return text


def is_musa(tensor: Any) -> bool:
    """Whether a tensor or storage is on a MUSA device."""
    return bool(tensor.device.type == "musa")
