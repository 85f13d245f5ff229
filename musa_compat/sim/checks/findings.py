"""What strict mode found, and what becomes of it: a warning, an error, an entry in a list."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from musa_compat.sim.checks import places
from musa_compat.sim.checks.places import NOWHERE, Place


class StrictWarning(UserWarning):
    """A finding of strict mode that warns."""


@dataclass
class Finding:
    """One finding. `place` is the user's line; `earlier` that of the access that nothing orders (check `streams`)."""

    check: str
    message: str
    advice: str
    place: Place
    earlier: Place = NOWHERE
    operator: str = ""
    stream: str = ""
    earlier_stream: str = ""
    #: How often it was seen.
    count: int = field(default=1, compare=False)

    @property
    def text(self) -> str:
        """All but the place."""
        return f"{self.message}; {self.advice} [{self.check}]"

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


class StrictError(RuntimeError):
    """A finding of strict mode that raises; `finding` has its parts."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding

    def __reduce__(self) -> Any:
        return StrictError, (self.finding,)


@dataclass(frozen=True)
class Mode:
    """What is on. `raises` is false if findings warn."""

    raises: bool
    checks: frozenset[str]
    told: set[object] = field(default_factory=set, compare=False)


_lock = threading.Lock()
_found: dict[object, Finding] = {}
_allowed: dict[int, list[frozenset[str]]] = {}
mode: Mode | None = None


def report(finding: Finding) -> None:
    """Collect a finding, then warn or raise. Nothing happens if its check is off or allowed in this thread."""
    active = mode
    if active is None or finding.check not in active.checks or _is_allowed(finding.check):
        return
    key = (finding.check, finding.message, finding.place, finding.earlier)
    with _lock:
        known = _found.setdefault(key, finding)
        if known is not finding:
            known.count += 1
        is_new = key not in active.told
        active.told.add(key)
    if active.raises:
        raise StrictError(finding)
    if is_new:
        warnings.warn_explicit(finding.text, StrictWarning, finding.place.file, finding.place.line)


def findings(clear: bool = False) -> list[Finding]:
    """What was found so far, each place once, in the order of discovery. clear: forget it."""
    with _lock:
        found = list(_found.values())
        if clear:
            _found.clear()
    return found


def push_allowed(checks: Collection[str]) -> None:
    """Report none of these checks in this thread, until `pop_allowed`."""
    with _lock:
        _allowed.setdefault(threading.get_ident(), []).append(frozenset(checks))


def pop_allowed() -> None:
    """Undo the last `push_allowed` of this thread."""
    thread = threading.get_ident()
    with _lock:
        _allowed[thread].pop()
        if not _allowed[thread]:
            del _allowed[thread]


def _is_allowed(check: str) -> bool:
    if not _allowed:
        return False
    with _lock:
        return any(check in checks for checks in _allowed.get(places.thread(), ()))
