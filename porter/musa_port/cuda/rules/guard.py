"""Tests of architecture and version numbers, which count on other scales on MUSA."""

from __future__ import annotations

import re

from musa_port.cuda.facts import Word
from musa_port.cuda.port import Port
from musa_port.cuda.registry import check
from musa_port.cuda.syntax import Role
from musa_port.cuda.text import back, forward
from musa_port.mappings import Row
from musa_port.model import Severity
from musa_port.rules import Rule, register

ARCH = register(
    Rule(
        "C20",
        "arch-guard",
        Severity.WARNING,
        "Renames __CUDA_ARCH__ and maps the threshold that it is compared with.",
        why="__MUSA_ARCH__ is 210, 220 or 310: a CUDA number would make the test always false.",
        example=("#if __CUDA_ARCH__ >= 800", "#if __MUSA_ARCH__ >= 220"),
        advice="Check that the branch is right for the architecture; --arch-map changes the table.",
        evidence="arch.csv",
    )
)
VERSION = register(
    Rule(
        "C21",
        "version-guard",
        Severity.WARNING,
        "Keeps the test of a CUDA version and makes it false on MUSA.",
        why="MUSA_VERSION counts 40300, 50100, ...: a CUDA number compared with it would be wrong.",
        example=("#if CUDA_VERSION >= 12080", "#if (!defined(MUSA_VERSION) && CUDA_VERSION >= 12080)"),
        advice="Decide which branch MUSA needs, or give the CUDA level to assume with --cuda-version.",
        evidence="macros.csv",
    )
)
THIRD = register(
    Rule(
        "C22",
        "third-backend",
        Severity.INFO,
        "Reports a guard for AMD or Intel: there is code for a third platform.",
        example=("#if !defined(__HIP_PLATFORM_AMD__)", "#if !defined(__HIP_PLATFORM_AMD__)"),
        advice="Check which of the branches MUSA should take: without the macro it takes the CUDA one.",
    )
)

_ARCH = {"__CUDA_ARCH__": False, "__MUSA_ARCH__": True}
#: Version macros whose MUSA counterpart counts on another scale. (MCCL follows NCCL's numbers.)
_VERSIONS = frozenset(
    "CUDA_VERSION CUDART_VERSION __CUDACC_VER_MAJOR__ __CUDACC_VER_MINOR__ __CUDACC_VER_BUILD__ __CUDACC_VER__ "
    "CUDNN_VERSION CUDNN_MAJOR CUBLAS_VERSION CUBLAS_VER_MAJOR CUTLASS_VERSION".split()
)
_OPERATOR = rb"(>=|<=|==|!=|>(?![>=])|<(?![<=]))"
_OPERAND = rb"(\(?[ \t]*(?:(?:0[xX][0-9a-fA-F]+|\d[\d']*)[uUlL]*|[A-Za-z_]\w*(?:\s*\([^()]*\))?)[ \t]*\)?)"
_RIGHT = re.compile(rb"\)?\s*" + _OPERATOR + rb"\s*" + _OPERAND)
_LEFT = re.compile(_OPERAND + rb"\s*" + _OPERATOR + rb"\s*\(?$")
_THIRD = re.compile(rb"__HIP_PLATFORM_\w+|__HIPCC__|__HIP__|USE_ROCM|SYCL_LANGUAGE_VERSION|__SYCL_DEVICE_ONLY__")


@check(order=30)
def decide(port: Port) -> None:
    """Decide architecture and version macros wherever they are compared."""
    for word in port.facts.words:
        if word.role not in (Role.CODE, Role.MACRO, Role.DIRECTIVE) or port.is_claimed(word.start):
            continue
        name = port.text(word.start, word.end)
        if name in _ARCH and _ARCH[name] == port.names.reverse:
            _arch(port, word, name)
        elif name in _VERSIONS and not port.names.reverse and name not in port.index.defined:
            _version(port, word, name)
    if port.names.reverse:
        _unwrap(port)
    _report_third_backends(port)


_WRAPPED = re.compile(rb"\(!defined\((?:MUSA|MUSART|__MUSACC|MUDNN|MUBLAS|MUTLASS)\w*\) && ([^()\n]+)\)")


def _unwrap(port: Port) -> None:
    """The other way round, a test that a port made false on MUSA becomes what it was."""
    for directive in port.facts.directives:
        for match in _WRAPPED.finditer(port.data, directive.argument, directive.end):
            if not port.is_claimed(match.start()):
                port.edit(*match.span(), port.text(*match.span(1)), "version-guard")


# ---- architecture -----------------------------------------------------------------------------------------------


