"""`torch.Stream`, `torch.Event` and `torch.Generator` for a device: compiled classes that no mode sees.

The names get a class that makes instances of the real one, and that `isinstance` takes for it.
"""

from __future__ import annotations

from typing import Any

from musa_compat.redirect.devices import to_musa
from musa_compat.redirect.registry import patch


@patch(
    "device",
    *(f"torch:{name}" for name in ("Stream", "Event", "Generator")),
    reason='torch.Stream(device="cuda"), isinstance included',
)
def _class(original: Any) -> Any:
    kind: Any = type(original)

    class Redirected(kind):
        """The class of the class under the public name."""

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            args = tuple(map(to_musa, args))
            kwargs = {name: to_musa(value) for name, value in kwargs.items()}
            return original(*args, **kwargs) if cls is made else super().__call__(*args, **kwargs)

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, original) if cls is made else super().__instancecheck__(instance)

        def __subclasscheck__(cls, other: Any) -> bool:
            return issubclass(other, original) if cls is made else super().__subclasscheck__(other)

    namespace = {"__module__": original.__module__, "__doc__": original.__doc__, "__slots__": ()}
    made = Redirected(original.__name__, (original,), namespace)
    return made
