"""Compiler flags in lists of a program: translated in place, by the table that build files use too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import libcst as cst

from musa_port import flags
from musa_port.model import Severity
from musa_port.python import elements
from musa_port.python.flow import added_element, flow
from musa_port.python.literals import text_of
from musa_port.python.module import Module
from musa_port.python.words import UNKNOWN, is_decided, is_literal, place, word

RULE = "extension-flags"
#: Libraries that look like the toolkit's own.
_OF_TOOLKIT = re.compile(r"-l:?(?:lib)?(?:cu(?:da|blas|dnn|fft|rand|solver|sparse|tensor|file|pti)|nccl|nv)[\w.-]*")


class Kind(NamedTuple):
    """What the elements of a list are.

    host    flags that a host compiler or a linker takes too
    prefix  the flag whose values the elements are: `-l` for names of libraries
    """

    host: bool = False
    prefix: str = ""


class Change(NamedTuple):
    """What takes the place of a word: nothing, or words."""

    position: int
    new: tuple[str, ...]
    confidence: str


def port(module: Module, value: cst.BaseExpression, kind: Kind, first: int = 0) -> None:
    """Translate the flags in everything that a list is put together from; its `first` words are something else."""
    added: list[cst.Call] = []
    for part in flow(module).sequences(value):
        if isinstance(part, cst.Call) and added_element(part) is not None:
            added.append(part)
            continue
        _port_added(module, added, kind)
        added = []
        if isinstance(part, (cst.List, cst.Tuple, cst.Set)):
            _port_list(module, part, kind, first)
            first = 0
        elif isinstance(part, cst.Call) and (text := _split_text(part)) is not None:
            port_text(module, text, kind)
        elif not kind.host and module.code(part) != "None":
            message = f"the flags of {module.code(part)[:60]} are not seen: they come from elsewhere"
            module.report(part, RULE, message, severity=Severity.INFO, once=message)
    _port_added(module, added, kind)


def port_word(module: Module, node: cst.BaseExpression, kind: Kind) -> None:
    """Translate a flag that stands alone and cannot be dropped."""
    if is_decided(module, node):
        return
    if not is_literal(node):
        _port_choices(module, node, kind)
    for change in _decide(module, [node], kind, False) if word(node) != UNKNOWN else ():
        _write(module, node, change)


def _port_added(module: Module, calls: list[cst.Call], kind: Kind) -> None:
    """Translate flags that are added one by one; the call that adds a flag goes when the flag does."""
    pairs = [(module.parent(call), node) for call in calls if (node := added_element(call)) is not None]
    pairs = [(statement, node) for statement, node in pairs if not is_decided(module, node)]
    can_go = all(isinstance(statement, cst.Expr) for statement, _ in pairs)
    changes = _decide(module, [node for _, node in pairs], kind, can_go)
    removed = {change.position for change in changes if not change.new}
    staying = [pair[0] for position, pair in enumerate(pairs) if position not in removed and pair[0] is not None]
    for change in changes:
        statement, node = pairs[change.position]
        if change.new:
            _write(module, node, change)
        elif statement is not None:
            elements.remove_statement(module, statement, RULE, change.confidence, staying)
    for position, (_, node) in enumerate(pairs):
        if position not in removed and not is_literal(node):
            _port_choices(module, node, kind)


def port_text(module: Module, node: cst.SimpleString, kind: Kind, start: int = 0) -> None:
    """Translate the flags in a string with a command or a part of one, from a position on."""
    text = text_of(module, node)
    if text is None or module.draft.is_claimed(text.start + start):
        return
    matches = list(re.finditer(r"\S+", text.value))
    matches = [match for match in matches if match.start() >= start]
    words = [re.sub(r"\{[^}]*\}|%\w", UNKNOWN, match.group()) for match in matches]
    literal = [match.group() == text for match, text in zip(matches, words, strict=True)]
    for change in _decide_words(module, [node] * len(words), words, literal, kind, True):
        begin, end = matches[change.position].span()
        if not change.new and begin > 0:  # with the space before it
            begin = matches[change.position - 1].end() if change.position else begin
        module.edit(*place(module, text, begin, end), " ".join(change.new), RULE, change.confidence, musa=False)


def _split_text(call: cst.Call) -> cst.SimpleString | None:
    """The string of `"-O3 -g".split()` and `shlex.split("-O3 -g")`."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "split":
        return None
    text = call.args[0].value if call.args else call.func.value
    return text if isinstance(text, cst.SimpleString) else None


def _port_list(module: Module, part: elements.Sequence, kind: Kind, first: int) -> None:
    run: list[cst.BaseElement] = []
    for element in part.elements[first:]:
        if isinstance(element, cst.StarredElement) or is_decided(module, element.value):
            _port_run(module, part, run, kind)
            run = []
        else:
            run.append(element)
    _port_run(module, part, run, kind)


def _port_run(module: Module, part: elements.Sequence, run: list[cst.BaseElement], kind: Kind) -> None:
    """Translate elements that follow each other."""
    nodes = [element.value for element in run]
    can_go = elements.can_remove(part, run)
    gone: list[Change] = []
    for change in _decide(module, nodes, kind, can_go):
        if change.new:
            _write(module, nodes[change.position], change)
        else:
            gone.append(change)
    if gone:
        _remove(module, part, [run[change.position] for change in gone], gone[0].confidence)
    removed = {change.position for change in gone}
    for index, node in enumerate(nodes):
        if index not in removed and not is_literal(node):
            _port_choices(module, node, kind)


