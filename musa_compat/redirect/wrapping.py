"""Makers of patches that translate arguments and call the original."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from musa_compat.redirect.devices import to_musa
from musa_compat.redirect.registry import Maker


def arguments(translate: Callable[[Any], Any] = to_musa) -> Maker:
    """A maker: every argument goes through `translate`, which leaves alone what it does not know.

    It also makes a `__new__`, which has to be a static method when it is set on a class.
    """

    def make(original: Any) -> Any:
        function = getattr(original, "__func__", original)

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*map(translate, args), **{name: translate(value) for name, value in kwargs.items()})

        return staticmethod(call) if isinstance(original, staticmethod) else call

    return make
