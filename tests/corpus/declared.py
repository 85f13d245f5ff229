"""What a tree declares itself, by a simple scan of tokens: enough to tell a project's names from those of the API."""

from __future__ import annotations

from collections.abc import Sequence

from .lexer import Token

_KINDS = frozenset({"struct", "class", "union", "enum", "namespace", "concept"})
#: Attributes and macros may stand between `struct` and the name: `struct __align__(16) Name {`.
_OPENS = frozenset({"{", ":", "final", "<"})
_BUILTIN = frozenset(
    "void bool char short int long signed unsigned float double size_t int32_t int64_t uint32_t uint64_t".split()
)
_ATTRIBUTES = frozenset({"alignas", "__align__", "__attribute__", "__declspec"})


def declared(tokens: Sequence[Token]) -> set[str]:
    """Names that a file defines: macros, types, aliases, enumerators, namespaces, functions with a body,
    and variables, parameters and members of built-in types."""
    names: set[str] = set()
    for index, token in enumerate(tokens):
        if token.text == "define" and index and tokens[index - 1].text == "#":
            names.add(tokens[index + 1].text)
        elif token.text in _KINDS:
            names |= _tagged(tokens, index)
        elif token.text == "typedef":
            names |= _typedef(tokens, index)
        elif token.text == "using" and _text(tokens, index + 2) == "=":
            names.add(tokens[index + 1].text)
        elif token.kind == "word" and (_has_body(tokens, index + 1) or _is_plain_variable(tokens, index)):
            names.add(token.text)
    return names


def _text(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].text if 0 <= index < len(tokens) else ""


def _tagged(tokens: Sequence[Token], index: int) -> set[str]:
    """`struct Name {`, `class Name : Base`, `namespace a::b {`, and the enumerators of an enum."""
    names, position, limit = set(), index + 1, min(index + 24, len(tokens))
    while position < limit and tokens[position].text not in (*_OPENS, ";", "=", ")", ",", ">", "*", "&"):
        if tokens[position].text in _ATTRIBUTES:
            position = _closing(tokens, position + 1, "(", ")")
        position += 1
    if _text(tokens, position) in _OPENS:
        names = {token.text for token in tokens[index + 1 : position] if token.kind == "word"}
    if tokens[index].text == "enum":
        while position < limit and tokens[position].text not in "{;":
            position += 1
        names |= _enumerators(tokens, position)
    return names


def _enumerators(tokens: Sequence[Token], opening: int) -> set[str]:
    if _text(tokens, opening) != "{":
        return set()
    end = _closing(tokens, opening, "{", "}")
    return {
        tokens[index].text
        for index in range(opening + 1, end)
        if tokens[index].kind == "word" and tokens[index - 1].text in "{,"
    }


def _typedef(tokens: Sequence[Token], index: int) -> set[str]:
    """The last word of a typedef, or the name in `(*name)(...)`."""
    last, position = "", index + 1
    while position < len(tokens) and tokens[position].text != ";":
        if tokens[position].text == "{":
            position = _closing(tokens, position, "{", "}")
        elif tokens[position].text == "*" and "(" in (_text(tokens, position - 1), _text(tokens, position - 2)):
            return {_text(tokens, position + 1)}
        elif tokens[position].kind == "word":
            last = tokens[position].text
        position += 1
    return {last}


def _has_body(tokens: Sequence[Token], opening: int) -> bool:
    """Whether the token is a `(` that opens the parameters of a function that is defined here."""
    if _text(tokens, opening) != "(":
        return False
    position = _closing(tokens, opening, "(", ")") + 1
    while _text(tokens, position) in ("const", "noexcept", "override", "final", "&", "&&"):
        position += 1
    return _text(tokens, position) == "{"


def _is_plain_variable(tokens: Sequence[Token], index: int) -> bool:
    """`int name,`, `void* name;` and, after the body of a member of no name, `} name;`."""
    if _text(tokens, index + 1) not in ("=", ";", ",", ")", "["):
        return False
    before = index - 1
    while _text(tokens, before) in ("*", "&", "const"):
        before -= 1
    return _text(tokens, before) in _BUILTIN or (_text(tokens, index - 1) == "}" and _text(tokens, index + 1) == ";")


def _closing(tokens: Sequence[Token], opening: int, left: str, right: str) -> int:
    """Index of the mark that closes the one at `opening`; the last token when there is none."""
    depth = 0
    for index in range(opening, len(tokens)):
        text = tokens[index].text
        depth += (text == left) - (text == right)
        if depth == 0:
            return index
    return len(tokens) - 1
