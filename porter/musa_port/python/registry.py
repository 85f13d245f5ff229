"""Where Python rules register: functions that are called for each node of some kinds.

A rule is one file in `rules/` (or in `musa_port.tilelang.rules`):

    @visit(cst.Call)
    def port_something(module: Module, node: cst.Call) -> None:
        if module.qualified(node.func) == "torch.device":
            module.replace(...)

Rules with a lower order see the whole module first and may claim nodes, so that later ones leave them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import libcst as cst

if TYPE_CHECKING:
    from musa_port.python.module import Module

Visit = TypeVar("Visit", bound=Callable[..., None])


class Visitor(NamedTuple):
    """A registered function and the kinds of nodes that it wants to see."""

    order: int
    kinds: tuple[type[cst.CSTNode], ...]
    function: Callable[[Module, Any], None]


_VISITORS: list[Visitor] = []


def visit(*kinds: type[cst.CSTNode], order: int = 50) -> Callable[[Visit], Visit]:
    """Register a function for nodes of exactly these kinds; see the module text."""

    def add(function: Visit) -> Visit:
        _VISITORS.append(Visitor(order, kinds, function))
        _VISITORS.sort(key=lambda visitor: visitor.order)
        return function

    return add


def visitors() -> list[Visitor]:
    """The registered functions, in order."""
    return list(_VISITORS)
