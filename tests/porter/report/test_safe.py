"""Foreign text made safe to show."""

from __future__ import annotations

import os

import pytest

from musa_port.report import safe


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain 名字 é", "plain 名字 é"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x1b[2J\x07\x7f\x9b", r"\x1b[2J\x07\x7f\x9b"),
        ("\u202ecu.exe\u2066", r"\u202ecu.exe\u2066"),
        ("\u2028\ufeff\u200b", r"\u2028\ufeff\u200b"),
        ("全角\u3000空\u00a0格", "全角\u3000空\u00a0格"),
        ("\U000e0001", r"\U000e0001"),
        ("\ud800", r"\ud800"),
    ],
)
def test_printable(text: str, expected: str) -> None:
    assert safe.printable(text) == expected


def test_undecodable_bytes_are_named() -> None:
    name = os.fsdecode(b"caf\xe9.cu")
    assert safe.printable(name) == r"caf\xe9.cu"
    assert safe.encodable(name) == r"caf\xe9.cu"
    assert safe.encodable("\x1b名\ud801") == "\x1b名\\ud801"


def test_clipping_keeps_the_limit_and_the_telling_end() -> None:
    assert safe.clip("abcdef", 6) == "abcdef"
    assert safe.clip("abcdefg", 6) == "abcde…"
    assert safe.clip_path("dir/abc.cu", 10) == "dir/abc.cu"
    assert safe.clip_path("long/dir/abc.cu", 10) == "…ir/abc.cu"
