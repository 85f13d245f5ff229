"""What the checks of one FP8 GEMM cost: `python benchmarks/runtime/checks.py`. Needs torch."""

from __future__ import annotations

import timeit

import torch

from musa_compat.contracts import Contract, Recipe, check_scales, operand_majorness, resolve_recipes

CHECK = Contract("bench.fp8_gemm_nt")
FP8 = ("float8_e4m3fn",)
OUT = ("bfloat16", "float32")


def checks(a: torch.Tensor, sfa: torch.Tensor, b: torch.Tensor, sfb: torch.Tensor, d: torch.Tensor) -> None:
    """What a dense GEMM asks of its five tensors."""
    m, k = CHECK.tensor("a", a, rank=2, dtypes=FP8)
    n, _ = CHECK.tensor("b", b, shape=(None, k), names=("N", "K"), dtypes=FP8)
    CHECK.tensor("d", d, shape=(m, n), names=("M", "N"), dtypes=OUT, row_major=True)
    operand_majorness(CHECK, "a", a)
    operand_majorness(CHECK, "b", b)
    recipe_a, recipe_b = resolve_recipes(CHECK, sfb=sfb)
    check_scales(CHECK, "sfa", sfa, recipe_a, m, k)
    check_scales(CHECK, "sfb", sfb, recipe_b, n, k)
    CHECK.same_device(a=a, b=b, d=d)


def main() -> None:
    """Print microseconds, the best of many short runs."""
    a, b = torch.empty(64, 7168).to(torch.float8_e4m3fn), torch.empty(4096, 7168).to(torch.float8_e4m3fn)
    sfa, sfb, d = torch.empty(64, 56), torch.empty(32, 56), torch.empty(64, 4096, dtype=torch.bfloat16)
    checks(a, sfa, b, sfb, d)
    assert resolve_recipes(CHECK, sfb=sfb)[0] == Recipe(1, 128)
    best = min(timeit.Timer(lambda: checks(a, sfa, b, sfb, d)).repeat(30, 1000)) / 1000
    print(f"all checks of fp8_gemm_nt  {best * 1e6:.1f} us")


if __name__ == "__main__":
    main()
