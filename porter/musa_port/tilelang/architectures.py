"""Which MUSA architecture an NVIDIA architecture stands for, among those that the port is for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from musa_port.flags import architecture

_SM = re.compile(r"sm_(\d+)[af]?")
#: From this architecture on, mp_31 is the counterpart whatever the table of C++ sources leaves open.
_NEWEST = 90


class Chosen(NamedTuple):
    """The architecture to write, and what was assumed for it, "" when nothing was."""

    arch: str
    note: str


def choose(sm: str, archs: Sequence[str]) -> Chosen:
    """The architecture for `sm_90a`."""
    match = _SM.fullmatch(sm)
    number = int(match.group(1)) if match else 0
    known = "31" if number >= _NEWEST else architecture(str(number)) if number else None
    wanted = f"mp_{known}" if known else ""
    if wanted in archs:
        others = [arch for arch in archs if arch != wanted]
        unsure = number < _NEWEST and len(others) > 0
        return Chosen(wanted, f"kernels for {', '.join(others)} need a target of their own" if unsure else "")
    arch = archs[0] if archs else "mp_31"
    return Chosen(arch, f"{wanted or 'its counterpart'} is not among --arch")
