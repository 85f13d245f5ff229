"""Applies and takes back the registered patches, group by group."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from musa_compat.redirect import imports
from musa_compat.redirect.registry import Patch, Switch, registered
from musa_compat.redirect.slots import Slot

_slots: dict[Patch, Slot] = {}
_switched_on: list[Switch] = []


def bring(groups: Collection[str]) -> None:
    """Make exactly these groups be on."""
    from musa_compat.redirect import devices

    items = registered()
    for item in reversed(items):
        if item.group not in groups:
            _off(item)
    devices.switch.on = bool(groups)
    for item in items:
        if item.group in groups:
            _on(item)
    _wait()


def slots() -> dict[Patch, Slot]:
    """What is known of each patch that was on at least once."""
    return _slots


def switched_on() -> list[Switch]:
    """The switches that are on."""
    return _switched_on


def _on(item: Patch | Switch) -> None:
    if isinstance(item, Switch):
        if item not in _switched_on:
            _switched_on.append(item)
            item.on()
        return
    slot = _slots.setdefault(item, Slot(item))
    if slot.state != "applied":
        slot.apply()


def _off(item: Patch | Switch) -> None:
    if isinstance(item, Switch):
        if item in _switched_on:
            _switched_on.remove(item)
            item.off()
    elif item in _slots:
        _slots[item].undo()


def _wait() -> None:
    """Patch modules that are imported later, when they are."""
    imports.forget()
    for module in {patch.module for patch, slot in _slots.items() if slot.state == "waiting"}:
        imports.when_imported(module, partial(_imported, module))


def _imported(module: str) -> None:
    for patch, slot in _slots.items():
        if patch.module == module and slot.state == "waiting":
            slot.apply()
