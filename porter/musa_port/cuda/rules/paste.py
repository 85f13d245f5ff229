"""`##` and `#` in macros: names that the preprocessor builds, and names whose text is used."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check, extract_file
from musa_port.cuda.scan import Scan
from musa_port.cuda.syntax import Role
from musa_port.cuda.text import closing, split_arguments
from musa_port.model import Severity
from musa_port.rules import Rule, register

PASTE = register(
    Rule(
        "C51",
        "token-paste",
        Severity.WARNING,
        "Renames the fixed part of a pasted name when every use in the tree gives a known API name.",
        why="`cuda##f` is no name by itself; renaming it is right only when all the names that it makes move alike.",
        example=("#define CALL(f) cuda##f\nCALL(Free)(p);", "#define CALL(f) musa##f\nCALL(Free)(p);"),
        advice="Rename the pasted names by hand, or split the macro.",
    )
)
STRINGISED = register(
    Rule(
        "C52",
        "stringised-name",
        Severity.INFO,
        "Reports an API name that is renamed and whose text a macro turns into a string.",
        example=("#define S(x) #x\nputs(S(cudaFree));", "#define S(x) #x\nputs(S(musaFree));"),
        advice="The text changes with the name; check who reads it.",
    )
)


class Paste(NamedTuple):
    """`prefix ## parameter ## suffix` in a macro body; the span is that of the prefix, the suffix may be empty."""

    macro: str
    argument: int
    prefix: str
    suffix: str
    start: int
    end: int


class Use(NamedTuple):
    """One use of a macro that pastes: what is given for its parameter."""

    macro: str
    argument: int
    text: str


_PASTED = re.compile(rb"(?<![\w#])([A-Za-z_]\w*)\s*##\s*([A-Za-z_]\w*)(?:\s*##\s*(\w+))?")
_STRINGISED = re.compile(rb"(?<!#)#\s*([A-Za-z_]\w*)")


@extract_file("paste")
def find_pastes(scan: Scan) -> list[Paste]:
    """Pastes with a fixed word before the parameter."""
    found = []
    for macro in scan.facts.macros:
        for match in _PASTED.finditer(scan.data, macro.start, macro.end):
            prefix, parameter = match.group(1).decode(), match.group(2).decode("utf-8", "replace")
            if macro.parameters and parameter in macro.parameters and prefix not in macro.parameters:
                argument = macro.parameters.index(parameter)
                suffix = (match.group(3) or b"").decode("utf-8", "replace")
                if suffix not in macro.parameters:
                    found.append(Paste(macro.name, argument, prefix, suffix, *match.span(1)))
    return found


@extract_file("stringise")
def find_stringised(scan: Scan) -> list[tuple[str, int]]:
    """(macro, index of the parameter) for each parameter that a macro turns into text."""
    found = []
    for macro in scan.facts.macros:
        body = scan.data.find(b")", macro.start, macro.end)
        for match in _STRINGISED.finditer(scan.data, max(body, macro.start + 1), macro.end):
            name = match.group(1).decode("utf-8", "replace")
            if macro.parameters and name in macro.parameters:
                found.append((macro.name, macro.parameters.index(name)))
    return found


def uses_in(data: bytes, macros: frozenset[str]) -> list[Use]:
    """Every use of the macros in a file, other than their definitions."""
    if not any(name.encode() in data for name in macros):
        return []
    pattern = re.compile(rb"(?<!\w)(" + b"|".join(re.escape(name.encode()) for name in sorted(macros)) + rb")\s*\(")
    found = []
    for match in pattern.finditer(data):
        line = data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        close = closing(data, match.end() - 1)
        if close < 0 or re.search(rb"#\s*define\s+$", line):
            continue
        for index, span in enumerate(split_arguments(data, match.end(), close)):
            found.append(Use(match.group(1).decode(), index, data[slice(*span)].decode("utf-8", "replace")))
    return found


@check(order=40)
def decide_pastes(port: Port) -> None:
    """Rename the fixed part of a paste, or report it."""
    uses: list[Use] = port.index.notes.get("paste-uses", [])
    for note in port.facts.notes.get("paste", ()):
        paste = Paste(*note)
        if port.is_claimed(paste.start) or not _is_family_word(port, paste.prefix):
            continue
        given = {use.text for use in uses if use.macro == paste.macro and use.argument == paste.argument}
        made = {text + paste.suffix for text in given}
        target = _common_target(port, paste.prefix, made)
        if target is None:
            port.claim(paste.start, paste.end)
            message = f"{paste.macro} pastes {paste.prefix}##...; {_reason(port, paste.prefix, made)}"
            port.report("token-paste", paste.start, paste.end, message, name=paste.macro)
        else:
            port.edit(paste.start, paste.end, target, "token-paste", "medium")


def _is_family_word(port: Port, prefix: str) -> bool:
    families = port.names.families.get(prefix[0], ())
    is_prefix = any(prefix in (family.prefix, family.prefix.rstrip("_")) for family in families)
    return is_prefix or (port.names.suspect(prefix) and not port.index.declares(prefix))


def _common_target(port: Port, prefix: str, given: set[str]) -> str | None:
    """What takes the place of the prefix, when all pasted names agree."""
    targets = set()
    for text in given:
        row = port.names.find(prefix + text)
        if row is None or not row.supported or not row.musa.endswith(text) or not port.names.allowed(row):
            return None
        targets.add(row.musa[: len(row.musa) - len(text)])
    return targets.pop() if len(targets) == 1 else None


def _reason(port: Port, prefix: str, given: set[str]) -> str:
    if not given:
        return "no use of it was found in the tree"
    unknown = sorted(text for text in given if port.names.find(prefix + text) is None)
    return f"{prefix}{unknown[0]} is no known API name" if unknown else "the names it makes do not move alike"


@check(order=45)
def report_stringised(port: Port) -> None:
    """Report API names in arguments that a macro makes text of, once for each macro."""
    wanted: set[tuple[str, int]] = set(port.index.notes.get("stringise", ()))
    present = [name.encode() for name in {macro for macro, _ in wanted} if name.encode() in port.data]
    if not present or not port.facts.words:
        return
    pattern = re.compile(rb"(?<!\w)(" + b"|".join(map(re.escape, present)) + rb")\s*\(")
    for match in pattern.finditer(port.data):
        close = closing(port.data, match.end() - 1)
        macro = match.group(1).decode()
        if close < 0:
            continue
        for index, span in enumerate(split_arguments(port.data, match.end(), close)):
            if (macro, index) in wanted:
                _report_names(port, macro, *span)


def _report_names(port: Port, macro: str, start: int, end: int) -> None:
    for word in port.facts.words[bisect_left(port.facts.words, (start,)) :]:
        if word.start >= end:
            return
        name = port.text(word.start, word.end)
        row = port.names.identifiers.get(name)
        if word.role not in (Role.CODE, Role.MACRO) or row is None or row.musa == row.cuda or not row.supported:
            continue
        if not port.is_claimed(word.start) and not port.index.declares(name):
            message = f"{macro} makes text of its argument, which changes with the name {name}"
            port.report("stringised-name", word.start, word.end, message, new=row.musa, name=name, once=macro)
