"""Scaling factors: recipes, shapes, formats. The only place that knows them.

Source of the contract: DeepGEMM 2.6.1, its rules for recipes and scale tensors on SM90 and SM100, of which this is the
union. An element `[m, k]` of an operand stands for `value[m, k] * scale[m // gran_mn, k // gran_k]`. Scales come in two
formats, told apart by dtype:

* `float32`: `[(G,) ceil(MN / gran_mn), ceil(K / gran_k)]`, with any strides; used as they are, never rounded to powers
  of two;
* `int32`: packed UE8M0, four exponents a word along K, byte j (little-endian) of word p for block 4p + j:
  `[(G,) MN, ceil(K / (4 * gran_k))]`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from musa_compat.contracts.checks import Contract
from musa_compat.contracts.errors import describe
from musa_compat.contracts.layout import ceil_div
from musa_compat.contracts.tensors import dtype_name

ScaleFormat = Literal["float32", "ue8m0"]

#: Blocks along K that a scale may stand for.
K_GRANULARITIES = (32, 128)

_FORMATS: dict[str, ScaleFormat] = {"float32": "float32", "int32": "ue8m0"}


class Recipe(NamedTuple):
    """How many elements one scale of an operand stands for: rows (or columns) and elements along K."""

    mn: int
    k: int


def resolve_recipes(
    check: Contract,
    recipe: Any = None,
    recipe_a: Any = None,
    recipe_b: Any = None,
    *,
    sfb: Any,
) -> tuple[Recipe, Recipe]:
    """The recipes of `a` and `b` from the arguments of a DeepGEMM call.

    `recipe` is (gran_m, gran_n, gran_k); `recipe_a` and `recipe_b` are (gran_mn, gran_k) and come together, without
    `recipe`. With none of them: (1, 128, 128), or (1, 1, 128) if `sfb`, the scales of `b`, are packed.

    Raises the contract's error.
    """
    check.together(recipe_a=recipe_a, recipe_b=recipe_b)
    if recipe is not None and recipe_a is not None:
        check.fail("recipe", "None, as recipe_a and recipe_b are given", describe(recipe), upstream="Unknown recipe")
    if recipe_a is not None:
        return _recipe(check, "recipe_a", recipe_a), _recipe(check, "recipe_b", recipe_b)
    if recipe is None:
        recipe = (1, 1, 128) if dtype_name(sfb.dtype) == "int32" else (1, 128, 128)
    numbers = _numbers(check, "recipe", recipe, 3)
    return _granularity(check, "recipe", *numbers[::2]), _granularity(check, "recipe", *numbers[1:])


def _recipe(check: Contract, name: str, value: Any) -> Recipe:
    return _granularity(check, name, *_numbers(check, name, value, 2))


def _numbers(check: Contract, name: str, value: Any, count: int) -> list[int]:
    numbers = list(value) if isinstance(value, (tuple, list)) else []
    if len(numbers) != count or not all(isinstance(one, int) and one > 0 for one in numbers):
        meaning = "(gran_m, gran_n, gran_k)" if count == 3 else "(gran_mn, gran_k)"
        check.fail(name, f"{meaning}, {count} positive integers", describe(value), upstream="Unknown recipe")
    return numbers


def _granularity(check: Contract, name: str, mn: int, k: int) -> Recipe:
    if k not in K_GRANULARITIES:
        expected = f"gran_k {' or '.join(map(str, K_GRANULARITIES))}"
        check.fail(name, expected, str(k), upstream="Unknown recipe")
    return Recipe(mn, k)


def scale_shape(
    recipe: Recipe, mn: int, k: int, scale_format: ScaleFormat = "float32", groups: int | None = None
) -> tuple[int, ...]:
    """The shape that the scales of an operand `[(G,) mn, k]` have."""
    per_word = 4 if scale_format == "ue8m0" else 1
    shape = (ceil_div(mn, recipe.mn), ceil_div(k, per_word * recipe.k))
    return shape if groups is None else (groups, *shape)


def check_scales(
    check: Contract, name: str, scales: Any, recipe: Recipe, mn: int, k: int, groups: int | None = None
) -> ScaleFormat:
    """Check the scales of an operand `[(groups,) mn, k]` and return their format. Strides are free.

    Raises the contract's error: dtype, number of dimensions, shape, or packed scales that stand for several rows.
    """
    check.tensor(name, scales, dtypes=tuple(_FORMATS))
    found = _FORMATS[dtype_name(scales.dtype)]
    if found == "ue8m0" and recipe.mn != 1:
        check.fail(
            name,
            f"float32 scales, as one stands for {recipe.mn} rows",
            describe(scales),
            "give packed scales one row each: recipe (1, 1, 128)",
            "Unknown SF transformation",
        )
    per_word = 4 if found == "ue8m0" else 1
    names = [f"ceil({mn} / {recipe.mn})", f"ceil({k} / {per_word * recipe.k})"]
    shape = scale_shape(recipe, mn, k, found, groups)
    check.tensor(name, scales, shape=shape, names=names if groups is None else ["G", *names])
    return found
