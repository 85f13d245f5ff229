"""Inline PTX: MUSA has no PTX, so each asm statement names what takes its place."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check, extract
from musa_port.cuda.scan import Scan
from musa_port.cuda.syntax import Role, function_name
from musa_port.cuda.text import closing, forward
from musa_port.mappings import read_table
from musa_port.model import Severity
from musa_port.rules import Rule, register

PTX = register(
    Rule(
        "C30",
        "inline-ptx",
        Severity.ERROR,
        "Reports inline PTX and the builtin or C++ that takes its place; the statement stays.",
        why="There is no PTX on MUSA. Switching a statement off would leave its results undefined.",
        example=('asm volatile("membar.gl;");', 'asm volatile("membar.gl;");'),
        advice="Write the MUSA form by hand, under #ifdef __MUSA__ when the CUDA build must stay.",
        evidence="ptx.csv",
    )
)
STUB = register(
    Rule(
        "C31",
        "ptx-stub",
        Severity.ERROR,
        "With --ptx stub, replaces a PTX statement by a trap, so that the rest compiles and a use cannot pass unseen.",
        why="A statement that is skipped leaves wrong numbers; a trap stops the kernel.",
        example=('asm volatile("membar.gl;");', "__trap() /* musa-port: PTX membar.gl */;"),
        advice="Write the MUSA form by hand before you run the code.",
    )
)


class Statement(NamedTuple):
    """One asm statement: its span up to the closing parenthesis, its text, and where it stands."""

    start: int
    end: int
    text: str
    function: str
    in_macro: bool


class PtxRow(NamedTuple):
    """One family of ptx.csv and the pattern of its instructions."""

    pattern: re.Pattern[str]
    family: str
    replacement: str
    note: str


_QUALIFIER = re.compile(rb"\s*(volatile|__volatile__|goto|inline)\b")
_STRING = re.compile(rb'R"\((.*?)\)"|"((?:[^"\\\n]|\\.|\\\r?\n)*)"', re.S)
_PTX_TYPE = re.compile(r"\.(?:pred|[busf](?:8|16|32|64|128)|b?f16x?2?|e[45]m[23]|tf32)\b")
_DEVICE = re.compile(rb"\b(?:__device__|__global__|threadIdx)\b|\b[A-Z]+_(?:HOST_)?DEVICE\b")
_LABEL = re.compile(r"^(\$?\w+\s*:(?!:)|@!?%?\w+|@!?%\d+|\{|\})\s*")


@extract("asm", words=(b"asm", b"__asm__", b"__asm"))
def find(scan: Scan, start: int, end: int, role: int) -> Statement | None:
    """The statement whose keyword is at `start`."""
    if role not in (Role.CODE, Role.MACRO):
        return None
    position = end
    while match := _QUALIFIER.match(scan.data, position):
        position = match.end()
    opening = forward(scan.data, position)
    if scan.data[opening : opening + 1] != b"(":
        return None
    close = closing(scan.data, opening)
    if close < 0:
        return None
    text = _template(scan.data, opening + 1, close)
    function = "" if role == Role.MACRO else function_name(scan.leaf(start, end))
    return Statement(start, close + 1, text, function, role == Role.MACRO)


def _template(data: bytes, start: int, end: int) -> str:
    """The assembler text: the strings before the first colon outside strings."""
    parts = []
    position = start
    while position < end:
        match = _STRING.match(data, position, end)
        if match:
            parts.append(match.group(1) if match.group(1) is not None else match.group(2))
            position = match.end()
        elif data[position] == 0x3A:
            break
        else:
            position += 1
    text = b"".join(parts).decode("utf-8", "replace")
    return text.replace("\\n", "\n").replace("\\t", " ").replace('\\"', '"').replace("\\\n", "")


@lru_cache(maxsize=1)
def ptx_rows() -> tuple[PtxRow, ...]:
    """The families of ptx.csv that are recognised in assembler text."""
    return tuple(
        PtxRow(re.compile(row["match"]), row["cuda_name"], row["musa_name"], row["note"])
        for row in read_table("ptx")
        if row["match"]
    )


def instructions(text: str) -> list[str]:
    """The instructions of assembler text, without labels, predicates, braces, declarations and comments."""
    found = []
    for line in re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S).replace("\n", ";").split(";"):
        line = line.strip()
        while match := _LABEL.match(line):
            line = line[match.end() :]
        if line and not line.startswith(".") and line not in ("{", "}"):
            found.append(line)
    return found


def family_of(instruction: str) -> PtxRow | None:
    """The row whose pattern matches most of the instruction."""
    best: tuple[int, PtxRow] | None = None
    for row in ptx_rows():
        match = row.pattern.match(instruction)
        if match and (best is None or match.end() > best[0]):
            best = match.end(), row
    return best[1] if best else None


@check(order=55)
def decide(port: Port) -> None:
    """Report the asm statements that hold instructions, once for each function and kind of instruction."""
    if port.names.reverse:
        return
    groups: dict[tuple[str, str], list[Statement]] = {}
    for note in port.facts.notes.get("asm", ()):
        statement = Statement(*note)
        found = instructions(statement.text)
        if port.is_claimed(statement.start) or _is_harmless(port, statement, found):
            continue
        families = ", ".join(_families(found)) or "operands from a macro"
        if port.options.ptx == "stub" and not statement.in_macro:
            _stub(port, statement, found, families)
        else:
            place = statement.function or str(statement.start)
            groups.setdefault((place, families), []).append(statement)
    for (_, families), statements in groups.items():
        first = statements[0]
        count = f" ({len(statements)} statements in {first.function})" if len(statements) > 1 else ""
        _report(port, "inline-ptx", first, families, f"inline PTX: {families}{count}")


def _is_harmless(port: Port, statement: Statement, found: list[str]) -> bool:
    """A compiler barrier, or assembler for the host."""
    if not found and statement.text.strip() == "":
        return True
    if found:
        return not any(family_of(instruction) or _PTX_TYPE.search(instruction) for instruction in found)
    return not _DEVICE.search(port.data)


def _families(found: list[str]) -> dict[str, str]:
    """The families of the instructions, and what takes the place of each."""
    families: dict[str, str] = {}
    for instruction in found:
        row = family_of(instruction)
        families.setdefault(row.family if row else instruction.split()[0], _suggestion(row))
    return families


def _stub(port: Port, statement: Statement, found: list[str], families: str) -> None:
    mnemonics = ", ".join(dict.fromkeys(instruction.split()[0] for instruction in found)) or families
    new = f"__trap() /* musa-port: PTX {mnemonics.replace('*/', '* /')} */"
    port.edit(statement.start, statement.end, new, "ptx-stub")
    _report(port, "ptx-stub", statement, families, f"PTX {families} became a trap", new)


def _suggestion(row: PtxRow | None) -> str:
    if row is None:
        return ""
    if row.replacement == "(drop)":
        text = "leave it out"
    elif row.replacement:
        text = f"use {row.replacement}"
    else:
        text = "no counterpart"
    return f"{text} ({row.note})" if row.note else text


def _report(port: Port, rule: str, statement: Statement, families: str, message: str, new: str = "") -> None:
    suggestions = _families(instructions(statement.text)).items()
    port.report(
        rule,
        statement.start,
        statement.end,
        message,
        advice="; ".join(f"{family}: {text}" for family, text in suggestions if text),
        new=new,
        name=families,
        function=statement.function,
    )
