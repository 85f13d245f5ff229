"""`x.f<N>(...)` where the type of x depends on a template parameter: the MUSA compiler wants `x.template f<N>`."""

from __future__ import annotations

import re
from typing import NamedTuple

from tree_sitter import Node

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check, extract_file
from musa_port.cuda.scan import Scan
from musa_port.cuda.syntax import ancestor, function_name
from musa_port.model import Severity
from musa_port.rules import Rule, register

KEYWORD = register(
    Rule(
        "C54",
        "template-keyword",
        Severity.INFO,
        "Adds the keyword `template` in member template calls on objects of dependent type.",
        why="The MUSA compiler is built on clang, which follows the standard here; nvcc accepts the call without it.",
        example=(
            "template <typename T>\n__device__ T f(T x) {\n  using R = Reduce<T>;\n  return R().Sum<4>(x);\n}",
            "template <typename T>\n__device__ T f(T x) {\n  using R = Reduce<T>;\n  return R().template Sum<4>(x);\n}",
        ),
        advice="When the compiler complains, write `.template name<...>(...)`.",
        evidence="thrust_cub.csv",
    )
)


class Call(NamedTuple):
    """A member template call inside a template; `verdict` is dependent or unknown."""

    start: int
    end: int
    verdict: str
    function: str


_CALL = re.compile(rb"(?:\.|->)\s*([A-Za-z_]\w*)\s*<(?![<=])")
_WORD = re.compile(rb"[A-Za-z_]\w*")


@extract_file("template-call")
def find(scan: Scan) -> list[Call]:
    """Member template calls whose object has, or may have, a dependent type."""
    if b"template" not in scan.data:
        return []
    found = []
    for match in _CALL.finditer(scan.data):
        leaf = scan.leaf(*match.span(1))
        if leaf.type not in ("field_identifier", "identifier") or not _is_call(scan.data, match.end() - 1):
            continue
        verdict = _verdict(leaf, scan.data, match.start())
        if verdict:
            found.append(Call(*match.span(1), verdict, function_name(leaf)))
    return found


def _is_call(data: bytes, opening: int) -> bool:
    """Whether the `<` at `opening` closes with `>` before a `(`, over simple template arguments."""
    return re.match(rb"<[\w\s,:*&<>()+\-]*?>\s*\(", data[opening : opening + 200]) is not None


def _verdict(leaf: Node, data: bytes, dot: int) -> str:
    template = ancestor(leaf, "template_declaration")
    if template is None:
        return ""
    parameters = _parameters(template)
    head = _object_head(data, dot)
    if not parameters or head is None:
        return ""
    if head in parameters:
        return "dependent"
    declaration = _declaration_of(head, template)
    if declaration is None or declaration == b"auto":
        return "" if head == b"this" else "unknown"
    return "dependent" if _depends(declaration, parameters, template, 0) else ""


def _parameters(template: Node) -> set[bytes]:
    names: set[bytes] = set()
    node: Node | None = template
    while node is not None:
        listing = node.child_by_field_name("parameters")
        if listing is not None:
            for parameter in listing.named_children:
                words = _WORD.findall((parameter.text or b"").split(b"=")[0])
                names.update(words[-1:])
        node = ancestor(node, "template_declaration")
    return names


def _object_head(data: bytes, dot: int) -> bytes | None:
    """The identifier that the object expression before the dot begins with: `R` in `R(s)`, `x` in `x[i]`."""
    position = dot - 1
    while position >= 0:
        byte = data[position]
        if byte in b")]":
            depth = 1
            while depth and position > 0:
                position -= 1
                depth += (data[position] in b")]") - (data[position] in b"([")
            position -= 1
        elif byte in b" \t\r\n":
            position -= 1
        else:
            break
    end = position + 1
    while position >= 0 and (chr(data[position]).isalnum() or data[position] == 0x5F):
        position -= 1
    word = data[position + 1 : end]
    if not word or data[position : position + 1] in (b".", b">", b":"):
        return None
    return word


def _declaration_of(name: bytes, template: Node) -> bytes | None:
    """The text of the type that `name` is declared with inside the template, if it is declared there."""
    text = template.text or b""
    word = re.escape(name)
    alias = re.search(rb"\busing\s+" + word + rb"\s*=\s*([^;]+);", text)
    if alias:
        return alias.group(1)
    for match in re.finditer(rb"\b" + word + rb"\s*[;,=({\[)]", text):
        before = _TYPE_BEFORE.search(text[max(0, match.start() - 200) : match.start()])
        if before and before.group(1) not in (b"return", b"else", b"throw", b"case"):
            return before.group(1)
    return None


_TYPE_BEFORE = re.compile(rb"([A-Za-z_][\w:]*(?:\s*<[^;{}()]*>)?(?:::\w+)*)[\s&*]+$")


def _depends(declaration: bytes, parameters: set[bytes], template: Node, depth: int) -> bool:
    words = set(_WORD.findall(declaration))
    if words & parameters:
        return True
    if depth > 4:
        return False
    inner = (_declaration_of(word, template) for word in words if word not in (b"typename", b"const", b"auto"))
    return any(found is not None and _depends(found, parameters, template, depth + 1) for found in inner)


@check(order=80)
def decide(port: Port) -> None:
    """Insert the keyword, or report what cannot be told."""
    if port.names.reverse:
        return
    for note in port.facts.notes.get("template-call", ()):
        call = Call(*note)
        if port.is_claimed(call.start):
            continue
        name = port.text(call.start, call.end)
        if call.verdict == "dependent":
            port.edit(call.start, call.start, "template ", "template-keyword")
            new, message = f"template {name}", f"{name} is a member template of a dependent type"
        else:
            new, message = "", f"{name} may need the keyword template: the type of its object is not declared here"
        port.report(
            "template-keyword", call.start, call.end, message, new=new, function=call.function, name=name, once=name
        )
