"""Pins: a user's choice of provider, from the environment or for a block of code.

A pin is a pattern of operator names and the providers that may run them. Of the pins that match an operator the last
one counts; blocks count after the environment.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from typing import NamedTuple

#: `torch` for all operators, or `deep_gemm.*=tilelang|torch,flash_mla.*=mate`.
VARIABLE = "MUSA_COMPAT_PROVIDER"


class Pin(NamedTuple):
    """Operators by a shell-style pattern, the providers that may run them, in order, and who said so."""

    pattern: str
    providers: tuple[str, ...]
    origin: str


Pins = tuple[Pin, ...]

#: The pins of blocks that this thread, or this task, is in.
context: ContextVar[Pins] = ContextVar("musa_compat_pins", default=())

_lock = threading.Lock()
_everywhere: list[Pin] = []
_environment: Pins | None = None
# Told when pins change that are not part of a cache's key.
_listeners: list[Callable[[bool], None]] = []


def parse(text: str) -> Pins:
    """Read the value of the environment variable.

    Raises ValueError for what is neither `PROVIDER` nor `PATTERN=PROVIDER`.
    """
    return tuple(_parse_one(part.strip()) for part in text.split(",") if part.strip())


def _parse_one(part: str) -> Pin:
    pattern, separator, names = part.rpartition("=")
    pattern = pattern.strip() if separator else "*"
    providers = tuple(name.strip() for name in names.split("|"))
    if not pattern or not all(providers):
        raise ValueError(
            f"{VARIABLE}: {part!r} is not a pin; expected a provider (torch), or operators and providers "
            "(deep_gemm.*=tilelang|torch), separated by commas"
        )
    return Pin(pattern, providers, f"{VARIABLE}={part}")


@contextmanager
def pin(providers: str | Sequence[str], operators: str = "*", *, everywhere: bool = False) -> Iterator[None]:
    """Within the block, run operators by these providers and no others.

    `providers` is a name or several, in order of preference. `operators` is a name or a shell-style pattern, such as
    `deep_gemm.*`. The pin holds in this thread (or asyncio task); with `everywhere` it holds in all threads, as
    autograd needs, which runs backward functions of a card in threads of its own.

    If none of the providers can serve a call, the call raises NoProviderError. Raises ValueError without a provider.
    """
    names = (providers,) if isinstance(providers, str) else tuple(providers)
    if not names or not all(names):
        raise ValueError(f"pin({providers!r}): expected the name of a provider, such as 'torch', or several")
    new = Pin(operators, names, f"pin({', '.join(map(repr, names))})")
    with _process_pin(new) if everywhere else _context_pin(new):
        yield


@contextmanager
def _context_pin(new: Pin) -> Iterator[None]:
    token = context.set((*context.get(), new))
    try:
        yield
    finally:
        context.reset(token)


@contextmanager
def _process_pin(new: Pin) -> Iterator[None]:
    with _lock:
        _everywhere.append(new)
    _tell()
    try:
        yield
    finally:
        with _lock:
            # By identity: another thread may hold an equal pin.
            _everywhere[:] = [one for one in _everywhere if one is not new]
        _tell()


def matching(operator: str, pins: Pins) -> Pin | None:
    """The pin that counts for an operator, `pins` being those of the context."""
    for one in reversed((*_from_environment(), *_everywhere, *pins)):
        if fnmatchcase(operator, one.pattern):
            return one
    return None


def _from_environment() -> Pins:
    """Read once: a look into the environment costs more than a whole selection."""
    global _environment
    if _environment is None:
        _environment = parse(os.environ.get(VARIABLE, ""))
    return _environment


def forget() -> None:
    """Read the environment again."""
    global _environment
    _environment = None
    _tell(anew=True)


def on_change(listener: Callable[[bool], None]) -> None:
    """Have a function called when selections that were kept may be wrong; with True if all is to be looked at anew."""
    _listeners.append(listener)


def _tell(anew: bool = False) -> None:
    for listener in list(_listeners):
        listener(anew)
