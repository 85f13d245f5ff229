"""What an examination found, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from musa_compat.device import Kind

Severity = Literal["error", "warning", "info"]
"""Something will not work, or not as thought; something may not; worth knowing."""


class Finding(NamedTuple):
    """One conflict or gap, and what to do."""

    id: str
    """Short and stable, for scripts: `shadowed-shim`."""
    severity: Severity
    text: str
    advice: str


class Installed(NamedTuple):
    """One package of the field."""

    name: str
    purpose: str
    distribution: str | None
    """None if it is not installed."""
    version: str | None
    place: str | None
    """Where `import` would find it; None if it would not."""
    pinned: str | None
    """The version that MUSA stacks of 2026 pin, if they do."""
    get: str
    """How to get it."""


class ProviderState(NamedTuple):
    """Whether kernels of a provider can run on a kind of accelerator."""

    provider: str
    kind: Kind
    missing: str | None
    """Why not, with how to get it; None if it can."""


@dataclass(frozen=True)
class Report:
    """All of it."""

    versions: Mapping[str, str]
    device: Mapping[str, Any]
    torch: Mapping[str, Any]
    """What torch said in a process of its own; `error` if it could not be imported. Empty if it was not asked."""
    tools: Mapping[str, str | None]
    packages: tuple[Installed, ...]
    providers: tuple[ProviderState, ...]
    operators: Mapping[str, int]
    """How many operators each package registered."""
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not any(one.severity == "error" for one in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        result = asdict(self)
        for name in ("packages", "providers", "findings"):
            result[name] = [one._asdict() for one in getattr(self, name)]
        return {"ok": self.ok, **result}
