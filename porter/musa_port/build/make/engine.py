"""Makefiles."""

from __future__ import annotations

import re

from musa_port import languages
from musa_port.build import environment, traces
from musa_port.build.make import compiler, names, sources
from musa_port.build.make.file import MakeFile, MakeText, references
from musa_port.build.make.lexer import Line
from musa_port.draft import Draft
from musa_port.model import Severity
from musa_port.rules import Rule, register

READY = register(
    Rule(
        "B34",
        "make-has-musa",
        Severity.INFO,
        "Leaves a makefile that builds for MUSA already; only sources that this run renames get their new names.",
        why="Whoever wrote it has decided how the project is built for MUSA.",
        example=(
            "ifdef USE_MUSA\nCC = mcc\nelse\nCC = nvcc\nendif",
            "ifdef USE_MUSA\nCC = mcc\nelse\nCC = nvcc\nendif",
        ),
    )
)

_CUDA = re.compile(r"CUDA|NVCC|CUDNN|NCCL|NVIDIA")
_MUSA = re.compile(r"MUSA|(?<![\w-])mcc(?![\w-])|-lmusa")


def port(draft: Draft) -> None:
    """Decide a makefile."""
    file = MakeFile(draft)
    ready = next((line for line in file.lines if _has_musa(file, line)), None)
    if ready is not None:
        place = ready.name if ready.name[1] > ready.name[0] else ready.value
        draft.report("make-has-musa", *place, "the file builds for MUSA and is left alone")
    else:
        compiler.apply(file)
        names.apply(file)
    sources.apply(file)


def notes(data: bytes) -> languages.Notes:
    """The variables that the makefiles of the tree must not rename, and why."""
    file = MakeText(data)
    kept: dict[str, str] = {}
    if any(_has_musa(file, line) for line in file.lines):
        used = file.variables | {name for line in file.lines for name in references(file.text[slice(*line.value)])}
        kept = dict.fromkeys(filter(_CUDA.search, used), "is written for MUSA and keeps it")
    elif reason := compiler.conflict(file):
        kept = {"NVCC": reason}
    return {environment.KEPT: [list(item) for item in sorted(kept.items())]} if kept else {}


def _has_musa(file: MakeText, line: Line) -> bool:
    """Whether the line is there for MUSA: a condition, a variable, or a call of mcc."""
    if line.kind == "condition":
        return _MUSA.search(file.text, *line.value) is not None
    if line.kind == "assignment" and _MUSA.search(file.text, *line.name):
        return True
    return line.kind in ("assignment", "recipe") and any(
        call.program is not None and call.program.text.lstrip("@-+") == "mcc" for call in file.calls(line)
    )


languages.register(
    languages.Language(
        "make",
        "cmake",
        ("Makefile", "makefile", "GNUmakefile", "*.mk", "Makefile.*", "makefile.*"),
        port,
        notes=notes,
        traces=traces.found,
    )
)
