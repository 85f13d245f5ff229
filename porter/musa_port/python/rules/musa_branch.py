"""Code that has a branch for MUSA already: what stands there for CUDA is left."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register

READY = register(
    Rule(
        "P40",
        "python-has-musa",
        Severity.INFO,
        "Leaves the branches and elements for CUDA of code that has some for MUSA beside them.",
        why="Whoever wrote them has decided what runs on MUSA; porting the others gives the same branch twice.",
        example=(
            'if torch.musa.is_available():\n    device = "musa"\nelif torch.cuda.is_available():\n    device = "cuda"',
            'if torch.musa.is_available():\n    device = "musa"\nelif torch.cuda.is_available():\n    device = "cuda"',
        ),
    )
)
_MUSA = re.compile(r"MUSA|(?<![A-Za-z])musa")
_CUDA = re.compile(r"cuda|nccl", re.I)
_WORDS = {"cuda": "musa", "nccl": "mccl"}
Span = tuple[int, int]
Branch = tuple[cst.BaseExpression | None, Span]


@visit(cst.Module, order=1)
def keep(module: Module, node: cst.Module) -> None:
    """Look for code that was written for MUSA; no rule has run before."""
    if not re.search(rb"musa|mccl", module.draft.data, re.I):
        return
    choices: list[cst.If | cst.IfExp] = [*module.nodes(cst.If), *module.nodes(cst.IfExp)]
    for found in choices:
        parent = module.parent(found)
        if not isinstance(parent, (cst.If, cst.IfExp)) or parent.orelse is not found:
            _keep_branches(module, found)
    for tried in module.nodes(cst.Try):
        if _imports_musa(module, tried):
            for handler in tried.handlers:
                _leave(module, _block(module, handler.body))
    for match in module.nodes(cst.Match):
        _keep_cases(module, match)
    for operation in module.nodes(cst.BooleanOperation):
        _keep_operands(module, operation)
    for group in module.nodes(cst.List, cst.Tuple, cst.Set, cst.Dict, cst.Call, cst.Subscript):
        _keep_elements(module, group)


def _is_for_musa(module: Module, node: cst.CSTNode) -> bool:
    return _MUSA.search(module.code(node)) is not None


def _excludes_musa(module: Module, node: cst.CSTNode) -> bool:
    """`not is_musa()`, `kind != "musa"`."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return _is_for_musa(module, node)
    is_unequal = isinstance(node, cst.Comparison) and isinstance(
        node.comparisons[0].operator, (cst.NotEqual, cst.NotIn, cst.IsNot)
    )
    return is_unequal and _is_for_musa(module, node)


def _leave(module: Module, span: Span) -> None:
    """Keep a place, and say so when CUDA is there."""
    draft = module.draft
    if not _CUDA.search(draft.text(*span)) or draft.is_kept(*span):
        return
    first, last = draft.lines.number(span[0]), draft.lines.number(span[1] - 1)
    places = f"line {first} is" if first == last else f"lines {first} to {last} are"
    message = f"{places} left alone: code for MUSA stands beside"
    draft.report("python-has-musa", *span, message)
    draft.keep(*span)


# ---- branches ----------------------------------------------------------------------------------------------------


def _keep_branches(module: Module, node: cst.If | cst.IfExp) -> None:
    """`if` and `elif`, or `x if c else y`: what is not for MUSA, when something is."""
    branches = list(_branches(module, node))
    tests = [test for test, _ in branches if test is not None and _is_for_musa(module, test)]
    positive = [test for test in tests if not _excludes_musa(module, test)]
    for test, span in branches:
        if test not in positive if positive else test in tests:
            _leave(module, span)
            if test is not None and test not in tests:
                _leave(module, module.span(test))


def _branches(module: Module, node: cst.If | cst.IfExp) -> Iterator[Branch]:
    current: cst.CSTNode | None = node
    while isinstance(current, (cst.If, cst.IfExp)):
        yield current.test, _place(module, current.body)
        current = current.orelse
    if current is not None:
        yield None, _place(module, current.body if isinstance(current, cst.Else) else current)


def _place(module: Module, body: cst.CSTNode) -> Span:
    return _block(module, body) if isinstance(body, cst.BaseSuite) else module.span(body)


def _block(module: Module, body: cst.BaseSuite) -> Span:
    """From the first to the last statement of a block."""
    return module.span(body.body[0])[0], module.span(body.body[-1])[1]


def _imports_musa(module: Module, node: cst.Try) -> bool:
    return any(_is_for_musa(module, statement) for statement in node.body.body)


def _keep_cases(module: Module, node: cst.Match) -> None:
    """`case "cuda":` beside `case "musa":`."""
    if any(_is_for_musa(module, case.pattern) for case in node.cases):
        others = [case for case in node.cases if not _is_for_musa(module, case.pattern)]
        for case in others:
            if _CUDA.search(module.code(case.pattern)):
                _leave(module, (module.span(case.pattern)[0], _block(module, case.body)[1]))


def _keep_operands(module: Module, node: cst.BooleanOperation) -> None:
    """`x.is_cuda or x.is_musa`, `kind != "cuda" and kind != "musa"`; variables of the environment have a rule."""
    pairs = ((node.left, node.right), (node.right, node.left))
    for operand, other in pairs:
        is_or = isinstance(node.operator, cst.Or)
        is_beside = "musa" in module.code(other) if is_or else _excludes_musa(module, other)
        if is_beside and _is_for_musa(module, other) and not _is_for_musa(module, operand):
            _leave(module, module.span(operand))


# ---- elements ----------------------------------------------------------------------------------------------------


def _keep_elements(module: Module, node: cst.CSTNode) -> None:
    """`("cuda", "musa")`, `{"cuda": f, "musa": g}`, `Literal["cuda", "musa"]`, `name.replace("cuda", "musa")`."""
    elements = list(_elements(node))
    texts = {plain(text) for text, _ in elements}
    if not any(_MUSA.search(text) or "mccl" in text for text in texts):
        return
    for text, element in elements:
        word = plain(text).partition(":")[0]
        if word in _WORDS and plain(text).replace(word, _WORDS[word]) in texts:
            _leave(module, module.span(element))


def _elements(node: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """The strings that stand beside one another, each with what belongs to it."""
    if isinstance(node, cst.Dict):
        for entry in node.elements:
            if isinstance(entry, cst.DictElement):
                yield entry.key, entry
    elif isinstance(node, cst.Subscript):
        for part in node.slice:
            if isinstance(part.slice, cst.Index):
                yield part.slice.value, part.slice.value
    elif isinstance(node, cst.Call):
        for arg in node.args:
            if arg.keyword is None:
                yield arg.value, arg.value
    elif isinstance(node, (cst.List, cst.Tuple, cst.Set)):
        for element in node.elements:
            yield element.value, element.value
