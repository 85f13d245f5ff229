"""The checks and their errors: the class that upstream raises, the argument, what was expected, what came."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import pytest

from musa_compat.contracts import (
    Contract,
    ContractAssertion,
    ContractError,
    ContractTypeError,
    ContractValueError,
    ContractViolation,
    check_group_ends,
    check_masked_m,
    check_row_groups,
    describe,
    dtype_name,
)

torch = pytest.importorskip("torch")
CHECK = Contract("lib.op")


def fails(error: type[Exception], *parts: str) -> Any:
    """Expects an error whose text has all parts, and whose operator stands first."""
    pattern = r"(?s)^(.+: )?lib\.op: " + "".join(f".*{part}" for part in parts)
    return pytest.raises(error, match=pattern)


@pytest.mark.parametrize(
    ("error", "upstream"),
    [
        (ContractError, RuntimeError),
        (ContractAssertion, AssertionError),
        (ContractTypeError, TypeError),
        (ContractValueError, ValueError),
    ],
)
def test_errors_are_upstreams_and_ours(error: type[ContractViolation], upstream: type[Exception]) -> None:
    with pytest.raises(upstream) as caught:
        CHECK.raising(error).fail("x", "a", "b", "do c")
    assert isinstance(caught.value, ContractViolation)
    assert str(caught.value) == "lib.op: argument x: expected a, got b; do c"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.argument) == (error, str(caught.value), "x")


def test_text_of_upstream_stands_first() -> None:
    with pytest.raises(RuntimeError, match=r"^Unknown recipe: lib\.op: argument recipe: expected a, got b$"):
        CHECK.fail("recipe", "a", "b", upstream="Unknown recipe")


def test_tensor_returns_its_shape() -> None:
    x = torch.empty(3, 4, dtype=torch.bfloat16)
    m, n = CHECK.tensor("x", x, rank=2, shape=(None, 4), dtypes=("bfloat16",), contiguous=True, row_major=True)
    assert (m, n) == (3, 4)
    assert CHECK.optional("x", None, rank=7) is None
    assert CHECK.optional("x", x, rank=2) == (3, 4)


@pytest.mark.parametrize("value", [None, 3, "x", [1.0], torch.Tensor, SimpleNamespace(shape=(1,))])
def test_not_a_tensor(value: object) -> None:
    with fails(ContractTypeError, "argument x: expected a tensor, got"):
        CHECK.tensor("x", value)
    with pytest.raises(AssertionError):
        CHECK.raising(ContractAssertion).tensor("x", value)


@pytest.mark.parametrize(
    ("shape", "conditions", "expected"),
    [
        ((3,), {"rank": 2}, "expected 2 dimensions, got a float32 tensor of shape \\(3,\\) on cpu"),
        ((3, 4), {"rank": (1, 3)}, "expected 1 or 3 dimensions"),
        ((3, 4), {"shape": (3, 5), "names": ("M", "N")}, r"expected shape \(3, 5\) = \[M, N\]"),
        ((3, 4), {"shape": (None, 5)}, r"expected shape \(any, 5\), got"),
        ((3, 4), {"shape": (3,)}, r"expected shape \(3\)"),
        ((3, 4), {"dtypes": ("bfloat16", "float16")}, "expected dtype bfloat16 or float16"),
        ((3, 4), {"dtypes": ("int32",)}, r"expected dtype int32, .*; convert it with x\.to\(torch\.int32\)"),
    ],
)
def test_wrong_tensors(shape: tuple[int, ...], conditions: dict[str, Any], expected: str) -> None:
    with fails(ContractError, "argument x: ", expected):
        CHECK.tensor("x", torch.empty(shape), **conditions)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.empty(3, 4),
        torch.empty(3, 4).t(),
        torch.empty(3, 8)[:, :4],
        torch.empty(3, 8)[:, ::2],
        torch.empty(1, 8)[:, :4],
        torch.empty(3, 4)[:, :1],
        torch.empty(0, 4).t(),
        torch.empty(()),
        torch.empty(5),
        torch.empty(2, 3, 4).transpose(0, 1),
    ],
    ids=lambda tensor: f"{tuple(tensor.shape)}{tensor.stride()}",
)
def test_contiguous_as_torch_has_it(tensor: Any) -> None:
    if tensor.is_contiguous():
        CHECK.tensor("x", tensor, contiguous=True)
    else:
        with fails(ContractError, "expected a contiguous tensor, got", "strides", r"call x\.contiguous\(\)"):
            CHECK.tensor("x", tensor, contiguous=True)


def test_row_major_allows_a_pitch() -> None:
    CHECK.tensor("x", torch.empty(3, 8)[:, :4], row_major=True)
    with fails(ContractError, "expected a last dimension with stride 1"):
        CHECK.tensor("x", torch.empty(3, 4).t(), row_major=True)


def test_stride_of_a_paged_cache() -> None:
    """FlashMLA's pages may be padded, its tokens not."""
    cache = torch.empty(3, 2 * 656 + 16, dtype=torch.uint8)[:, : 2 * 656].view(3, 2, 1, 656)
    CHECK.stride("k_cache", cache, 1, 656)
    with fails(ContractError, r"argument k_cache: expected stride\(1\) = 656, got a uint8 tensor"):
        CHECK.stride("k_cache", cache.transpose(1, 3), 1, 656)