def _remove(module: Module, part: elements.Sequence, gone: list[cst.BaseElement], confidence: str) -> None:
    """Remove elements, and what added them to a list when all of them go."""
    is_all = len(gone) == len(part.elements)
    if is_all and (statement := _adding(module, part)) is not None:
        elements.remove_statement(module, statement, RULE, confidence)
    elif not is_all or not elements.remove_operand(module, part, RULE, confidence):
        elements.remove(module, part, gone, RULE, confidence)


def _adding(module: Module, part: elements.Sequence) -> cst.CSTNode | None:
    """The statement on one line that adds a list to another one: `args += [...]`, `args.extend([...])`."""
    parent = module.parent(part)
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    statement = module.parent(call) if isinstance(call, cst.Call) and added_element(call) is None else parent
    is_adding = isinstance(statement, cst.AugAssign) or (isinstance(statement, cst.Expr) and statement is not parent)
    return statement if is_adding and statement is not None and "\n" not in module.code(statement) else None


def _port_choices(module: Module, node: cst.BaseExpression, kind: Kind) -> None:
    """A flag that comes from a name, or one of several: `"-O0" if debug else "--use_fast_math"`."""
    if isinstance(node, (cst.Name, cst.Attribute, cst.IfExp, cst.BooleanOperation, cst.Subscript)):
        for value in flow(module).values(node):
            if is_literal(value):
                port_word(module, value, kind)


def _write(module: Module, node: cst.BaseExpression, change: Change) -> None:
    """Write words in the place of one literal, in its quotes."""
    text = text_of(module, node)
    if text is not None and isinstance(node, cst.SimpleString):
        new = f"{node.quote}, {node.prefix}{node.quote}".join(change.new)
        module.edit(*place(module, text, 0), new, RULE, change.confidence, musa=False)


# ---- deciding ---------------------------------------------------------------------------------------------------


def _decide(module: Module, nodes: Sequence[cst.BaseExpression], kind: Kind, can_go: bool) -> list[Change]:
    """What the tables change in a list of expressions."""
    words, literal = [word(node) for node in nodes], [is_literal(node) for node in nodes]
    return _decide_words(module, nodes, words, literal, kind, can_go)


def _decide_words(
    module: Module,
    nodes: Sequence[cst.CSTNode],
    words: Sequence[str],
    literal: Sequence[bool],
    kind: Kind,
    can_go: bool,
) -> list[Change]:
    """What the tables change; findings are reported, and words that stay are claimed."""
    full = [kind.prefix + (f"{UNKNOWN}{index}" if text == UNKNOWN else text) for index, text in enumerate(words)]
    options = module.options
    changes: list[Change] = []
    known: set[int] = set()
    for entry in flags.translate(full, options.arch, host=kind.host, rename_project_names=options.rename_project_names):
        span = slice(entry.start, entry.start + entry.count)
        plan = _plan(full[span], entry.new, literal[span], can_go)
        if entry.row is not None and list(entry.new) != full[span] and not module.draft.names.allowed(entry.row):
            plan = None
        _say(module, nodes[entry.start], full[span], entry, plan is not None)
        known.update(range(span.start, span.stop))
        confidence = entry.row.confidence if entry.row else ""
        for index, new in enumerate(plan or [None] * entry.count, entry.start):
            if new is not None:
                changes.append(Change(index, tuple(text.removeprefix(kind.prefix) for text in new), confidence))
            elif plan is None or new is None:
                module.claim(nodes[index])
    for index, text in enumerate(full):
        if index not in known and _OF_TOOLKIT.fullmatch(text):
            message = f"{text} is left: it is in no table"
            module.report(nodes[index], RULE, message, name=text, once=message)
    return changes


def _plan(
    old: Sequence[str], new: Sequence[str], literal: Sequence[bool], can_go: bool
) -> list[list[str] | None] | None:
    """For each old word what is written for it, None where it stays; None when the new words cannot be written."""
    written = [text for text in new if text not in old]
    plan: list[list[str] | None] = [None if text in new else [] for text in old]
    if any(UNKNOWN in text for text in written):
        return None
    if written:
        slot = next((i for i, gone in enumerate(plan) if gone is not None and literal[i]), None)
        if slot is None:
            return None
        plan[slot] = written
    return plan if can_go or all(gone is None or gone for gone in plan) else None


def _say(module: Module, node: cst.CSTNode, full: Sequence[str], entry: flags.Translation, is_written: bool) -> None:
    """The finding of a translation, when there is something to say."""
    old, new = (re.sub(r"\$\d*", "...", " ".join(words)) for words in (full, entry.new))
    severity, note = entry.severity, f": {entry.note}" if entry.note else ""
    if not is_written:
        severity = Severity.ERROR if severity is Severity.ERROR else Severity.WARNING
        message = f"{old} is left; it would be {new or 'dropped'}{note}"
    elif old == new:
        message = f"{old} is left{note}"
    else:
        message = (f"{old} became {new}" if new else f"{old} is dropped") + note
    if severity is not None:
        once = f"{message} {module.span(node)[0]}" if severity is Severity.ERROR else message
        changed = new if is_written and old != new else ""
        module.report(node, RULE, message, severity=severity, new=changed, name=old, once=once)
