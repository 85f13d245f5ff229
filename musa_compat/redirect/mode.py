"""The mode that translates device arguments of everything that PyTorch lets a mode see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch._ops import OpOverload, OpOverloadPacket
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack, _pop_mode, _push_mode

from musa_compat.redirect.devices import to_musa

Handler = Callable[..., Any]

#: Functions whose positional arguments, or results, need more than the keyword `device` translated.
handlers: dict[Any, Handler] = {}


def intercept(*functions: Any) -> Callable[[Handler], Handler]:
    """Register the decorated `handler(function, *args, **kwargs)` for functions that the mode sees."""

    def register(handler: Handler) -> Handler:
        handlers.update(dict.fromkeys(functions, handler))
        return handler

    return register


def positional(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A handler: any argument may be a device."""
    return function(*map(to_musa, args), **kwargs)


handlers.update({OpOverload: positional, OpOverloadPacket: positional})


class CudaSpellings(TorchFunctionMode):
    """`device="cuda"` means MUSA."""

    on = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call func with its devices translated."""
        if kwargs is None:
            kwargs = {}
        if not self.on:
            return func(*args, **kwargs)
        if "device" in kwargs:
            kwargs["device"] = to_musa(kwargs["device"])
        handler = handlers.get(func) or handlers.get(func.__class__)
        if handler is None:
            return func(*args, **kwargs)
        return handler(func, *args, **kwargs)


#: The only one. It is on the stack of each thread that uses it, and does nothing while it is off.
MODE = CudaSpellings()


def enter() -> bool:
    """Put the mode on this thread's stack; False if it is there already."""
    if MODE in _get_current_function_mode_stack():
        return False
    _push_mode(MODE)
    return True


def leave() -> None:
    """Take the mode off this thread's stack, wherever it is there."""
    others = []
    while stack := _get_current_function_mode_stack():
        _pop_mode()
        if stack[-1] is MODE:
            break
        others.append(stack[-1])
    for mode in reversed(others):
        _push_mode(mode)


def turn_on() -> None:
    """Translate in this thread, and in those that have the mode."""
    CudaSpellings.on = True
    enter()


def turn_off() -> None:
    """Translate no longer. Threads that run keep the mode until they end; it does nothing there."""
    CudaSpellings.on = False
    leave()