def test_same_device() -> None:
    CHECK.same_device(a=torch.empty(1), b=None, c=torch.empty(2))
    with fails(ContractError, "argument c: expected a tensor on cpu, as a", "on meta", "move one"):
        CHECK.same_device(a=torch.empty(1), b=None, c=torch.empty(2, device="meta"))


def test_numbers_and_choices() -> None:
    CHECK.multiple("k", 256, 128)
    with fails(ContractError, "argument k: expected a multiple of 128, got 100; pad"):
        CHECK.multiple("k", 100, 128, "pad it")
    CHECK.between("n", 3, 1, 3)
    CHECK.between("n", 10**9, 1)
    with fails(ContractError, "argument n: expected 1 to 3, got 4"):
        CHECK.between("n", 4, 1, 3)
    with fails(ContractError, "argument n: expected at least 1, got 0"):
        CHECK.between("n", 0, 1)
    CHECK.one_of("d_v", 512, (512,))
    with fails(ContractError, "argument d_v: expected one of 512, 576, got 64"):
        CHECK.one_of("d_v", 64, (512, 576))
    CHECK.that(True, "x", "", "")
    with fails(ContractError, "argument x: expected y, got a float32 tensor of shape"):
        CHECK.that(False, "x", "y", torch.empty(1))


def test_combinations_of_arguments() -> None:
    CHECK.together(a=None, b=None)
    CHECK.together(a=1, b=0)
    with fails(ContractError, "argument b: expected a value, as a is given, got None"):
        CHECK.together(a=1, b=None)
    CHECK.absent("in dense mode", indices=None)
    with fails(ContractError, "argument indices: expected None, in dense mode, got 3"):
        CHECK.absent("in dense mode", attn_sink=None, indices=3)
    CHECK.present("in dense mode", block_table=0)
    with fails(ContractError, "argument block_table: expected a value, in dense mode, got None"):
        CHECK.present("in dense mode", block_table=None)
    CHECK.names({"m_indices": 1}, {"m_indices"}.__contains__)
    with fails(ContractTypeError, "argument m_index: expected a keyword of this operator, got m_index=1"):
        CHECK.names({"m_index": 1}, {"m_indices"}.__contains__)


def test_pairs() -> None:
    assert CHECK.pair("a", (1, 2)) == (1, 2)
    assert CHECK.pair("a", [1, None]) == (1, None)
    with fails(ContractTypeError, r"argument a: expected a tuple or list of values and scales, got \(1, 2, 3\)"):
        CHECK.pair("a", (1, 2, 3))
    with fails(ContractTypeError, r"argument x: expected a tuple of values and scales, got \[1, 2\]"):
        CHECK.pair("x", [1, 2], (tuple,))


def test_descriptions() -> None:
    assert describe(torch.empty(2, 3)) == "a float32 tensor of shape (2, 3) on cpu"
    assert describe(torch.empty(2, 3).t()) == "a float32 tensor of shape (3, 2) and strides (1, 3) on cpu"
    assert describe((torch.empty(1), None)) == "(a float32 tensor of shape (1,) on cpu, None)"
    assert describe([1] * 9) == "[1, 1, 1, 1, ...]"
    assert describe("x" * 200).endswith("...")
    assert len(describe("x" * 200)) == 80
    assert dtype_name(torch.float8_e4m3fn) == "float8_e4m3fn"


def test_no_value_is_read() -> None:
    """A meta tensor has no values: everything works on it."""
    meta = torch.empty(4, dtype=torch.int32, device="meta")
    check_row_groups(CHECK, "m_indices", meta, 4)
    check_group_ends(CHECK, "grouped_layout", meta, 4)
    check_masked_m(CHECK, "masked_m", meta.view(2, 2), 4)


def test_groups() -> None:
    with fails(ContractError, r"argument m_indices: expected shape \(8\) = \[M\]"):
        check_row_groups(CHECK, "m_indices", torch.empty(4, dtype=torch.int32), 8)
    with fails(ContractError, "argument m_indices: expected dtype int32"):
        check_row_groups(CHECK, "m_indices", torch.empty(4, dtype=torch.int64), 4)
    with fails(ContractError, "argument masked_m: expected 3 elements, one a group"):
        check_masked_m(CHECK, "masked_m", torch.empty(4, dtype=torch.int32), 3)
    with fails(ContractError, "argument masked_m: expected a contiguous tensor"):
        check_masked_m(CHECK, "masked_m", torch.empty(8, dtype=torch.int32)[::2], 4)
