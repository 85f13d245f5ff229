"""From the bytes of one file to its facts: one parse, one walk over its words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from musa_port.cuda import registry, syntax
from musa_port.cuda.facts import Directive, Facts, Local, Macro, Word
from musa_port.cuda.syntax import Role
from musa_port.cuda.text import SCANNED, WORD, back, forward, literal_spans
from musa_port.cuda.vocabulary import Vocabulary

_DIRECTIVE = re.compile(rb"^(?:\xef\xbb\xbf)?(?:[ \t]|/\*[^\n]*?\*/)*#[ \t]*([a-z_]+)((?:[^\n\\]|\\\r?\n|\\)*)", re.M)
_DEFINE = re.compile(rb"\s*([A-Za-z_]\w*)(\(([^)]*)\))?")
#: A macro that makes text of its argument, which other files may give an API name.
_STRINGISING = re.compile(rb"#[ \t]*define[ \t]+\w+\([^)\n]*\)(?:[^\n\\#]|\\\r?\n|\\)*(?<!#)#(?!#)")
_FREE_TEXT = frozenset({"error", "warning", "line", "ident"})


class Scan:
    """One file while its tree exists."""

    def __init__(self, data: bytes, vocabulary: Vocabulary) -> None:
        self.data = data
        self.vocabulary = vocabulary
        self.root: Node = syntax.parse(data).root_node
        self.facts = Facts(parsed=True)
        self.open_comment = self._open_comment()
        self.facts.directives = list(self._directives())

    def leaf(self, start: int, end: int) -> Node:
        """The smallest node that covers the span."""
        return self.root.descendant_for_byte_range(start, end) or self.root

    def _open_comment(self) -> int:
        """Where a comment begins that is never closed: the grammar takes the rest of the file for code."""
        start = self.data.rfind(b"/*")
        if start < 0 or start < self.data.rfind(b"*/") or self.leaf(start, start + 2).type in _OPAQUE:
            return len(self.data)
        return start

    def _directives(self) -> Iterator[Directive]:
        for match in _DIRECTIVE.finditer(self.data):
            hash_at = self.data.rindex(b"#", match.start(), match.start(1))
            if self.leaf(hash_at, hash_at + 1).type not in _OPAQUE:
                yield Directive(match.group(1).decode(), hash_at, match.start(2), match.end())

    def note(self, key: str, value: object) -> None:
        self.facts.notes.setdefault(key, []).append(value)


_OPAQUE = frozenset({"comment", "string_literal", "string_content", "raw_string_literal", "raw_string_content"})


def scan(data: bytes, vocabulary: Vocabulary) -> Facts:
    """The facts of one file. A file without a word of the vocabulary is not parsed."""
    knows = vocabulary.knows
    spans = [match.span() for match in SCANNED.finditer(data) if knows[match[1] or b""]]
    if not spans and not _STRINGISING.search(data):
        return Facts()
    state = Scan(data, vocabulary)
    for directive in state.facts.directives:
        if directive.keyword == "define":
            _note_macro(state, directive)
    _walk(state, spans)
    for key, extractor in registry.file_extractors:
        for value in extractor(state):
            state.note(key, value)
    state.facts.error_at = _error_place(state.root, len(data))
    return state.facts


def _walk(state: Scan, spans: list[tuple[int, int]]) -> None:
    """Give each candidate word its role, and hand the extractors' words to them."""
    directives = iter([*state.facts.directives, Directive("", len(state.data) + 1, 0, len(state.data) + 2)])
    directive = next(directives)
    literals: list[tuple[int, int]] | None = None
    for start, end in spans:
        while directive.end <= start:
            directive, literals = next(directives), None
        if directive.start <= start:
            if literals is None:
                literals = literal_spans(state.data, directive.argument, directive.end)
            role = _directive_role(state, directive, literals, start)
            if role is None:
                continue
        else:
            role = _code_role(state, start, end)
        word = state.data[start:end]
        if state.vocabulary.is_candidate(word):
            state.facts.words.append(Word(start, end, int(role)))
            _index(state, word, start, role)
        for key, extractor in registry.word_extractors.get(word, ()):
            value = extractor(state, start, end, int(role))
            if value is not None:
                state.note(key, value)


def _directive_role(state: Scan, directive: Directive, literals: list[tuple[int, int]], start: int) -> Role | None:
    if directive.keyword in ("include", "include_next", "import"):
        return None
    for begin, end in literals:
        if begin <= start < end:
            return Role.STRING if state.data[begin] in b"\"'" else Role.COMMENT
    if directive.keyword in _FREE_TEXT:
        return Role.STRING
    if directive.keyword == "pragma" and not state.vocabulary.is_exact(state.data, start):
        return None
    if directive.keyword == "define":
        match = _DEFINE.match(state.data, directive.argument)
        return Role.DIRECTIVE if match and start < match.end(1) else Role.MACRO
    return Role.DIRECTIVE


def _code_role(state: Scan, start: int, end: int) -> Role:
    if start > state.open_comment:
        return Role.COMMENT
    role = syntax.role_of(state.leaf(start, end))
    if role in _DECLARING and not _may_be_declared(state.data, start, end):
        role = Role.CODE
    if role is Role.PROTOTYPE and _scope(state, start, end):
        role = Role.DEFINES  # only at global scope does a prototype repeat the API's own
    # A macro body that the directive lexer did not see: text that the grammar took for one.
    return Role.CODE if role is Role.MACRO else role


