"""What the providers of an operator answered, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from musa_compat.device import Target

Verdict = Literal["selected", "yes", "depends", "no"]
"""Runs the call; could, and is not asked; depends on the call, of which nothing was said; cannot."""


class Row(NamedTuple):
    """One provider's answer."""

    provider: str
    verdict: Verdict
    reason: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """Who runs an operator, and why not the others."""

    operator: str
    summary: str
    target: Target
    signature: Mapping[str, Any]
    pinned: str | None
    """What pins the provider, if anything does."""
    rows: tuple[Row, ...]
    """In the order in which they are asked."""

    @property
    def selected(self) -> str | None:
        """The provider that runs; None if none can, or if it depends on the call."""
        return next((row.provider for row in self.rows if row.verdict == "selected"), None)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "operator": self.operator,
            "summary": self.summary,
            "device": self.target.kind,
            "arch": self.target.arch,
            "signature": {name: _plain(value) for name, value in self.signature.items()},
            "pinned": self.pinned,
            "selected": self.selected,
            "providers": [
                {"provider": row.provider, "verdict": row.verdict, "reason": row.reason, "needs": list(row.needs)}
                for row in self.rows
            ],
        }


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
