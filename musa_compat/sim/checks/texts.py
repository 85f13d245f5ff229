"""Findings from the facts that the library of the device gives."""

from __future__ import annotations

from collections.abc import Sequence

from musa_compat.sim.checks.findings import Finding
from musa_compat.sim.checks.places import Place

_HOST = "the host"


def finding(check: str, facts: Sequence[str], place: Place, earlier: Place) -> Finding:
    """One finding. facts: in the order in which `strict.h` gives them for this check."""
    return _MAKERS[check](facts, place, earlier)


def _stream(facts: Sequence[str], place: Place, earlier: Place) -> Finding:
    operator, verb, by, earlier_operator, earlier_verb, earlier_by, freed = facts
    if by == earlier_by == _HOST:
        raise ValueError("the host is in order with itself")
    what = "pinned memory" if by == _HOST else "memory of a freed tensor, given out again," if freed else "a tensor"
    return Finding(
        check="streams",
        message=(
            f"{operator}: {what} is {verb} by {by} and was {earlier_verb} by {earlier_operator} on {earlier_by} "
            f"at {earlier}, with no event, wait or synchronisation between"
        ),
        advice=_order(by, earlier_by, bool(freed)),
        place=place,
        earlier=earlier,
        operator=operator,
        stream=by,
        earlier_stream=earlier_by,
    )


def _order(by: str, earlier_by: str, freed: bool) -> str:
    if by == _HOST:
        return (
            f"synchronize {earlier_by}, or an event recorded on it after that line, before the host touches the memory"
        )
    wait = f"let {by} wait first (`wait_stream`, or `wait_event` for an event recorded on {earlier_by} after that line)"
    return f"call `record_stream` for {earlier_by} before the tensor is freed, or {wait}" if freed else wait


_INSTEAD = (
    ("a copy to the device from memory", "pin the memory and copy with non_blocking=True"),
    ("a copy to the device", "copy with non_blocking=True"),
    ("a copy to the host", "copy into pinned memory with non_blocking=True and wait for an event when it is needed"),
    ("reading a value", "keep the value on the device, or read it where the device is waited for anyway"),
    ("", "use an operation whose result has a known shape, such as torch.where"),
)


def _sync(facts: Sequence[str], place: Place, earlier: Place) -> Finding:
    (what,) = facts
    advice = next(text for start, text in _INSTEAD if what.startswith(start))
    message = f"{what} makes the host wait for the device"
    return Finding("syncs", message, f"{advice}, or mark it with musa_compat.sim.allow('syncs')", place, operator=what)


def _operator(facts: Sequence[str], place: Place, earlier: Place) -> Finding:
    name, dtypes, why = facts
    message = f"{name} with {dtypes}: on a card it {why}" if dtypes else f"{name}: on a card it {why}"
    return Finding("operators", message, "use another operator or dtype, or the CPU", place, operator=name)


_MAKERS = {"streams": _stream, "syncs": _sync, "operators": _operator}
