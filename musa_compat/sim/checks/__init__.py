"""Strict mode: what runs on the simulated device and would be wrong, slow or missing on a card.

streams    a tensor used on two streams, or by the host, with nothing that orders the two
syncs      the host waits for the device where the program does not say so
    operators  an operator that torch_musa does not have
    cuda       a CUDA call that reached no MUSA counterpart
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import torch

from musa_compat.sim.checks import cuda, host, operators, places, texts
from musa_compat.sim.checks import findings as _findings
from musa_compat.sim.checks.cuda import cuda_call
from musa_compat.sim.checks.findings import Finding, Mode, StrictError, StrictWarning, findings
from musa_compat.sim.native import native

__all__ = ["CHECKS", "VARIABLE", "Finding", "StrictError", "StrictWarning", "allow", "cuda_call", "findings", "strict"]

CHECKS = ("streams", "syncs", "operators", "cuda")
VARIABLE = "MUSA_COMPAT_SIM_STRICT"


class strict:
    """Switch strict mode, at once and for all threads; in a `with` statement it is undone at the end.

    mode: `raise` a StrictError, `warn` with StrictWarning, or `off`. checks: some of CHECKS, all by default.
    Raises ValueError for another mode or check, NotEnabledError before `enable`.
    """

    def __init__(
        self, mode: Literal["raise", "warn", "off"] = "raise", checks: str | Collection[str] | None = None
    ) -> None:
        wanted = parse_checks(checks)
        if mode not in ("raise", "warn", "off"):
            raise ValueError(f"mode: expected 'raise', 'warn' or 'off'; got {mode!r}")
        native()
        self._before = _findings.mode
        _switch(None if mode == "off" else Mode(mode == "raise", wanted))

    def __enter__(self) -> strict:
        return self

    def __exit__(self, *exception: object) -> None:
        _switch(self._before)


@contextmanager
def allow(*checks: str) -> Iterator[None]:
    """Report nothing of these checks (all of them if none is named) in this thread: the code means what it does.

    Also a decorator. What it does is still seen: a wait in it is a wait. Raises ValueError for an unknown check.
    """
    _findings.push_allowed(parse_checks(checks or None))
    try:
        yield
    finally:
        _findings.pop_allowed()


def parse_checks(checks: str | Collection[str] | None) -> frozenset[str]:
    """Names of checks; None means all. Raises ValueError."""
    chosen = CHECKS if checks is None else (checks,) if isinstance(checks, str) else checks
    unknown = sorted(set(chosen) - set(CHECKS))
    if unknown:
        raise ValueError(f"checks: expected some of {', '.join(CHECKS)}; got {', '.join(map(repr, unknown))}")
    return frozenset(chosen)


def from_text(text: str) -> strict:
    """Switch by a value of VARIABLE: `warn`, `raise`, or with checks `raise:streams,syncs`. Raises ValueError."""
    mode, _, checks = text.partition(":")
    try:
        return strict(mode, [check.strip() for check in checks.split(",")] if checks else None)  # type: ignore[arg-type]
    except ValueError as error:
        raise ValueError(f"{VARIABLE}={text}: {error}") from error


#: Kept alive: the library calls it.
_here = ctypes.CFUNCTYPE(ctypes.c_int)(places.here)


def _strict_report(check: str, facts: list[str], site: int, earlier: int) -> None:
    if check == "syncs" and places.waits_by_design():
        return
    _findings.report(texts.finding(check, facts, places.at(site), places.at(earlier)))


def _strict_lacks(name: str, in_place: bool, dtypes: list[str]) -> str:
    return operators.lacks(name, in_place, dtypes)


def _switch(mode: Mode | None) -> None:
    _findings.mode = mode
    checks = frozenset() if mode is None else mode.checks
    flags = [name in checks for name in ("streams", "syncs", "operators")]
    native().library.musa_sim_strict(*flags, ctypes.cast(_here, ctypes.c_void_p))
    host.watch("streams" in checks)
    cuda.watch("cuda" in checks)


_library: Any = torch.library.Library("musa_sim", "IMPL")
_library.impl("strict_lacks", _strict_lacks, "CompositeExplicitAutograd")
_library.impl("strict_report", _strict_report, "CompositeExplicitAutograd")
