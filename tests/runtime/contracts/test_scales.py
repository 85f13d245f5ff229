"""Recipes, shapes and values of scales; values against plain Python numbers."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musa_compat.contracts import Contract, ContractError, Recipe, check_scales, resolve_recipes, scale_shape

torch = pytest.importorskip("torch")
CHECK = Contract("lib.op")
FLOAT = torch.empty(1)
PACKED = torch.empty(1, dtype=torch.int32)


@pytest.mark.parametrize(
    ("arguments", "sfb", "a", "b"),
    [
        ({}, FLOAT, (1, 128), (128, 128)),
        ({}, PACKED, (1, 128), (1, 128)),
        ({"recipe": (1, 128, 128)}, PACKED, (1, 128), (128, 128)),
        ({"recipe": [1, 1, 32]}, FLOAT, (1, 32), (1, 32)),
        ({"recipe_a": (1, 128), "recipe_b": (1, 32)}, FLOAT, (1, 128), (1, 32)),
        ({"recipe_a": (1, 32), "recipe_b": (32, 32)}, FLOAT, (1, 32), (32, 32)),
    ],
)
def test_recipes(arguments: dict[str, Any], sfb: Any, a: tuple[int, int], b: tuple[int, int]) -> None:
    assert resolve_recipes(CHECK, **arguments, sfb=sfb) == (Recipe(*a), Recipe(*b))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"recipe_b": (1, 128)}, "argument recipe_a: expected a value, as recipe_b is given"),
        ({"recipe_a": (1, 128)}, "argument recipe_b: expected a value, as recipe_a is given"),
        (
            {"recipe": (1, 1, 128), "recipe_a": (1, 128), "recipe_b": (1, 128)},
            "Unknown recipe: lib.op: argument recipe: expected None",
        ),
        ({"recipe": (1, 128)}, r"argument recipe: expected \(gran_m, gran_n, gran_k\), 3 positive integers"),
        ({"recipe": (1, 0, 128)}, "3 positive integers"),
        ({"recipe": 128}, "3 positive integers, got 128"),
        ({"recipe": (1, 128, 64)}, "Unknown recipe: .* expected gran_k 32 or 128, got 64"),
        ({"recipe_a": (1, 16), "recipe_b": (1, 32)}, "argument recipe_a: expected gran_k 32 or 128, got 16"),
    ],
)
def test_wrong_recipes(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        resolve_recipes(CHECK, **arguments, sfb=FLOAT)


@pytest.mark.parametrize(
    ("recipe", "mn", "k", "groups", "floats", "packed"),
    [
        # By hand, from DeepSeek-V3's sizes.
        ((1, 128), 64, 7168, None, (64, 56), (64, 14)),
        ((128, 128), 2112, 7168, None, (17, 56), None),
        ((1, 128), 5, 200, None, (5, 2), (5, 1)),
        ((1, 32), 4, 7168, None, (4, 224), (4, 56)),
        ((128, 128), 4096, 7168, 32, (32, 32, 56), None),
        ((1, 128), 0, 128, None, (0, 1), (0, 1)),
        ((1, 128), 8, 0, None, (8, 0), (8, 0)),
    ],
)
def test_shapes(
    recipe: tuple[int, int],
    mn: int,
    k: int,
    groups: int | None,
    floats: tuple[int, ...],
    packed: tuple[int, ...] | None,
) -> None:
    rule = Recipe(*recipe)
    assert scale_shape(rule, mn, k, groups=groups) == floats
    assert check_scales(CHECK, "sfa", torch.empty(floats), rule, mn, k, groups) == "float32"
    if packed is None:
        with pytest.raises(ContractError, match="Unknown SF transformation"):
            check_scales(CHECK, "sfa", torch.empty(floats, dtype=torch.int32), rule, mn, k, groups)
    else:
        assert scale_shape(rule, mn, k, "ue8m0", groups) == packed
        assert check_scales(CHECK, "sfa", torch.empty(packed, dtype=torch.int32), rule, mn, k, groups) == "ue8m0"


def test_strides_of_scales_are_free() -> None:
    check_scales(CHECK, "sfa", torch.empty(56, 64).t(), Recipe(1, 128), 64, 7168)
    check_scales(CHECK, "sfa", torch.empty(64, 112)[:, ::2], Recipe(1, 128), 64, 7168)


def test_wrong_scales() -> None:
    with pytest.raises(
        ContractError,
        match=r"argument sfa: expected shape \(64, 56\) = \[ceil\(64 / 1\), ceil\(7168 / 128\)\], got .*\(64, 55\)",
    ):
        check_scales(CHECK, "sfa", torch.empty(64, 55), Recipe(1, 128), 64, 7168)
    with pytest.raises(ContractError, match="argument sfa: expected dtype float32 or int32, got a bfloat16 tensor"):
        check_scales(CHECK, "sfa", torch.empty(64, 56, dtype=torch.bfloat16), Recipe(1, 128), 64, 7168)
    with pytest.raises(ContractError, match=r"expected shape \(2, 64, 56\) = \[G, "):
        check_scales(CHECK, "sfa", torch.empty(64, 56), Recipe(1, 128), 64, 7168, groups=2)
    with pytest.raises(ContractError, match="give packed scales one row each"):
        check_scales(CHECK, "sfb", torch.empty(17, 14, dtype=torch.int32), Recipe(128, 128), 2112, 7168)


# ---- values ----------------------------------------------------------------------------------------------------------


@given(exponents=st.lists(st.integers(0, 254), min_size=1, max_size=13))
def test_unpacking_gives_powers_of_two(exponents: list[int]) -> None:
    """Against bytes written by struct, and powers of two by math."""
    from musa_compat.contracts.scale_values import pack_ue8m0, unpack_ue8m0

    padded = bytes(exponents) + bytes(-len(exponents) % 4)
    words = list(struct.unpack(f"<{len(padded) // 4}i", padded))
    packed = torch.tensor([words], dtype=torch.int32)
    values = unpack_ue8m0(packed, len(exponents))
    assert values.tolist() == [[math.ldexp(1, e - 127) if e else 0.0 for e in exponents]]
    assert pack_ue8m0(values).tolist() == [words]


def test_unpacking_takes_any_strides() -> None:
    from musa_compat.contracts.scale_values import unpack_ue8m0

    packed = torch.randint(-(2**31), 2**31 - 1, (6, 5), dtype=torch.int32) & 0x7E7E7E7E
    aligned = torch.empty_strided((6, 5), (1, 8), dtype=torch.int32).copy_(packed)
    assert torch.equal(unpack_ue8m0(aligned, 19), unpack_ue8m0(packed, 19))


@given(
    mn=st.integers(1, 9),
    k=st.integers(1, 300),
    gran_mn=st.sampled_from([1, 2, 4]),
    gran_k=st.sampled_from([32, 128]),
    grouped=st.booleans(),
)
def test_each_element_has_its_scale(mn: int, k: int, gran_mn: int, gran_k: int, grouped: bool) -> None:
    """Against the definition: scale[m // gran_mn, k // gran_k]."""
    from musa_compat.contracts.scale_values import expand_scales

    recipe = Recipe(gran_mn, gran_k)
    scales = torch.rand(scale_shape(recipe, mn, k, groups=2 if grouped else None))
    factors = expand_scales(scales, recipe, mn, k)
    assert factors.shape == (*scales.shape[:-2], mn, k)
    expected = [
        [one[m // gran_mn, j // gran_k] for m in range(mn) for j in range(k)]
        for one in (scales if grouped else scales[None]).numpy()
    ]
    assert factors.reshape(len(expected), -1).tolist() == [[float(x) for x in row] for row in expected]


def test_packed_scales_expand() -> None:
    from musa_compat.contracts.scale_values import expand_scales, pack_ue8m0

    scales = torch.exp2(torch.randint(-20, 20, (3, 5)).float())
    recipe = Recipe(1, 32)
    assert torch.equal(expand_scales(pack_ue8m0(scales), recipe, 3, 150), expand_scales(scales, recipe, 3, 150))