def _arch(port: Port, word: Word, name: str) -> None:
    target = "__CUDA_ARCH__" if port.names.reverse else "__MUSA_ARCH__"
    comparison = _comparison(port, word)
    if port.options.guards == "report":
        port.claim(word.start, word.end)
        port.use(name, "kept")
        port.report("arch-guard", word.start, word.end, f"{name} is left (--guards report)", name=name)
        return
    port.edit(word.start, word.end, target, "arch-guard", "high")
    port.use(name, "high")
    if comparison is None:
        if not _tests_definition(port, word):
            port.report(
                "arch-guard",
                word.start,
                word.end,
                f"the value of {name} is on another scale on MUSA",
                new=target,
                name=name,
            )
        return
    operator, start, end = comparison
    number = port.text(start, end)
    mapped = _threshold(port, operator, number) if _is_whole(port, word, start, end) else None
    if mapped is not None:
        port.edit(start, end, str(mapped), "arch-guard", "medium")
    message = _arch_message(name, operator, number, mapped)
    first, last = min(word.start, start), max(word.end, end)
    new = port.text(first, last).replace(name, target).replace(number, str(number if mapped is None else mapped))
    port.report("arch-guard", first, last, message, new=new, name=name)


def _threshold(port: Port, operator: str, number: str) -> int | None:
    value = _value(number)
    if operator in ("==", "!=") or value is None:
        return None
    return port.arch.threshold(value, port.names.reverse)


def _value(number: str) -> int | None:
    """The value of a literal, None for anything else."""
    digits = number.replace("'", "").rstrip("uUlL")
    try:
        return int(digits, 16 if digits[:2] in ("0x", "0X") else 10)
    except ValueError:
        return None


def _is_whole(port: Port, word: Word, start: int, end: int) -> bool:
    """Whether the comparison stands alone: nothing multiplies, divides or negates one of its sides."""
    first, last = back(port.data, min(word.start, start)), forward(port.data, max(word.end, end))
    before, after = port.data[max(0, first - 1) : first + 1], port.data[last : last + 2]
    opens = first < 0 or before[-1:] in (b"(", b"!", b"{", b";", b",", b"=", b"?") or before in (b"&&", b"||")
    opens = opens or port.data[before_word(port.data, first) : first + 1] in _CONDITION_WORDS
    closes = after in (b"&&", b"||", b"//", b"/*") or after[:1] in (b")", b"", b"?", b";", b",", b"}", b"{")
    return opens and (closes or b"\n" in port.data[max(word.end, end) : last])


_CONDITION_WORDS = frozenset({b"if", b"elif", b"return", b"while"})


def before_word(data: bytes, last: int) -> int:
    """Where the word begins that ends at `last`."""
    while last >= 0 and chr(data[last]).isalnum():
        last -= 1
    return last + 1


def _arch_message(name: str, operator: str, number: str, mapped: int | None) -> str:
    if mapped is not None:
        return f"{name} {operator} {number}: the threshold became {mapped}"
    if operator in ("==", "!="):
        return f"{name} {operator} {number} names one architecture; the number is left"
    if _value(number) is not None and operator not in ("==", "!="):
        return f"no MUSA architecture matches {number}; the number is left"
    return f"{name} is compared with {number}, whose value has to be mapped by hand"


def _tests_definition(port: Port, word: Word) -> bool:
    """`#ifdef X`, `defined(X)`, `#undef X`: no value is read."""
    before = port.data[max(0, word.start - 24) : word.start]
    return re.search(rb"(defined\s*\(?|#\s*(ifdef|ifndef|undef|define|elifdef|elifndef))\s*$", before) is not None


def _comparison(port: Port, word: Word) -> tuple[str, int, int] | None:
    """The operator and the span of the other operand, on whichever side it stands."""
    match = _RIGHT.match(port.data, word.end)
    if match:
        return match.group(1).decode(), *_trimmed(port.data, match.span(2))
    head = max(0, word.start - 80)
    match = _LEFT.search(port.data[head : word.start])
    if match:
        start, end = match.span(1)
        return _mirrored(match.group(2).decode()), *_trimmed(port.data, (head + start, head + end))
    return None


def _mirrored(operator: str) -> str:
    return operator.translate(str.maketrans("<>", "><"))


def _trimmed(data: bytes, span: tuple[int, int]) -> tuple[int, int]:
    start, end = span
    while start < end and data[start] in b"( \t":
        start += 1
    while end > start and data[end - 1] in b" \t":
        end -= 1
    if data[start:end].count(b")") > data[start:end].count(b"("):
        end = start + data[start:end].rindex(b")")
    return start, end


# ---- versions ---------------------------------------------------------------------------------------------------


