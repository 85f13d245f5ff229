"""What torchada, the other adapter, has patched. Where it was first, ours steps aside."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

NAME = "torchada"
STANDIN = "__musa_compat_standin__"


def imported() -> bool:
    """Whether the real torchada was imported, and not our stand-in."""
    module = sys.modules.get(NAME)
    return module is not None and not hasattr(module, STANDIN)


def owns(thing: Any) -> bool:
    """Whether a function, class or module object was made by torchada."""
    if not imported():
        return False
    thing = getattr(thing, "fget", None) or getattr(thing, "__func__", None) or thing
    namespace = getattr(thing, "__globals__", None)
    if namespace is not None:  # the text `__module__` is copied by functools.wraps, this is not
        return _ours(namespace.get("__name__"))
    if isinstance(thing, ModuleType):
        return _ours(type(thing).__module__)
    return _ours(getattr(thing, "__module__", None)) or _ours(type(thing).__module__)


def _ours(module: Any) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == NAME
