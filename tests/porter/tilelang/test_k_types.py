"""Types and indices: K30 (FP4), K31 (FP8), K33 (32-bit indices), K37 (reshaping)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Finds


@pytest.mark.parametrize(
    "dtype", ["T.float4_e2m1fn", "'float4_e2m1fn'", "torch.float4_e2m1fn_x2", "T.float4_e2m1_unpacked", "'e2m1_float4'"]
)
def test_fp4(finds: Finds, dtype: str) -> None:
    finds(f"x = 1\nd = {dtype}\n", "K30", "error 2", arch=("mp_31",))


def test_fp4_once_for_each_function(finds: Finds) -> None:
    text = "def f():\n    a = T.float4_e2m1fn\n    b = T.float4_e2m1fn\n\ndef g():\n    a = T.float4_e2m1fn\n"
    finds(text, "K30", "error 2", "error 6")


@pytest.mark.parametrize("dtype", ["T.float8_e4m3fn", "'float8_e4m3'", "torch.float8_e5m2", "T.float8_e8m0fnu"])
def test_fp8(finds: Finds, dtype: str) -> None:
    text = f"x = {dtype}\ny = {dtype}\n"
    finds(text, "K31", arch=("mp_31",))
    finds(text, "K31", "warning 1")
    finds(text, "K31", "error 1", arch=("mp_22",))


@pytest.mark.parametrize(
    "text", ["x = T.float16\n", "x = 'float16'\n", "x = other.float8_e4m3fn\n", '"float8_e4m3"\n', "float8_e4m3 = 1\n"]
)
def test_other_types(finds: Finds, text: str) -> None:
    finds(text, "K31")
    finds(text, "K30")


def test_types_without_tilelang(finds: Finds) -> None:
    finds("x = torch.float8_e4m3fn  # cuda\n", "K31", head="import torch\n")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("tilelang.PassConfigKey.TL_DISABLE_INDEX_TYPE_PROMOTION: True", ["warning 1"]),
        ("tilelang.PassConfigKey.TL_DISABLE_INDEX_TYPE_PROMOTION: False", []),
        ("'tl.config_index_bitwidth': 32", ["warning 1"]),
        ("'tl.config_index_bitwidth': 64", []),
    ],
)
def test_narrow_indices(finds: Finds, entry: str, expected: list[str]) -> None:
    finds(f"C = {{{entry}}}\n", "K33", *expected)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("T.reshape(a, [64, 64])", []),
        ("T.reshape(a, (4096,))", []),
        ("T.view(a, [8192], 'int8')", []),
        ("T.view(a, [32, 64], T.float32)", []),
        ("T.reshape(a, [64, 32])", ["warning 4"]),
        ("T.view(a, [4096], 'int8')", ["warning 4"]),
        ("T.reshape(a, [n, 64])", ["info 4"]),
        ("T.reshape(other, [64, 64])", ["info 4"]),
    ],
)
def test_reshaping(finds: Finds, call: str, expected: list[str]) -> None:
    text = (
        f"def f(n):\n    with T.Kernel(8) as i:\n        a = T.alloc_shared((32, 128), 'float16')\n        b = {call}\n"
    )
    finds(text, "K37", *expected)