def _version(port: Port, word: Word, name: str) -> None:
    row = port.names.find(name)
    if row is None:
        return
    comparison = _comparison(port, word)
    if comparison is None:
        _uncompared(port, word, name)
        return
    operator, start, end = comparison
    port.use(name, "kept")
    is_whole = _is_whole(port, word, start, end) and not _in_parentheses(port, word)
    if word.role != Role.DIRECTIVE or port.options.guards == "report" or not is_whole:
        report_only = word.role == Role.DIRECTIVE and is_whole
        port.claim(word.start, word.end)
        message = f"{name} is compared with a CUDA number and is left as it is"
        severity = Severity.WARNING if report_only else Severity.ERROR
        port.report("version-guard", word.start, word.end, message, severity=severity, name=name)
        return
    _replace_test(port, word, row, operator, (start, end))


def _in_parentheses(port: Port, word: Word) -> bool:
    """`(CUDA_VERSION) >= 12000`: the comparison is not with the word itself."""
    return port.data[forward(port.data, word.end) :][:1] == b")"


def _uncompared(port: Port, word: Word, name: str) -> None:
    """A version macro in a definition test, in arithmetic, or as the value of another macro."""
    if word.role == Role.CODE:
        return  # a value that is printed or stored: a name like any other
    if _tests_definition(port, word):
        if port.options.cuda_version is not None and name in _TOOLKIT and _is_also_compared(port, word, name):
            _assume_defined(port, word)
        elif _is_also_compared(port, word, name):
            port.claim(word.start, word.end)
            port.use(name, "kept")
        return
    port.claim(word.start, word.end)
    port.use(name, "kept")
    message = f"{name} counts on another scale on MUSA and is left as it is"
    port.report("version-guard", word.start, word.end, message, severity=Severity.ERROR, name=name)


_TOOLKIT = ("CUDA_VERSION", "CUDART_VERSION")


def _assume_defined(port: Port, word: Word) -> None:
    """With --cuda-version, `defined(CUDA_VERSION)` is as true as the comparisons beside it assume."""
    start = port.data.rfind(b"defined", 0, word.start)
    end = word.end
    if port.data[start : word.start].rstrip().endswith(b"("):
        end = port.data.index(b")", word.end) + 1
    port.edit(start, end, f"1 /* {port.text(start, end)} */", "version-guard")
    port.use(port.text(word.start, word.end), "kept")


def _replace_test(port: Port, word: Word, row: Row, operator: str, other: tuple[int, int]) -> None:
    start, end = min(word.start, other[0]), max(word.end, other[1])
    test = port.text(start, end)
    if _is_wrapped(port, start, row):
        port.claim(start, end)
        message = f"{test} is false on MUSA"
        port.report("version-guard", start, end, message, severity=Severity.INFO, name=row.cuda)
        return
    assumed, number = port.options.cuda_version, _value(port.text(*other))
    if assumed is not None and row.cuda in _TOOLKIT and number is not None:
        if word.start > other[0]:
            value = _compare(number, _mirrored(operator), assumed)
        else:
            value = _compare(assumed, operator, number)
        new, message = f"{int(value)} /* {test} */", f"{test} became {int(value)} (--cuda-version {assumed})"
    else:
        new = f"(!defined({row.musa}) && {test})"
        message = f"{test} is false on MUSA, so the branch for CUDA is not taken"
    port.edit(start, end, new, "version-guard")
    port.report("version-guard", start, end, message, new=new, name=row.cuda)


def _compare(left: int, operator: str, right: int) -> bool:
    return {
        ">=": left >= right,
        "<=": left <= right,
        "==": left == right,
        "!=": left != right,
        ">": left > right,
        "<": left < right,
    }[operator]


def _is_wrapped(port: Port, start: int, row: Row) -> bool:
    return port.data[: back(port.data, start) + 1].endswith(f"!defined({row.musa}) &&".encode())


def _is_also_compared(port: Port, word: Word, name: str) -> bool:
    """`defined(CUDA_VERSION) && CUDA_VERSION >= 11000`: the two tests must speak of the same macro."""
    if word.role != Role.DIRECTIVE or not _tests_definition(port, word):
        return False
    others = [
        other
        for other in port.facts.words
        if other.start != word.start
        and port.data[other.start : other.end] == name.encode()
        and _comparison(port, other)
    ]
    line = next((d for d in port.facts.directives if d.start <= word.start < d.end), None)
    return line is not None and any(line.start <= other.start < line.end for other in others)


# ---- other platforms --------------------------------------------------------------------------------------------


def _report_third_backends(port: Port) -> None:
    for directive in port.facts.directives:
        if directive.keyword not in ("if", "ifdef", "ifndef", "elif") or port.is_claimed(directive.start):
            continue
        match = _THIRD.search(port.data, directive.argument, directive.end)
        if match:
            name = match.group().decode()
            port.report("third-backend", *match.span(), f"{name}: code for a third platform", name=name, once=name)
