"""All operators by name."""

from __future__ import annotations

import difflib
import threading
import weakref
from typing import Any

from musa_compat import packages
from musa_compat.registry import discovery, pins
from musa_compat.registry.operators import Operator


class UnknownOperatorError(LookupError):
    """No operator has this name; the text says which are known and how to get more."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        self.name = name
        self.known = known
        self.close = tuple(difflib.get_close_matches(name, known, n=3))
        text = f"no operator is named {name!r}"
        if self.close:
            text += f"; did you mean {' or '.join(self.close)}?"
        super().__init__(text)


class Registry:
    """A set of operators. Programs use the one behind `registry.operator`; tests may make their own."""

    def __init__(self) -> None:
        self._operators: dict[str, Operator] = {}
        self._lock = threading.Lock()
        # Weakly, so that a registry of a test can go.
        itself = weakref.ref(self)
        pins.on_change(lambda anew: _forget(itself(), anew))

    def operator(self, name: str, signature: type[Any] | None = None, summary: str = "") -> Operator:
        """The operator of this name; made if it is new.

        `name` is `package.function`, as callers know it. `signature` is a NamedTuple class that describes a call.

        Raises ValueError for another form of name, or if the operator exists with another signature, and TypeError if
        the signature is not a NamedTuple class.
        """
        if not all(part.isidentifier() for part in name.split(".")) or "." not in name:
            raise ValueError(f"operator name {name!r}: expected package.function, such as deep_gemm.fp8_gemm_nt")
        if signature is not None and not (issubclass(signature, tuple) and hasattr(signature, "_fields")):
            raise TypeError(f"operator {name}: signature={signature!r}: expected a NamedTuple class")
        with self._lock:
            found = self._operators.setdefault(name, Operator(name, signature, summary))
        found.summary = found.summary or summary
        if signature is not None and found.signature is not signature:
            raise ValueError(
                f"operator {name} is registered with signature {found.signature!r}, not {signature!r}; "
                "give it once, or the same class each time"
            )
        return found

    def get(self, name: str) -> Operator:
        """The operator of this name. Raises UnknownOperatorError."""
        found = self._operators.get(name)
        if found is None:
            raise UnknownOperatorError(name, self.names())
        return found

    def names(self) -> tuple[str, ...]:
        """Sorted."""
        return tuple(sorted(self._operators))

    def forget(self, reload: bool = False) -> None:
        """Drop the selections that are kept; with `reload` also try again what could not be loaded."""
        for one in list(self._operators.values()):
            one.forget(reload)


def _forget(registry: Registry | None, reload: bool) -> None:
    if registry is not None:
        registry.forget(reload)


_registry = Registry()
operator = _registry.operator
get = _registry.get
names = _registry.names


def load_installed() -> dict[str, str]:
    """Register the operators of all installed packages; returns what could not be imported, with the reason."""
    return discovery.load()


def refresh() -> None:
    """Select anew: read the environment, look at the installed packages, and load again what could not be loaded."""
    packages.forget()
    pins.forget()
