"""Taking elements out of a list, and statements out of a block, so that what is around them stays right."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import libcst as cst

from musa_port.python.module import Module
from musa_port.python.statements import line_of

Sequence = cst.List | cst.Tuple | cst.Set
_BLANK = b" \t"
_NEWLINE = re.compile(rb"\r?\n|\r")
#: The end of a line that a backslash continues.
_CONTINUED = re.compile(rb"\\?(?:\r?\n|\r)")


def can_remove(sequence: Sequence, gone: Collection[cst.BaseElement]) -> bool:
    """Whether what is left is still the same kind of sequence: `{}` is no set, and a bare tuple needs an element."""
    if len(gone) < len(sequence.elements):
        return True
    return isinstance(sequence, cst.List) or (isinstance(sequence, cst.Tuple) and bool(sequence.lpar))


def remove(module: Module, sequence: Sequence, gone: Collection[cst.BaseElement], rule: str, confidence: str) -> None:
    """Remove elements; comments stay."""
    data = module.draft.data
    for start, end in _joined(data, sorted(_stretches(module, sequence, gone))):
        module.edit(*_with_space(data, start, end), "", rule, confidence, musa=False)


def _stretches(module: Module, sequence: Sequence, gone: Collection[cst.BaseElement]) -> Iterator[tuple[int, int]]:
    """The elements, their commas, and the comma that would be left before the closing bracket on the same line."""
    elements = list(sequence.elements)
    for element in gone:
        yield module.span(element)
        if isinstance(element.comma, cst.Comma):
            yield module.span(element.comma)
    kept = [element for element in elements if element not in gone]
    if not kept or isinstance(elements[-1].comma, cst.Comma) or kept[-1] is elements[-1]:
        return
    comma, after = kept[-1].comma, elements[elements.index(kept[-1]) + 1]
    is_needed = isinstance(sequence, cst.Tuple) and len(kept) == 1
    if isinstance(comma, cst.Comma) and not is_needed:
        span = module.span(comma)
        if b"\n" not in module.draft.data[span[1] : module.span(after)[0]]:
            yield span


def _joined(data: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, those in one that have nothing but blanks between them."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not data[joined[-1][1] : start].strip(_BLANK):
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _with_space(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The stretch with the blanks around it that would be too many, and its line when nothing else is on it."""
    begin, stop = start, end
    while begin > 0 and data[begin - 1] in _BLANK:
        begin -= 1
    while stop < len(data) and data[stop] in _BLANK:
        stop += 1
    alone = begin == 0 or data[begin - 1] in b"\r\n"
    if match := (_CONTINUED if alone else _NEWLINE).match(data, stop):
        return (begin, match.end()) if alone else (begin, stop)
    closes = data[stop : stop + 1] in (b"]", b")", b"}", b"#")
    return (begin, end) if closes and not alone else (start, stop)


def remove_operand(module: Module, sequence: Sequence, rule: str, confidence: str) -> bool:
    """Remove `+ [...]` behind another operand on the same line; whether that was possible."""
    parent = module.parent(sequence)
    if not isinstance(parent, cst.BinaryOperation) or parent.right is not sequence:
        return False
    stretch = module.span(parent.left)[1], module.span(sequence)[1]
    if parent.left.rpar or sequence.rpar or b"\n" in module.draft.data[slice(*stretch)]:
        return False
    module.edit(*stretch, "", rule, confidence, musa=False)
    return True


def remove_statement(
    module: Module, node: cst.CSTNode, rule: str, confidence: str, staying: Collection[cst.CSTNode] = ()
) -> None:
    """Remove a call or an addition; where its block would have nothing else, one `pass` takes its place.

    staying  statements that are known to stay
    """
    line = line_of(module, node)
    start, end = module.span(node)
    stretch = _with_space(module.draft.data, start, end)
    is_alone = module.draft.data[stretch[0] - 1 : stretch[0]] in (b"", b"\n") and stretch[1] > end
    if line is not None and (between := _beside(module, line, node, staying)) is not None:
        module.edit(*between, "", rule, confidence, musa=False)
    elif is_alone and line is not None and _can_be_empty(module, line, staying):
        module.edit(*stretch, "", rule, confidence, musa=False)
    else:
        module.edit(start, end, "pass", rule, confidence, musa=False)


def _beside(
    module: Module,
    line: cst.SimpleStatementLine | cst.SimpleStatementSuite,
    node: cst.CSTNode,
    staying: Collection[cst.CSTNode],
) -> tuple[int, int] | None:
    """Of a statement on a line with others that stay, the stretch from or to its neighbour."""
    place = next((index for index, item in enumerate(line.body) if item is node), None)
    others = [item for item in line.body if item is not node]
    if place is None or not others or not all(_stays(item, staying) for item in others):
        return None
    if place + 1 < len(line.body):
        return module.span(node)[0], module.span(line.body[place + 1])[0]
    return module.span(line.body[place - 1])[1], module.span(node)[1]


def _can_be_empty(module: Module, line: cst.CSTNode, staying: Collection[cst.CSTNode]) -> bool:
    """Whether the block of a line keeps a statement, or has got a `pass` already, whatever else is removed."""
    block = module.parent(line)
    if isinstance(block, cst.Module) or block in module.filled_blocks:
        return True
    for other in block.body if isinstance(block, cst.IndentedBlock) else ():
        small = other.body if isinstance(other, cst.SimpleStatementLine) else ()
        if not small or any(_stays(item, staying) for item in small):
            return True
    if block is not None:
        module.filled_blocks.add(block)
    return False


def _stays(statement: cst.CSTNode, staying: Collection[cst.CSTNode]) -> bool:
    """Whether no rule removes a statement: one that is no call or addition."""
    return statement in staying or not isinstance(statement, (cst.Expr, cst.AugAssign))
