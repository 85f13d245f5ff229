"""C++ and CUDA source inside string literals: ported by the C-family engine, where it stands."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.cuda.engine import port_fragment
from musa_port.draft import Change
from musa_port.lines import Lines
from musa_port.model import Finding
from musa_port.python.module import Module

_ESCAPE = re.compile(rb"\\(?:\r?\n|x[0-9a-fA-F]{2}|[0-7]{1,3}|N\{[^}]*\}|.)", re.S)
_SHOWN = {b"\\n": b" \n", b"\\\\": b" \\", b'\\"': b' "', b"\\'": b" '"}


def port_source(module: Module, node: cst.SimpleString | cst.FormattedString, rule: str) -> None:
    """Port the text of a literal. What an f-string puts in stands for a name; escapes stand for what they mean."""
    start, end = _span(module, node)
    if start == end or module.draft.is_claimed(start):
        return
    content = _content(module, node, start, end)
    inner = port_fragment(module.draft, content)
    module.claim(node)
    for change in inner.changes:
        _apply(module, node, change, start, rule)
    for finding in inner.findings:
        module.draft.findings.append(_moved(module, finding, inner.lines, content, start))
    module.draft.uses.update(inner.uses)


def _span(module: Module, node: cst.SimpleString | cst.FormattedString) -> tuple[int, int]:
    """The text between the quotes."""
    start, end = module.span(node)
    quote = len(node.quote) if isinstance(node, cst.SimpleString) else len(node.end)
    opening = len(node.prefix) + quote if isinstance(node, cst.SimpleString) else len(node.start)
    return start + opening, end - quote


def _content(module: Module, node: cst.SimpleString | cst.FormattedString, start: int, end: int) -> bytes:
    """The source as a compiler would see it, with every byte in its place."""
    content = bytearray(module.draft.data[start:end])
    if isinstance(node, cst.FormattedString):
        for part in node.parts:
            begin, stop = (position - start for position in module.span(part))
            if isinstance(part, cst.FormattedStringExpression):
                content[begin:stop] = re.sub(rb"[^\n]", b"_", bytes(content[begin:stop]))
            else:
                doubled = re.sub(rb"([{}])\1", rb"\1 ", bytes(content[begin:stop]))
                content[begin:stop] = doubled
    if "r" in node.prefix.lower():
        return bytes(content)
    return _ESCAPE.sub(lambda match: _shown(match.group()), bytes(content))


def _shown(escape: bytes) -> bytes:
    return _SHOWN.get(escape, b" " * len(escape))


def _apply(module: Module, node: cst.SimpleString | cst.FormattedString, change: Change, start: int, rule: str) -> None:
    """One edit of the engine, unless the quotes of the literal would not hold it."""
    new = change.new.decode()
    is_long = len(node.quote if isinstance(node, cst.SimpleString) else node.end) == 3
    bad = r"\\" if "r" not in node.prefix.lower() else "(?!)"
    bad += "" if is_long else "|[\"'\\n]"
    bad += r"|[{}]" if isinstance(node, cst.FormattedString) else ""
    if re.search(bad, new):
        old = module.draft.text(start + change.start, start + change.end)
        message = f"{old} is left: it would be {new}, which these quotes cannot hold"
        module.draft.report(rule, start + change.start, start + change.end, message)
    else:
        moved = change._replace(rule=rule, start=start + change.start, end=start + change.end)
        module.draft.changes.append(moved)


def _moved(module: Module, finding: Finding, lines: Lines, content: bytes, start: int) -> Finding:
    """A finding about the source, at its place in the file."""
    begin = lines.start(finding.line)
    text = content[begin:].decode("utf-8", "surrogateescape")[: finding.column - 1]
    line, column = module.draft.lines.position(start + begin + len(text.encode("utf-8", "surrogateescape")))
    return finding._replace(line=line, column=column, source_line=module.draft.lines.text(line))
