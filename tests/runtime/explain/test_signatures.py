"""Signatures from words."""

from __future__ import annotations

from typing import Literal, NamedTuple, Optional

import pytest

from musa_compat.registry.signatures import SignatureError, read


class Call(NamedTuple):
    m: int
    causal: bool = False
    scale: float | None = None
    mode: Literal["dense", "sparse"] = "dense"
    recipe: Optional[tuple[int, int, int]] = None  # noqa: UP045 - the other spelling
    name: str = ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["3"], Call(3)),
        (["m=3", "causal=true"], Call(3, True)),
        (["3", "no", "0.5"], Call(3, False, 0.5)),
        (["3", "scale=none"], Call(3)),
        (["mode=sparse", "m=1", "recipe=1x128x128"], Call(1, mode="sparse", recipe=(1, 128, 128))),
        (["1", "name=a=b"], Call(1, name="a=b")),
    ],
)
def test_words(words: list[str], expected: Call) -> None:
    assert read(Call, words) == expected


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["1", "causal=maybe"], "causal=maybe: expected bool"),
        (["1", "scale=x"], "scale=x: expected float or none"),
        (["1", "mode=both"], "mode=both: expected dense or sparse"),
        (["1", "recipe=1xa"], "recipe=1xa: expected tuple"),
    ],
)
def test_wrong_words(words: list[str], text: str) -> None:
    with pytest.raises(SignatureError, match=text):
        read(Call, words)
