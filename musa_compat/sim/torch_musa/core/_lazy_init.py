"""Initialisation: the simulated device is always initialised."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

_initialized = True


def init() -> None:
    """Nothing to do."""


def _lazy_init() -> None:
    pass


def _lazy_call(callable: Callable[[], Any], **kwargs: Any) -> None:  # noqa: A002  (torch_musa's name)
    callable()


def is_initialized() -> bool:
    """True."""
    return True


def _is_in_bad_fork() -> bool:
    return False


def musart() -> SimpleNamespace:
    """The few names of the MUSA runtime that torch_musa has."""
    from .memory import mem_get_info

    return SimpleNamespace(
        musaError=SimpleNamespace(success=0),
        musaGetErrorString=lambda error: "no error" if not int(error) else f"simulated error {int(error)}",
        musaHostRegister=lambda pointer, size, flags: 0,
        musaHostUnregister=lambda pointer: 0,
        musaMemGetInfo=mem_get_info,
    )