#: Roles of declared names: in text that the grammar does not understand, it gives them to other words too.
_DECLARING = frozenset({Role.FIELD, Role.DECLARES, Role.PROTOTYPE})
_NOT_TYPES = frozenset(b"return throw case else new delete goto sizeof typename struct".split())


def _may_be_declared(data: bytes, start: int, end: int) -> bool:
    """Whether the tokens around a name allow that it is declared there: a type before it, no word or scope after it."""
    after = forward(data, end)
    if data[after : after + 2] == b"::" or data[after : after + 1] == b"<" or WORD.match(data, after):
        return False
    before = back(data, start)
    if before < 0 or data[before] in b"*&>,:":
        return before >= 0
    word = _LAST_WORD.search(data, max(0, before - 60), before + 1)
    return word is not None and word.group() not in _NOT_TYPES


_LAST_WORD = re.compile(rb"[A-Za-z_]\w*$")


def _index(state: Scan, word: bytes, start: int, role: Role) -> None:
    name = word.decode()
    facts = state.facts
    if role is Role.DEFINES and not _renames_sdk_type(state, word, start):
        scope = _scope(state, start, start + len(word))
        if scope:
            facts.scoped.add(f"{scope}::{name}")
        else:
            facts.defined.add(name)
    elif role is Role.DECLARES:
        _note_local(state, name, start)
    elif role is Role.PROTOTYPE:
        facts.prototypes.add(name)
    elif role is Role.FIELD:
        facts.fields.add(name)
    elif role is Role.NAMESPACE:
        facts.namespaces.add(_namespace_path(state, start, name))


def _scope(state: Scan, start: int, end: int) -> str:
    """The path of the namespace around a word, "" at global scope. An unnamed namespace counts as none."""
    parts: list[str] = []
    node: Node | None = state.leaf(start, end)
    while node is not None and (node := syntax.ancestor(node, "namespace_definition")) is not None:
        field = node.child_by_field_name("name")
        if field is not None and field.text:
            parts.insert(0, field.text.decode("utf-8", "replace"))
    return "::".join(parts)


def _note_local(state: Scan, name: str, start: int) -> None:
    """A local variable or parameter has its name to itself in the block, or the function, that it is declared in."""
    state.facts.variables.add(name)
    leaf = state.leaf(start, start + len(name))
    block = syntax.ancestor(leaf, "compound_statement", "lambda_expression", "function_definition", "for_statement")
    if block is not None:
        state.facts.locals.append(Local(name, block.start_byte, block.end_byte))


def _renames_sdk_type(state: Scan, word: bytes, start: int) -> bool:
    """`typedef struct CUstream_st* cudaStream_t;` repeats the SDK's own declaration: both names move."""
    names = state.vocabulary.names
    if word.decode() not in names.identifiers:
        return False
    target = syntax.aliased_type(state.leaf(start, start + len(word)))
    return any(match.group().decode() in names.identifiers for match in WORD.finditer(target.encode()))


def _namespace_path(state: Scan, start: int, name: str) -> str:
    """The full path of the namespace whose name is at `start`."""
    parts = [name]
    node = state.leaf(start, start + len(name))
    while (node := syntax.ancestor(node, "namespace_definition")) is not None:  # type: ignore[assignment]
        field = node.child_by_field_name("name")
        if field is not None and field.text and field.start_byte != start:
            text = field.text.decode("utf-8", "replace")
            if field.start_byte < start < field.end_byte:
                parts[0] = text[: start - field.start_byte + len(name)]
            else:
                parts.insert(0, text)
    return "::".join(parts)


def _note_macro(state: Scan, directive: Directive) -> None:
    match = _DEFINE.match(state.data, directive.argument)
    if match is None:
        return
    name = match.group(1).decode()
    parameters = None
    if match.group(2) is not None:
        parameters = tuple(part.strip().decode("utf-8", "replace") for part in match.group(3).split(b","))
    body = _body(state.data, match.end(), directive.end)
    kind = state.vocabulary.macro_kind(name, body)
    if state.vocabulary.is_candidate(match.group(1)):
        state.facts.macros.append(Macro(name, kind, parameters, directive.start, directive.end))
    elif b"#" in body:
        state.facts.macros.append(Macro(name, "definition", parameters, directive.start, directive.end))


def _body(data: bytes, start: int, end: int) -> bytes:
    body = bytearray(data[start:end])
    for begin, stop in literal_spans(data, start, end):
        if data[begin : begin + 2] in (b"//", b"/*"):
            body[begin - start : stop - start] = b" " * (stop - begin)
    return bytes(body.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").strip())


def _error_place(root: Node, size: int) -> int:
    """Where the grammar first fails, when it fails on a good part of the file; else -1."""
    if not root.has_error:
        return -1
    errors: list[tuple[int, int]] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_error:
            errors.append((node.start_byte, node.end_byte))
        elif node.has_error:
            pending.extend(node.children)
    lost = sum(end - start for start, end in errors)
    return min(errors)[0] if errors and lost * _NOTABLE_ERROR >= size else -1


#: A file is reported when the grammar does not understand one byte in this many.
_NOTABLE_ERROR = 20
