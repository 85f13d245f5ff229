"""String literals: text stays, except where a string is a name that somebody looks up."""

from __future__ import annotations

import re

from musa_port.cuda.facts import Word
from musa_port.cuda.port import Port
from musa_port.cuda.registry import check
from musa_port.cuda.rules.name import is_in_address
from musa_port.cuda.syntax import Role
from musa_port.cuda.text import call_around
from musa_port.model import Severity
from musa_port.rules import Rule, register

TEXT = register(
    Rule(
        "C40",
        "name-in-text",
        Severity.INFO,
        "Lists API names in string literals; the text is left (see --strings).",
        why="Messages, paths and test names are read by people and by other programs.",
        example=('log("cudaMalloc failed");', 'log("cudaMalloc failed");'),
    )
)
ENVIRONMENT = register(
    Rule(
        "C41",
        "environment-variable",
        Severity.INFO,
        "Renames the environment variable that getenv, setenv and their relatives look up.",
        example=('getenv("CUDA_HOME")', 'getenv("MUSA_HOME")'),
        evidence="env.csv",
    )
)
SYMBOL = register(
    Rule(
        "C42",
        "symbol-lookup",
        Severity.INFO,
        "Renames the API name in a string that is looked up in a shared library.",
        example=('dlsym(h, "cuInit")', 'dlsym(h, "muInit")'),
    )
)
LIBRARY = register(
    Rule(
        "C43",
        "library-name",
        Severity.INFO,
        "Renames the shared library that dlopen and its relatives open.",
        example=('dlopen("libcuda.so.1", RTLD_LAZY)', 'dlopen("libmusa.so.1", RTLD_LAZY)'),
        evidence="libraries.csv",
    )
)

#: Function -> index of the argument that is the name.
_ENVIRONMENT = dict.fromkeys("getenv secure_getenv setenv unsetenv putenv _putenv_s".split(), 0) | {
    "GetEnvironmentVariable": 0,
    "GetEnvironmentVariableA": 0,
    "SetEnvironmentVariableA": 0,
    "getenv_s": 2,
    "_dupenv_s": 2,
}
_SYMBOLS = {
    "dlsym": 1,
    "dlvsym": 1,
    "GetProcAddress": 1,
    "cuGetProcAddress": 0,
    "cuGetProcAddress_v2": 0,
    "cudaGetDriverEntryPoint": 0,
    "cudaGetDriverEntryPointByVersion": 0,
    "muGetProcAddress": 0,
    "musaGetDriverEntryPoint": 0,
}
_LIBRARIES = dict.fromkeys("dlopen LoadLibrary LoadLibraryA LoadLibraryEx LoadLibraryExA".split(), 0)


@check(order=50)
def decide(port: Port) -> None:
    """Decide each candidate word in a string."""
    for word in port.facts.words:
        if word.role == Role.STRING and not port.is_claimed(word.start):
            _decide(port, word)


def _decide(port: Port, word: Word) -> None:
    span = _literal(port.data, word)
    content = port.text(*span)
    callee, argument = call_around(port.data, span[0] - 1) or ("", -1)
    if _ENVIRONMENT.get(callee) == argument and content in port.names.environment:
        _rename(port, span, content, "environment-variable")
    elif _SYMBOLS.get(callee) == argument and content in port.names.identifiers:
        _rename(port, span, content, "symbol-lookup")
    elif _LIBRARIES.get(callee) == argument and content in port.names.libraries:
        _rename(port, span, content, "library-name")
    else:
        _list(port, word)


def _literal(data: bytes, word: Word) -> tuple[int, int]:
    """The span of the text between the quotes around the word, on its line."""
    start, end = word.start, word.end
    while start > 0 and data[start - 1] not in b'"\n':
        start -= 1
    while end < len(data) and data[end] not in b'"\n':
        end += 1
    return start, end


def _rename(port: Port, span: tuple[int, int], content: str, rule: str) -> None:
    tables = {
        "environment-variable": port.names.environment,
        "symbol-lookup": port.names.identifiers,
        "library-name": port.names.libraries,
    }
    row = tables[rule][content]
    if not row.supported:
        note = f": {row.note}" if row.note else ""
        port.report("unsupported-name", *span, f"{content} has no MUSA counterpart{note}", name=content)
        port.claim(*span)
        return
    port.edit(*span, row.musa, rule, row.confidence)
    if row.note or row.flag:
        message = f"{content} became {row.musa}" + (f": {row.note}" if row.note else "")
        port.report(rule, *span, message, new=row.musa, name=content, once=content)


def _list(port: Port, word: Word) -> None:
    name = port.text(word.start, word.end)
    row = port.names.identifiers.get(name)
    if row is None or row.musa == row.cuda:
        return
    if port.options.strings and is_in_address(port.data, word.start):
        return
    if (
        port.options.strings
        and row.flag != "semantic"
        and row.supported
        and re.fullmatch(r"\w+", row.musa)
        and port.names.allowed(row)
    ):
        port.edit(word.start, word.end, row.musa, "name-in-text", row.confidence)
    else:
        port.report("name-in-text", word.start, word.end, f"{name} in a string is left as it is", name=name, once=name)
