"""Small lexers over bytes: words, neighbours, qualified names, calls, macro bodies.

The syntax tree says what a word is; these helpers look around it. They need no error-free tree, so they serve macro
bodies and files with syntax errors alike.
"""

from __future__ import annotations

import re

#: Identifiers; letters outside ASCII belong to them.
WORD = re.compile(rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*")
#: The same, stepping over byte order marks and escapes: in "\\ncudaFree" the name is cudaFree.
SCANNED = re.compile(rb"\xef\xbb\xbf|\\[abfnrtv]|([A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)")
_SPACE = b" \t\r\n\\"
_SKIP = re.compile(rb'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//(?:[^\n\\]|\\[^\n]|\\\n)*|/\*.*?\*/', re.S)
_NEXT_SEGMENT = re.compile(rb"\s*::\s*([A-Za-z_]\w*)")
_LAST_WORD = re.compile(rb"([A-Za-z_]\w*)\s*(?:<[\w\s,:*&]*>)?\s*$")


def back(data: bytes, position: int) -> int:
    """Index of the last byte before `position` that is neither white space nor in a comment, or -1."""
    position -= 1
    while position >= 0:
        byte = data[position]
        if byte == 0x0A:
            position = _line_end(data, position)
        elif byte in _SPACE:
            position -= 1
        elif byte == 0x2F and position > 2 and data[position - 1] == 0x2A:
            position = data.rfind(b"/*", 0, position - 1) - 1
        else:
            return position
    return -1


def _line_end(data: bytes, newline: int) -> int:
    """Index of the last byte of the line that ends at `newline` and is not in a `//` comment."""
    start = data.rfind(b"\n", 0, newline) + 1
    comment = data.find(b"//", start, newline)
    while comment >= 0:
        if data.count(b'"', start, comment) % 2 == 0:
            return comment - 1
        comment = data.find(b"//", comment + 2, newline)
    return newline - 1


def forward(data: bytes, position: int) -> int:
    """Index of the first byte from `position` that is no white space (`len(data)` at the end)."""
    while position < len(data) and data[position] in _SPACE:
        position += 1
    return position


def is_member(data: bytes, start: int) -> bool:
    """Whether the word at `start` follows `.` or `->`."""
    last = back(data, start)
    if last < 0:
        return False
    if data[last] == 0x2E:  # '.', but not the dots of '...'
        return data[last - 1 : last] != b"."
    return data[last] == 0x3E and data[last - 1 : last] == b"-"


def path_at(data: bytes, start: int, end: int) -> tuple[list[tuple[int, int]], bool]:
    """The segments of the qualified name around a word, and whether its head is known.

    `at::cuda::X` gives three spans. The head is unknown when the name continues to the left in something that is no
    identifier, as in `Foo<T>::X`.
    """
    spans = [(start, end)]
    known = True
    while True:
        colon = back(data, spans[0][0])
        if colon < 1 or data[colon - 1 : colon + 1] != b"::":
            break
        last = back(data, colon - 1)
        begin = last
        while begin >= 0 and (chr(data[begin]).isalnum() or data[begin] == 0x5F):
            begin -= 1
        if begin == last:
            known = last < 0 or data[last] != 0x3E
            break
        if last < colon - 2 and data[colon + 1] not in _SPACE:
            break  # `inline ::name`: a keyword or a type before a name that begins with `::`
        spans.insert(0, (begin + 1, last + 1))
    while match := _NEXT_SEGMENT.match(data, spans[-1][1]):
        spans.append(match.span(1))
    return spans, known


def call_around(data: bytes, start: int, limit: int = 2000) -> tuple[str, int] | None:
    """The call whose argument list holds `start`: (callee, index of the argument), or None.

    Walks left over balanced brackets and literals, at most `limit` bytes.
    """
    depth = commas = 0
    position = start - 1
    floor = max(0, start - limit)
    while position >= floor:
        byte = data[position]
        if byte in b")]}":
            depth += 1
        elif byte in b"([{":
            if depth == 0:
                match = _LAST_WORD.search(data, max(floor, position - 200), position) if byte == 0x28 else None
                return (match.group(1).decode("ascii", "replace"), commas) if match else None
            depth -= 1
        elif byte == 0x22:
            position = _open_quote(data, position, floor)
        elif byte == 0x2C and depth == 0:
            commas += 1
        elif byte == 0x3B and depth == 0:
            return None
        position -= 1
    return None


def _open_quote(data: bytes, close: int, floor: int) -> int:
    position = data.rfind(b'"', floor, close)
    while position > floor and data[position - 1] == 0x5C:
        position = data.rfind(b'"', floor, position)
    return max(position, floor)


def closing(data: bytes, opening: int) -> int:
    """Index of the bracket that closes the one at `opening`, or -1. Literals and comments are skipped."""
    pairs = {0x28: 0x29, 0x5B: 0x5D, 0x7B: 0x7D}
    want = [pairs[data[opening]]]
    position = opening + 1
    while position < len(data):
        byte = data[position]
        if byte in b"\"'/":
            match = _SKIP.match(data, position)
            if match:
                position = match.end()
                continue
        if byte in pairs:
            want.append(pairs[byte])
        elif byte in b")]}":
            if byte != want.pop():
                return -1
            if not want:
                return position
        position += 1
    return -1


def literal_spans(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Strings, characters and comments between `start` and `end`, which is code."""
    spans = []
    position = start
    while match := _SKIP.search(data, position, end):
        spans.append(match.span())
        position = match.end()
    return spans


def split_arguments(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the top-level comma-separated arguments between `start` and `end`, trimmed."""
    spans = []
    begin = position = start
    while position < end:
        byte = data[position]
        if byte in b"\"'/" and (match := _SKIP.match(data, position, end)):
            position = match.end()
            continue
        if byte in b"([{":
            close = closing(data, position)
            position = close if 0 <= close < end else position
        elif byte == 0x2C:
            spans.append((begin, position))
            begin = position + 1
        position += 1
    spans.append((begin, end))
    return [_trim(data, span) for span in spans]


def _trim(data: bytes, span: tuple[int, int]) -> tuple[int, int]:
    start = forward(data, span[0])
    return (start, back(data, span[1]) + 1) if start < span[1] else (span[1], span[1])
