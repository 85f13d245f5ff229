"""Requirements that a setup.py names: decided as those of a requirements file are."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from musa_port.build import distributions
from musa_port.python import elements
from musa_port.python.embedded import fragment
from musa_port.python.flow import added_element, flow
from musa_port.python.joined import name_of
from musa_port.python.module import Module
from musa_port.python.registry import visit

_LISTS = frozenset({"install_requires", "setup_requires", "tests_require", "dependency_links"})
_MAPPINGS = frozenset({"extras_require"})
_RULE = "nvidia-wheel"


@visit(cst.Call, order=30)
def port_setup(module: Module, node: cst.Call) -> None:
    """`setup(install_requires=["nvidia-cublas-cu12"], extras_require={"gpu": [...]})`."""
    if name_of(node.func) != "setup":
        return
    for value in _values(module, node):
        _port_list(module, value)


def _values(module: Module, call: cst.Call) -> Iterator[cst.BaseExpression]:
    """The lists of requirements that a call of setup is given, also in `**options`."""
    named = [(arg.keyword.value, arg.value) for arg in call.args if arg.keyword is not None]
    for arg in call.args:
        if arg.star == "**":
            named += [(entry.name, entry.value) for entry in flow(module).entries(arg.value)]
    for name, value in named:
        if name in _LISTS:
            yield value
        elif name in _MAPPINGS:
            yield from (entry.value for entry in flow(module).entries(value))


def _port_list(module: Module, value: cst.BaseExpression) -> None:
    for part in flow(module).sequences(value):
        if isinstance(part, (cst.List, cst.Tuple, cst.Set)):
            _port_elements(module, part)
        elif isinstance(part, cst.Call) and (added := added_element(part)) is not None:
            _port_added(module, part, added)
        else:
            _decide(module, part, fixed="it stands in a text with others")


def _port_elements(module: Module, part: elements.Sequence) -> None:
    fixed = "" if elements.can_remove(part, part.elements) else "an empty set or tuple is written in another way"
    gone = [element for element in part.elements if _decide(module, element.value, fixed)]
    if gone:
        elements.remove(module, part, gone, _RULE, "")


def _port_added(module: Module, call: cst.Call, value: cst.BaseExpression) -> None:
    """`requirements.append("nvidia-nccl-cu12")`."""
    statement = module.parent(call)
    if isinstance(statement, cst.Expr) and _decide(module, value):
        elements.remove_statement(module, statement, _RULE, "")


def _decide(module: Module, node: cst.BaseExpression, fixed: str = "") -> bool:
    """Decide one requirement; whether it goes."""
    text = fragment(module, node) if isinstance(node, cst.SimpleString) else None
    if text is None or module.is_claimed(node):
        return False
    return distributions.decide(text, fixed=fixed)
