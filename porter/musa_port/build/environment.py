"""Names of environment variables: which are renamed in a file, by env.csv."""

from __future__ import annotations

import re
from functools import lru_cache

from musa_port.build.fragment import Fragment
from musa_port.draft import Draft
from musa_port.mappings import Row
from musa_port.model import Severity
from musa_port.names import BUILD_FLAGS
from musa_port.rules import Rule, register

NAME = register(
    Rule(
        "B40",
        "environment-name",
        Severity.INFO,
        "Renames an environment variable where a script, an image or a workflow sets, reads or unsets it.",
        why="A name is renamed in the whole file or not at all, so that no script sets one name and reads another.",
        example=("export CUDA_VISIBLE_DEVICES=0,1", "export MUSA_VISIBLE_DEVICES=0,1"),
        evidence="env.csv",
    )
)
LEFT = register(
    Rule(
        "B41",
        "environment-left",
        Severity.WARNING,
        "Leaves an environment variable that has no counterpart, is in no table, or stands beside its MUSA name.",
        why="MUSA does not read a variable under its CUDA name: setting it has no effect there.",
        example=("export CUDA_DEVICE_ORDER=PCI_BUS_ID", "export CUDA_DEVICE_ORDER=PCI_BUS_ID"),
        advice="Remove the variable, or give its MUSA name with --map (a row of kind env).",
        evidence="env.csv, confidence none",
    )
)

#: Variables that CUDA, its libraries or PyTorch read begin so.
FOREIGN = re.compile(
    r"(CUDA|CUDNN|CUBLAS|CUBLASLT|CUSOLVER|NCCL|NVSHMEM|NVIDIA|NVCC|NVRTC|TORCH_CUDA|TORCH_NCCL|PYTORCH_CUDA)_\w+"
)

#: The notes of makefiles: variables that must keep their names in the whole tree, and why.
KEPT = "make-variables"


def row_for(draft: Draft, name: str) -> Row | None:
    """The row by which a variable is renamed in this file; None when the name stays."""
    row = draft.names.environment.get(name)
    if row is None or not row.supported or row.musa == name or not draft.names.allowed(row):
        return None
    if name in BUILD_FLAGS and not draft.options.rename_project_names:
        return None
    if name in draft.names.keep or kept(draft, name):
        return None
    return None if stands_beside(draft.data, row.musa) else row


def kept(draft: Draft, name: str) -> str:
    """Why the makefiles of the tree, which call scripts and each other, keep a variable; "" when they rename it."""
    return next((reason for held, reason in draft.index.notes.get(KEPT, ()) if held == name), "")


@lru_cache(maxsize=16)
def stands_beside(data: bytes, name: str) -> bool:
    """Whether the file uses the MUSA name already, outside comments: it knows both platforms."""
    if name.encode() not in data:
        return False
    pattern = rb"^[^#\n]*(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)"
    return re.search(pattern, data, re.M) is not None


def rename(name: Fragment, *, exported: bool = False) -> None:
    """Rename a variable, or say why it stays. `exported` tells that programs can read it."""
    draft, text, end = name.draft, name.text, len(name.text)
    held = draft.names.environment.get(text)
    if text in draft.names.keep:
        return
    if (row := row_for(draft, text)) is not None:
        if name.edit(0, end, row.musa, "environment-name", row.confidence):
            _say(name, row)
    elif held is not None:
        _leave(name, held)
    elif exported and FOREIGN.fullmatch(text):
        message = f"{text} is in no table and stays"
        name.report("environment-left", 0, end, message, severity=Severity.INFO, name=text, once=text)


def _say(name: Fragment, row: Row) -> None:
    note = f": {row.note}" if row.note else ""
    rule, message = "environment-name", f"{row.cuda} became {row.musa}{note}"
    if row.confidence in ("low", "medium-low"):
        rule, message = (
            "unproven-name",
            f"{row.cuda} became {row.musa} on weak evidence (confidence {row.confidence}){note}",
        )
    elif not row.note:
        return
    name.report(rule, 0, len(name.text), message, new=row.musa, name=row.cuda, once=row.cuda)


def _leave(name: Fragment, row: Row) -> None:
    rule, message, severity = "environment-left", "", Severity.INFO
    if not row.supported:
        severity = Severity.WARNING
        message = f"{row.cuda} has no MUSA counterpart" + (f": {row.note}" if row.note else "")
    elif not name.draft.names.allowed(row):
        rule, severity = "unproven-name", Severity.WARNING
        message = f"{row.cuda} is left: confidence {row.confidence} is below --min-confidence"
    elif row.cuda in BUILD_FLAGS:
        message = f"{row.cuda} is left: the project's build defines it (--rename-project-names moves it)"
    elif reason := kept(name.draft, row.cuda):
        message = f"{row.cuda} is left: a makefile of the tree {reason}"
    elif row.musa != row.cuda:
        message = f"{row.cuda} is left: this file uses {row.musa} as well"
    if message:
        name.report(rule, 0, len(name.text), message, severity=severity, name=row.cuda, once=row.cuda)
        name.draft.claim(*name.place(0, len(name.text)))
