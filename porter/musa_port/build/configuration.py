"""Values in configuration files, by their keys: `device: cuda`, `"backend": "nccl"`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from musa_port.build import environment
from musa_port.build.fragment import Fragment
from musa_port.mappings import read_table
from musa_port.model import Severity
from musa_port.rules import Rule, register

VALUE = register(
    Rule(
        "B61",
        "configuration-value",
        Severity.WARNING,
        "Changes devices and communication libraries in YAML and JSON under keys that name one, and lists the others.",
        why="The program that reads the file is ported in the same run; what other keys mean is known only to it.",
        example=("device: cuda:0\nmode: cuda", "device: musa:0\nmode: cuda"),
        advice="Write musa (mccl for nccl) where the program takes it.",
        evidence="configuration_keys.csv",
    )
)

_SUSPECT = re.compile(r"cuda(:\d+)?(,cuda(:\d+)?)*|nccl|(?:torch\.cuda|apex|xformers)\b[\w.]*|(?:/usr/local|/opt)/cuda(?:[-/][\w./-]*)?")


def value(key: str, text: Fragment) -> bool:
    """Decide the value of a key; whether it is one that CUDA has to do with."""
    for cuda, musa, note in _rows(key):
        pattern = re.compile(rf"\b{cuda}(?=(?::\d+)?(?:,|$))")
        if not re.fullmatch(rf"{cuda}(:\d+)?(,{cuda}(:\d+)?)*", text.text):
            continue
        if not musa:
            _leave(key, text, f": {note}", Severity.WARNING)
        elif environment.stands_beside(text.draft.data, musa):
            _leave(key, text, f": the file knows {musa} as well", Severity.INFO)
        else:
            for match in pattern.finditer(text.text):
                text.edit(*match.span(), musa, "configuration-value", "high")
        return True
    if _SUSPECT.fullmatch(text.text):
        _leave(key, text, "", Severity.INFO)
        return True
    return False


def _rows(key: str) -> Iterator[tuple[str, str, str]]:
    """What the table has for a key: the word of CUDA, what takes its place, and why nothing does."""
    name = key.lower().replace("-", "_").rpartition(".")[2]
    for row in read_table("configuration_keys"):
        if fnmatchcase(name, row["key"]):
            yield row["cuda"], row["musa"], row["note"]


def _leave(key: str, text: Fragment, why: str, severity: Severity) -> None:
    message = f"{key + ': ' if key else ''}{text.text} is left{why}"
    text.report("configuration-value", 0, len(text.text), message, severity=severity, name=text.text)
