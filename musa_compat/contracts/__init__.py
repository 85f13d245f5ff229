"""What the three shims check before anything runs, with one form of error for all.

Upstream's classes of error are kept, its texts are not: nobody depends on them, and ours say which argument, what was
expected, what came and what to do.

    CHECK = Contract("deep_gemm.bf16_gemm_nt")

    def bf16_gemm_nt(a, b, d):
        m, k = CHECK.tensor("a", a, rank=2, dtypes=("bfloat16",))
        n, _ = CHECK.tensor("b", b, shape=(None, k), names=("N", "K"), dtypes=("bfloat16",))
        CHECK.tensor("d", d, shape=(m, n), names=("M", "N"), dtypes=("bfloat16", "float32"))

Nothing here reads a value of a tensor: that would wait for the device, and callers capture these calls in graphs.
"""

from musa_compat.contracts.checks import Contract
from musa_compat.contracts.errors import (
    ContractAssertion,
    ContractError,
    ContractTypeError,
    ContractValueError,
    ContractViolation,
    describe,
)
from musa_compat.contracts.grouped import check_group_ends, check_masked_m, check_row_groups
from musa_compat.contracts.layout import (
    Majorness,
    align,
    ceil_div,
    is_mn_major_tma_aligned,
    is_row_major,
    majorness,
    mn_major_tma_strides,
    operand_majorness,
    tma_aligned_size,
    unaligned,
)
from musa_compat.contracts.scales import Recipe, ScaleFormat, check_scales, resolve_recipes, scale_shape
from musa_compat.contracts.tensors import DTYPES, FP8, TensorLike, dtype_name

__all__ = [
    "DTYPES",
    "FP8",
    "Contract",
    "ContractAssertion",
    "ContractError",
    "ContractTypeError",
    "ContractValueError",
    "ContractViolation",
    "Majorness",
    "Recipe",
    "ScaleFormat",
    "TensorLike",
    "align",
    "ceil_div",
    "check_group_ends",
    "check_masked_m",
    "check_row_groups",
    "check_scales",
    "describe",
    "dtype_name",
    "is_mn_major_tma_aligned",
    "is_row_major",
    "majorness",
    "mn_major_tma_strides",
    "operand_majorness",
    "resolve_recipes",
    "scale_shape",
    "tma_aligned_size",
    "unaligned",
]
