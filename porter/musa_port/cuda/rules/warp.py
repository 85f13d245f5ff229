"""Assumptions that a warp has 32 lanes: true on mp_31, false on mp_21 and mp_22 where it has 128."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from tree_sitter import Node

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check, extract_file
from musa_port.cuda.scan import Scan
from musa_port.cuda.syntax import ancestor, function_name
from musa_port.cuda.text import call_around
from musa_port.cuda.vocabulary import WARP_CONSTANT
from musa_port.model import Severity
from musa_port.rules import Rule, register

WARP = register(
    Rule(
        "C32",
        "warp-size",
        Severity.WARNING,
        "Reports lane arithmetic, full masks and shuffle loops that assume 32 lanes, once for each function.",
        why="mp_21 and mp_22 have warps of 128 lanes; mp_31 has 32.",
        example=("int lane = threadIdx.x & 31;", "int lane = threadIdx.x & 31;"),
        advice="Use warpSize, or keep groups of 32 lanes with an explicit width in the shuffles.",
        evidence="arch.csv",
    )
)


class Assumption(NamedTuple):
    """One number that stands for the warp size: what it is, its span, the function around it."""

    kind: str
    start: int
    end: int
    function: str


_NUMBER = re.compile(rb"(?<![\w.])(0[xX][fF]{8}|0[xX]1[fF]|31|32|16|5)[uUlL]*(?![\w.])")
_DEVICE = re.compile(rb"threadIdx|__shfl|_sync\s*\(|__ballot|laneid|lane_id")
_LANE = re.compile(rb"threadIdx|lane|tid\b|thread_id|thread_idx|warp_id", re.I)
_WARP_CONSTANT = re.compile(WARP_CONSTANT.pattern.encode(), re.I)
_LANE_OPERATORS = {b"&": (b"31", b"0x1f"), b"%": (b"32",), b"/": (b"32",), b">>": (b"5",)}


@extract_file("warp")
def find(scan: Scan) -> list[Assumption]:
    """Number literals that stand for the warp size."""
    if not _DEVICE.search(scan.data) and not _WARP_CONSTANT.search(scan.data):
        return []
    found = []
    for match in _NUMBER.finditer(scan.data):
        leaf = scan.leaf(*match.span())
        kind = _macro_kind(scan, match) if leaf.type == "preproc_arg" else _kind(scan, match, leaf)
        if kind:
            found.append(Assumption(kind, *match.span(), function_name(leaf)))
    return found


def _macro_kind(scan: Scan, match: re.Match[bytes]) -> str:
    line = scan.data[scan.data.rfind(b"\n", 0, match.start()) + 1 : match.start()]
    definition = re.match(rb"\s*#\s*define\s+(\w+)\s+\(?$", line)
    if match.group(1).lower() in (b"32", b"0xffffffff") and definition and _WARP_CONSTANT.search(definition.group(1)):
        return "a constant for the warp size"
    return ""


def _kind(scan: Scan, match: re.Match[bytes], leaf: Node) -> str:
    if leaf.type != "number_literal" or leaf.parent is None:
        return ""
    number = match.group(1).lower()
    if number.startswith(b"0xff"):
        call = call_around(scan.data, match.start(), limit=200)
        if call and call[0].endswith("_sync") and call[1] == 0:
            return "a full 32-lane mask"
    parent = leaf.parent
    if parent.type == "binary_expression":
        return _lane_arithmetic(parent, leaf, number)
    if number in (b"32", b"0xffffffff") and parent.type == "init_declarator" and _WARP_CONSTANT.search(_text(parent)):
        return "a constant for the warp size"
    if number == b"16" and _is_shuffle_loop(leaf):
        return "a loop over 32 lanes"
    return ""


def _lane_arithmetic(expression: Node, leaf: Node, number: bytes) -> str:
    operator = expression.child_by_field_name("operator")
    left = expression.child_by_field_name("left")
    if operator is None or left is None or left == leaf:
        return ""
    if number in _LANE_OPERATORS.get(operator.type.encode(), ()) and _LANE.search(_text(left)):
        return "lane arithmetic"
    return ""


def _is_shuffle_loop(leaf: Node) -> bool:
    loop = ancestor(leaf, "for_statement", "compound_statement")
    if loop is None or loop.type != "for_statement":
        return False
    update, start = loop.child_by_field_name("update"), loop.child_by_field_name("initializer")
    if update is None or start is None or not start.start_byte <= leaf.start_byte < start.end_byte:
        return False
    return re.search(rb">>=|/=|>>|/", _text(update)) is not None


def _text(node: Node) -> bytes:
    return node.text or b""


@check(order=95)
def report(port: Port) -> None:
    """One finding for each function, at its first place."""
    if port.names.reverse:
        return
    groups: dict[str, list[Assumption]] = defaultdict(list)
    for note in port.facts.notes.get("warp", ()):
        groups[note[3]].append(Assumption(*note))
    only_32 = set(port.options.arch) <= {"mp_31"}
    for function, found in groups.items():
        kept = [item for item in found if not port.is_claimed(item.start)]
        if kept:
            kinds = ", ".join(dict.fromkeys(item.kind for item in kept))
            where = f"in {function}" if function else "outside functions"
            lines = list(dict.fromkeys(str(port.lines.number(item.start)) for item in kept))
            places = f"line{'s' if len(lines) > 1 else ''} {', '.join(lines[:12])}{', ...' if len(lines) > 12 else ''}"
            port.report(
                "warp-size",
                kept[0].start,
                kept[0].end,
                f"32 lanes are assumed {where}: {kinds} ({places})",
                severity=Severity.INFO if only_32 else None,
                function=function,
                name=function,
            )
