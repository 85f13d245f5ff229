"""What the tables say in findings: notes are for users, and speak of the thing and not of where it was seen."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from musa_port.mappings import read_table

TABLES = ("compiler_flags", "env", "libraries", "torch_python", "triton_tilelang")
#: Projects that rows were collected from, and words of whoever collected them.
_GOSSIP = re.compile(
    r"torchada|deepep|vllm_musa|megatron|pytorch_sparse|ggml"
    r"|\bport\b|\bhuman|\bseen\b|\bsee\b|as above|the table|evidence",
    re.I,
)
_ORDERS = re.compile(
    r"^(?:drop|report|check|review|leave|unchanged|tool|no-op|disabled|same)\b|\bdrop\b|untouched|rewrite"
)


def notes() -> Iterator[tuple[str, str, str]]:
    for table in TABLES:
        for row in read_table(table):
            if row["note"]:
                yield table, row["cuda_name"], row["note"]


@pytest.mark.parametrize(("table", "name", "note"), list(notes()), ids=lambda value: str(value)[:40])
def test_a_note_is_a_clause_for_the_user(table: str, name: str, note: str) -> None:
    """It stands behind a colon: no capital at the beginning but in names, no full stop, more than a word."""
    assert not _GOSSIP.search(note), f"{table}: {name}: {note}"
    assert not _ORDERS.search(note), f"{table}: {name}: {note}"
    assert not note.endswith((".", ";", ":", ","))
    assert "/" not in note or re.search(r"bin/mcc", note)
    assert len(note.split()) > 2
    first = note.split()[0]
    assert first[0].islower() or re.search(r"[A-Z_]{2}|[a-z][A-Z]", first) or first in _PROPER, first


#: Names that begin with a capital.
_PROPER = frozenset({"CMake", "Python", "TileLang", "TorchMusa"})
