"""An operator: its providers, and the selection of one of them for a call."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

from musa_compat.device import Kind, Target
from musa_compat.registry import pins
from musa_compat.registry.explanation import Explanation, Row, Verdict
from musa_compat.registry.providers import Provider, Supports, family_of

_log = logging.getLogger("musa_compat.registry")
_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Selections that are kept for one operator. More than that are calls whose sizes never come back.
CACHE_SIZE = 4096


class Selection(NamedTuple):
    """What runs a call."""

    provider: str
    run: Callable[..., Any]


class NoProviderError(RuntimeError):
    """No provider can serve the call; the text has the reason of each."""

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation
        reasons = "\n".join(f"  {row.provider}: {row.reason}" for row in explanation.rows)
        pinned = f" (pinned by {explanation.pinned})" if explanation.pinned else ""
        super().__init__(
            f"{explanation.operator} on {explanation.target}: no provider can run this call{pinned}\n"
            f"{reasons or '  none is registered'}\n"
            f"`musa-compat explain {explanation.operator}` says what each one needs"
        )


class Operator:
    """A named operator. Made by `registry.operator`.

    `signature` is the NamedTuple class that describes a call, or None for an operator whose providers serve every call.
    """

    def __init__(self, name: str, signature: type[Any] | None = None, summary: str = "") -> None:
        self.name = name
        self.signature = signature
        self.summary = summary
        self._providers: tuple[Provider, ...] = ()
        self._cache: dict[Hashable, Selection] = {}
        self._lock = threading.Lock()
        self._reported: set[tuple[Target, str]] = set()

    def __repr__(self) -> str:
        return f"<operator {self.name}: {', '.join(one.name for one in self._providers) or 'no providers'}>"

    @property
    def providers(self) -> tuple[Provider, ...]:
        """In the order in which they are asked."""
        return self._providers

    # ---- registration ------------------------------------------------------------------------------------------------

    def add(
        self,
        name: str,
        implementation: Callable[..., Any] | str,
        *,
        supports: Supports | None = None,
        needs: Sequence[str] = (),
        on: tuple[Kind, ...] | None = None,
        archs: tuple[str, ...] | None = None,
        priority: int | None = None,
    ) -> None:
        """Register a provider; one of the same name is replaced.

        `implementation` is the function, or `module:function` to import it when it is first needed. `supports` takes
        the signature of a call and returns None, or the reason why not. `needs` says in words what it tests. For
        `mate`, `tilelang` and `torch` the rest is known; others must say what they run `on` and their `priority`.

        Raises TypeError or ValueError if that is missing or wrong.
        """
        if isinstance(needs, str):
            raise TypeError(f"{self.name}: needs={needs!r}: expected a tuple of texts, not one text")
        new = Provider(name, implementation, supports, tuple(needs), family_of(name, on, priority, archs))
        with self._lock:
            others = [one for one in self._providers if one.name != name]
            # A stable sort: of equal priority, the one that came first is asked first.
            self._providers = tuple(sorted([*others, new], key=lambda one: -one.family.priority))
            self._cache = {}

    def provider(self, name: str, **options: Any) -> Callable[[_Function], _Function]:
        """`add` as a decorator."""

        def register(function: _Function) -> _Function:
            self.add(name, function, **options)
            return function

        return register

    # ---- selection ---------------------------------------------------------------------------------------------------

    def select(self, target: Target, signature: Hashable = None) -> Selection:
        """The provider that runs a call of this signature on this target; `selection.run` is its function.

        A dictionary look-up from the second time on. Raises NoProviderError, and ValueError if the environment variable
        with pins cannot be read.
        """
        key = (target, signature, pins.context.get())
        found = self._cache.get(key)
        return self._choose(key) if found is None else found

    def _choose(self, key: tuple[Target, Hashable, pins.Pins]) -> Selection:
        # The dictionary before anything else: whoever changes providers or pins puts a new one in its place, and what
        # was decided from the old state then goes to the old dictionary.
        cache = self._cache
        target, signature, context = key
        passed_over: list[tuple[Provider, str]] = []
        for provider in self._candidates(pins.matching(self.name, context)):
            reason = provider.objection(target, signature)
            if reason is None:
                found = Selection(provider.name, provider.load())
                if len(cache) >= CACHE_SIZE:
                    cache.clear()
                cache[key] = found
                self._report(target, provider.name, passed_over)
                return found
            passed_over.append((provider, reason))
        raise NoProviderError(self.explain(target, signature))

    def _candidates(self, pin: pins.Pin | None) -> tuple[Provider, ...]:
        if pin is None:
            return self._providers
        by_name = {one.name: one for one in self._providers}
        return tuple(by_name[name] for name in pin.providers if name in by_name)

    def _report(self, target: Target, selected: str, passed_over: list[tuple[Provider, str]]) -> None:
        """One log line for the first fallback of a kind."""
        reasons = "; ".join(f"{one.name}: {reason}" for one, reason in passed_over if target.kind in one.family.on)
        if not reasons:
            return
        with self._lock:
            if (target, selected) in self._reported:
                return
            self._reported.add((target, selected))
        _log.warning(
            "%s on %s runs by %s (%s). Said once; `musa-compat explain %s` shows all",
            self.name,
            target,
            selected,
            reasons,
            self.name,
        )

    def forget(self, reload: bool = False) -> None:
        """Drop the selections that are kept; with `reload` also try again what could not be loaded."""
        for provider in self._providers if reload else ():
            provider.forget()
        self._cache = {}

    # ---- explanation -------------------------------------------------------------------------------------------------

    def explain(self, target: Target, signature: Any = None, *, assume_installed: bool = False) -> Explanation:
        """What each provider answers. Without the signature of a call: what it depends on.

        With `assume_installed` the answers are those of a machine that has the packages of all providers.
        """
        pin = pins.matching(self.name, pins.context.get())
        candidates = self._candidates(pin)
        rows: list[Row] = []
        chosen = False
        for provider in (*candidates, *(one for one in self._providers if one not in candidates)):
            row = self._row(provider, target, signature, assume_installed)
            if provider not in candidates:
                row = Row(provider.name, "no", f"{pin.origin} leaves it out" if pin else "", row.needs)
            elif row.verdict == "yes" and not chosen:
                chosen = True
                row = row._replace(verdict="selected")
            elif row.verdict == "depends":
                # Which one runs is open from here on.
                chosen = True
            rows.append(row)
        if pin:
            known = {one.name for one in self._providers}
            rows += [Row(name, "no", f"not registered for {self.name}") for name in pin.providers if name not in known]
        fields: dict[str, Any] = signature._asdict() if hasattr(signature, "_asdict") else {}
        return Explanation(self.name, self.summary, target, fields, pin.origin if pin else None, tuple(rows))

    def _row(self, provider: Provider, target: Target, signature: Any, assume_installed: bool) -> Row:
        verdict: Verdict = "no"
        reason = provider.mismatch(target) or (None if assume_installed else provider.absence(target))
        if reason is None and signature is None and self.signature is not None and provider.supports is not None:
            verdict, reason = "depends", "on the call"
        elif reason is None:
            reason = provider.refusal(signature) if assume_installed else provider.objection(target, signature)
            verdict = "no" if reason else "yes"
        return Row(provider.name, verdict, reason or "", provider.needs)
