"""`status()`: each patch, whether it is applied, and if not why."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from musa_compat.redirect import activation, peer
from musa_compat.redirect.options import Options


@dataclass(frozen=True)
class Row:
    """One patch. state: applied, waiting (for an import), skipped, left (somebody else's is there now) or off."""

    group: str
    target: str
    state: str
    why: str
    reason: str
    versions: str


@dataclass(frozen=True)
class Status:
    """What is redirected. `str()` of it is a table."""

    active: bool
    groups: tuple[str, ...]
    options: Options
    torchada: bool
    rows: tuple[Row, ...]
    #: `module.name` of names outside torch that were bound before activation and are still CUDA's.
    bound_before: tuple[str, ...]

    def of(self, state: str) -> tuple[Row, ...]:
        """The rows of one state."""
        return tuple(row for row in self.rows if row.state == state)

    def __str__(self) -> str:
        head = [f"redirect: {'on, groups ' + ', '.join(self.groups) if self.active else 'off'}"]
        head.append(f"torch.cuda.is_available(): {'as torch.musa' if self.options.cuda_is_available else 'unchanged'}")
        head.append(f"torch.version.cuda: {self.options.cuda_version}")
        if self.torchada:
            head.append("torchada was imported first: what it patched is left to it")
        head += [f"bound before activation, still CUDA's: {name}" for name in self.bound_before]
        cells = [("group", "target", "state", "versions", "why")]
        cells += [(row.group, row.target, row.state, row.versions, row.why or row.reason) for row in self.rows]
        widths = [max(len(row[column]) for row in cells) for column in range(4)]
        lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[4]]) for row in cells]
        return "\n".join([*head, "", *lines])


def status() -> Status:
    """The state of every patch. Without torch in the process, or a device, there are no rows."""
    return Status(
        active=activation.is_active(),
        groups=activation.active_groups(),
        options=activation.current_options(),
        torchada=peer.imported(),
        rows=tuple(_rows()),
        bound_before=tuple(_bound_before()) if activation.is_active() else (),
    )


def _rows() -> list[Row]:
    if not hasattr(sys.modules.get("torch"), "musa"):
        return []
    from musa_compat.redirect import engine
    from musa_compat.redirect.registry import Patch, registered

    rows = []
    for item in registered():
        state, why = "off", ""
        if isinstance(item, Patch):
            slot = engine.slots().get(item)
            if slot is not None:
                state, why = slot.seen()
        elif item in engine.switched_on():
            state = "applied"
        rows.append(Row(item.group, item.target, state, why, item.reason, item.versions))
    return rows


def _bound_before() -> list[str]:
    """Names that other modules bound to functions and classes of torch before we replaced those."""
    from musa_compat.redirect import engine

    replaced = {id(slot.replaced) for slot in engine.slots().values() if _can_be_bound(slot.replaced)}
    return [
        f"{module}.{name}"
        for module, namespace in _namespaces()
        for name, value in namespace.items()
        if id(value) in replaced
    ]


def _can_be_bound(original: Any) -> bool:
    return callable(original)


def _namespaces() -> list[tuple[str, dict[str, Any]]]:
    ours = ("torch", "torch_musa", "musa_compat", "torchgen", "functorch")
    modules = [(name, module) for name, module in sys.modules.items() if name.partition(".")[0] not in ours]
    return [(name, dict(vars(module))) for name, module in modules if hasattr(module, "__dict__")]
