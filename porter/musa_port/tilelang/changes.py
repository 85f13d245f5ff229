"""Taking things out of a program: statements, entries of dictionaries, elements of lists. Comments stay.

What is left parses: a block that would be empty gets `pass`.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

import libcst as cst

from musa_port.python.module import Module
from musa_port.python.statements import newline

Item: TypeAlias = cst.BaseDictElement | cst.BaseElement | cst.Arg
#: What stands between an item and its comma: white space and continued lines.
_GAP = re.compile(rb"(?:[ \t\f\r\n]|\\\r?\n)*")
#: The end of a line, with the comment on it.
_REST = re.compile(rb"[ \t]*(#[^\r\n]*)?(\r\n|\r|\n|$)")


def delete_statement(module: Module, node: cst.CSTNode, rule: str) -> bool:
    """Take out the statement that a node is, or is all of. False, and nothing done, when it is a part of one."""
    small = node if isinstance(node, cst.BaseSmallStatement) else module.parent(node)
    line = module.parent(small) if isinstance(small, cst.Expr) or small is node else None
    if small is None or line is None:
        return False
    start, end = module.span(small)
    comments = _comments(module.code(small))
    if comments and not _is_alone(module, start, end):
        return False
    needed = ["pass"] if _is_needed(module, line) else []
    if comments:
        _write_lines(module, start, end, [*comments, *needed], rule)
    elif needed:
        module.edit(start, end, "pass", rule, musa=False)
    else:
        _delete_lines(module, start, end, rule)
    return True


def _is_needed(module: Module, line: cst.CSTNode) -> bool:
    """Whether something has to stand there: beside other statements on the line, or as all of a block."""
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return True
    if isinstance(line.body[0].semicolon, cst.Semicolon):
        return True
    block = module.parent(line)
    gone = _gone(module)
    gone.add(line)
    return isinstance(block, cst.IndentedBlock) and all(statement in gone for statement in block.body)


@lru_cache(maxsize=1)
def _gone(module: Module) -> set[cst.CSTNode]:
    """The lines that were taken out of the file so far."""
    return set()


def _comments(code: str) -> list[str]:
    """The comments within a statement, or an item of a list."""
    if "#" not in code:
        return []
    tokens = tokenize.generate_tokens(io.StringIO(f"({code})").readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def _is_alone(module: Module, start: int, end: int) -> bool:
    """Whether nothing but a comment is on the lines of a text besides it."""
    data = module.draft.data
    return _line_start(data, start) is not None and _REST.match(data, end) is not None


def _write_lines(module: Module, start: int, end: int, lines: list[str], rule: str) -> None:
    """Write lines for a text that is alone on its lines; a comment behind it goes on a line of its own."""
    data = module.draft.data
    begin = _line_start(data, start) or 0
    rest = _REST.match(data, end)
    comment = (rest.group(1) or b"").decode() if rest is not None else ""
    indent = data[begin:start].decode()
    lines = [*lines[:-1], comment, lines[-1]] if comment and lines[-1] == "pass" else [*lines, *filter(None, [comment])]
    stop = end if rest is None or not comment else rest.end(1)
    module.edit(start, stop, (newline(module) + indent).join(lines), rule, musa=False)


def _delete_lines(module: Module, start: int, end: int, rule: str) -> None:
    """Delete text: with its line when nothing else is on it, else with the spaces behind it."""
    data = module.draft.data
    begin = _line_start(data, start)
    rest = _REST.match(data, end)
    if begin is not None and rest is not None and rest.group(1) is None:
        if not rest.group(2) and begin:  # the file ends without a line ending, and goes on doing so
            begin -= 2 if data[begin - 2 : begin] == b"\r\n" else 1
        module.edit(begin, rest.end(), "", rule, musa=False)
        return
    while data[end : end + 1] in (b" ", b"\t"):
        end += 1
    module.edit(start, end, "", rule, musa=False)


def _line_start(data: bytes, position: int) -> int | None:
    """Where the line begins, when only white space stands before the position."""
    begin = max(data.rfind(b"\n", 0, position), data.rfind(b"\r", 0, position)) + 1
    return begin if not data[begin:position].strip(b" \t\f") else None


def delete_items(module: Module, items: Sequence[Item], rule_for: Callable[[Item], str]) -> list[Item]:
    """Take items out of a dictionary, list or call; gives those that went.

    rule_for  the rule that an item goes by, "" when it stays
    """
    rules = [rule_for(item) for item in items]
    return [item for number, item in enumerate(items) if rules[number] and _delete_item(module, items, rules, number)]


def _delete_item(module: Module, items: Sequence[Item], rules: list[str], number: int) -> bool:
    data = module.draft.data
    start, end = module.span(items[number])
    comma = _after_comma(data, end)
    is_last = number == len(items) - 1
    if comma is None and not is_last:
        return False  # a comment stands before the comma
    comments = _comments(module.draft.text(start, end))
    end = comma or end
    before = _end_before(module, items[:number], rules, keep_comma=comma is not None)
    is_alone = _is_alone(module, start, end)
    if comments and not is_alone:
        return False
    if comments:
        _write_lines(module, start, end, comments, rules[number])
    elif is_last and before is not None and not is_alone and b"#" not in data[before:start]:
        module.edit(before, end, "", rules[number], musa=False)  # with what parts it from the item before
    else:
        _delete_lines(module, start, end, rules[number])
    return True


def _end_before(module: Module, items: Sequence[Item], rules: list[str], *, keep_comma: bool) -> int | None:
    """Where the last of the items ends that stay, with its comma if that is to stay; None when none stays."""
    kept = [module.span(item)[1] for item, rule in zip(items, rules, strict=False) if not rule]
    if not kept:
        return None
    return _after_comma(module.draft.data, kept[-1]) if keep_comma else kept[-1]


def _after_comma(data: bytes, end: int) -> int | None:
    """Offset behind the comma that follows an item, None when there is none."""
    match = _GAP.match(data, end)
    position = match.end() if match else end
    return position + 1 if data[position : position + 1] == b"," else None
