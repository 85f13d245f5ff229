"""Words that are deleted, renamed or reported: K1, K9 to K11, K18 to K23, K27 to K29."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musa_port import Severity

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Finds, Rewrites

# ---- K18, K19: statements that go --------------------------------------------------------------------------------

GONE = {
    "K18": ["T.set_max_nreg(240, 1)", "T.inc_max_nreg(240)", "T.dec_max_nreg(24)", "T.annotate_producer_reg_dealloc()",
            "T.annotate_consumer_reg_alloc(240)", "T.no_set_max_nreg()", "T.disable_warp_group_reg_alloc()"],
    "K19": ["T.pdl_sync()", "T.pdl_trigger()"],
}  # fmt: skip
STATEMENTS = [(rule, call) for rule, found in GONE.items() for call in found]


@pytest.mark.parametrize(("rule", "call"), STATEMENTS)
def test_statements_go(rewrites: Rewrites, rule: str, call: str) -> None:
    before = f"def f():\n    T.clear(x)\n    {call}\n    T.clear(y)\n"
    rewrites(before, "def f():\n    T.clear(x)\n    T.clear(y)\n", [rule])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f():\n    T.pdl_sync()\n", "def f():\n    pass\n"),
        ("def f():\n    T.pdl_sync()\n    T.pdl_trigger()\n", "def f():\n    pass\n"),
        ('def f():\n    "Waits."\n    T.pdl_sync()\n', 'def f():\n    "Waits."\n'),
        ("if x:\n    T.pdl_sync()\nelse:\n    y = 1\n", "if x:\n    pass\nelse:\n    y = 1\n"),
        ("if x: T.pdl_sync()\n", "if x: pass\n"),
        ("for i in T.serial(4):\n\tT.pdl_sync()\n\ty = 1\n", "for i in T.serial(4):\n\ty = 1\n"),
        ("x = 1; T.pdl_sync(); y = 2\n", "x = 1; pass; y = 2\n"),
        ("T.pdl_sync();\n", "pass;\n"),
        ("x = 1\nT.pdl_sync()  # wait for the kernel before\ny = 2\n", "x = 1\n# wait for the kernel before\ny = 2\n"),
        ("x = 1\n# wait\nT.pdl_sync()\n\ny = 2\n", "x = 1\n# wait\n\ny = 2\n"),
        ("x = 1\nT.set_max_nreg(\n    240,  # registers\n    1,\n)\ny = 2\n", "x = 1\n# registers\ny = 2\n"),
        ("x = 1\nT.set_max_nreg(\n    240,\n    1,\n)\ny = 2\n", "x = 1\ny = 2\n"),
        ("x = 1\n(T.pdl_sync())\n", "x = 1\n"),
        ("x = 1\nT.set_max_nreg(\n    240,  # registers\n    1,\n)  # more\n", "x = 1\n# registers\n# more\n"),
        ("if x:\n    T.set_max_nreg(240,  # a\n                   1)  # b\n", "if x:\n    # a\n    # b\n    pass\n"),
        ("x = 1\nT.pdl_sync()", "x = 1"),
        ("x = 1\r\nT.pdl_sync()\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n"),
        ("x = 1\r\nT.pdl_sync()", "x = 1"),
        ("with T.ws(0):\n    T.dec_max_nreg(24)\nwith T.ws(1):\n    T.inc_max_nreg(240)\n    x = 1\n",
         "with T.ws(0):\n    pass\nwith T.ws(1):\n    x = 1\n"),
    ],
)  # fmt: skip
def test_what_is_left_of_a_block(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after)


def test_comments_that_have_no_place_keep_a_statement(finds: Finds) -> None:
    finds("x = 1; T.set_max_nreg(  # registers\n    240, 1)\n", "K18", "error 1")


def test_a_call_that_is_no_statement_is_an_error(finds: Finds) -> None:
    finds("x = T.pdl_sync()\ny = lambda: T.pdl_trigger()\n", "K19", "error 1", "error 2")


@pytest.mark.parametrize(
    "text", ["pdl_sync()\n", "self.pdl_sync()\n", "def pdl_sync(): ...\npdl_sync()\n", "T.pdl_sync\n"]
)
def test_other_things_of_that_name_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


def test_a_parameter_that_hides_the_language(rewrites: Rewrites) -> None:
    rewrites("def f(T):\n    T.pdl_sync()\n")


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("from tilelang import language as T\n", "T.pdl_sync()"),
        ("import tilelang.language as TL\n", "TL.pdl_sync()"),
        ("import tilelang\nT = tilelang.language\n", "T.pdl_sync()"),
        ("import tilelang\n", "tilelang.language.pdl_sync()"),
        ("from tilelang.language import pdl_sync\n", "pdl_sync()"),
        ("from tilelang.language import pdl_sync as wait\n", "wait()"),
    ],
)
def test_however_the_language_is_imported(rewrites: Rewrites, head: str, call: str) -> None:
    rewrites(f"x = 1\n{call}\n", "x = 1\n", ["K19"], head=head)


# ---- words that are reported -------------------------------------------------------------------------------------

REPORTED = [
    ("K1", "T.use_swizzle(10)", Severity.WARNING),
    ("K20", "T.sync_grid()", Severity.WARNING),
    ("K21", "T.cluster_sync()", Severity.ERROR),
    ("K21", "T.cluster_arrive_relaxed()", Severity.ERROR),
    ("K21", "rank = T.block_rank_in_cluster()", Severity.ERROR),
    ("K21", "c = T.alloc_tmem([128, 128], 'float32')", Severity.ERROR),
    ("K21", "T.tcgen05_mma_arrive(bar)", Severity.ERROR),
    ("K21", "T.clc_try_cancel(a, b)", Severity.ERROR),
    ("K21", "T.tma_copy(a, b, barrier=c, cluster_mask=3)", Severity.ERROR),
    ("K21", "with T.Kernel(8, cluster_dims=2) as i:\n    pass", Severity.ERROR),
    ("K22", "w = T.alloc_global((8,), 'float32')", Severity.ERROR),
    ("K23", "T.named_barrier_arrive(1, 128)", Severity.ERROR),
    ("K27", "T.atomic_or(x, 1)", Severity.ERROR),
    ("K27", "y = T.lds128(x)", Severity.ERROR),
    ("K27", "T.sts32(x, y)", Severity.ERROR),
    ("K27", "n = T.__fns(m, 0, i)", Severity.ERROR),
    ("K28", "T.ptx_mma('float32', 'm16n8k16')", Severity.ERROR),
    ("K28", "T.ptx_ldmatrix('float16', True, 4)", Severity.ERROR),
    ("K28", "T.ptx_cp_async(a, b)", Severity.ERROR),
    ("K28", "T.ptx_wgmma_ss(a, b)", Severity.ERROR),
    ("K28", "d = T.alloc_wgmma_desc()", Severity.ERROR),
    ("K28", "T.call_extern('handle', 'asm volatile(\"nop;\")')", Severity.ERROR),
    ("K28", "with T.Kernel(8, prelude=SOURCE) as i:\n    pass", Severity.WARNING),
    ("K28", "T.attr(0, 'pragma_import_c', '#include <cuda_fp16.h>')", Severity.WARNING),
    ("K28", "d = T.alloc_descriptor('wgmma')", Severity.ERROR),
    ("K11", "T.wgmma_gemm_sp(a, e, b, c)", Severity.ERROR),
    ("K21", "T.tma_gather4_bytes(a)", Severity.ERROR),
    ("K16", "if T.shuffle_elect(128):\n    pass", Severity.WARNING),
    ("K1", "if T.any_of(mask):\n    pass", Severity.WARNING),
    ("K9", "T.tcgen05_gemm(a, b, c, mbar=m)", Severity.ERROR),
    ("K9", "T.warpgroup_arrive()", Severity.WARNING),
]


@pytest.mark.parametrize(("rule", "text", "severity"), REPORTED)
def test_reported(finds: Finds, rule: str, text: str, severity: Severity) -> None:
    result = finds(f"x = 1\n{text}\n", rule, f"{severity.value} 2", arch=("mp_31",))
    (finding,) = (finding for finding in result.findings if finding.rule == rule)
    assert finding.advice


KEPT = [
    "T.ptx_commit_group()", "T.ptx_wait_group(0)", "T.async_copy(a, b)", "T.copy(a, b)", "T.clear(a)",
    "T.fill(a, 0)", "T.reduce_sum(a, b, dim=1)", "T.cumsum(a)", "T.atomic_add(a[0], 1)", "T.sync_threads()",
    "T.thread_return()", "T.device_assert(x > 0)", "T.loop_break()", "T.assume(x > 0)", "y = T.ceildiv(a, b)",
    "y = T.exp2(x)", "T.barrier_arrive(b)", "T.barrier_wait(b, 0)", "T.mbarrier_wait_parity(b, 0)",
    "T.warpgroup_commit_batch()", "T.warpgroup_wait(0)", "T.wait_sqmma()", "T.gemm(A, B, C, wg_wait=-1)",
    "with T.Kernel(8, cluster_dims=None) as i:\n    pass",
]  # fmt: skip


@pytest.mark.parametrize("text", KEPT)
def test_the_core_of_the_language_stays(rewrites: Rewrites, text: str) -> None:
    result = rewrites(f"{text}\n", arch=("mp_31",))
    assert result.findings == []


def test_once_for_each_function(finds: Finds) -> None:
    text = "def f():\n    T.sync_grid()\n    T.sync_grid()\n\n\ndef g():\n    T.sync_grid()\n"
    result = finds(text, "K20", "warning 2", "warning 7")
    assert [finding.message.split()[2] for finding in result.findings] == ["f", "g"]


# ---- K11, K27 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("archs", "expected"), [(("mp_31",), ["error 1"]), (("mp_22", "mp_31"), ["warning 1"]), (("mp_22",), [])]
)
def test_sparse_products(finds: Finds, archs: tuple[str, ...], expected: list[str]) -> None:
    finds("T.gemm_sp(A, E, B, C)\n", "K11", *expected, arch=archs)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = T.fast_rcp(x)\n", "y = (1 / (x))\n"),
        ("y = a * T.fast_rcp(x + 1) ** 2\n", "y = a * (1 / (x + 1)) ** 2\n"),
        ("y[i] = T.fast_rcp(T.exp(x[i]))\n", "y[i] = (1 / (T.exp(x[i])))\n"),
    ],
)
def test_reciprocals(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, ["K27"])


# ---- K9, K10 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("T.wgmma_gemm(A, B, C)\n", "T.gemm(A, B, C, wg_wait=-1)\n"),
        ("T.wgmma_gemm(A, B, C, transpose_B=True,)\n", "T.gemm(A, B, C, transpose_B=True, wg_wait=-1,)\n"),
        (
            "T.wgmma_gemm(\n    A,\n    B,\n    C,  # sum\n)\n",
            "T.gemm(\n    A,\n    B,\n    C, wg_wait=-1,  # sum\n)\n",
        ),
    ],
)
def test_asynchronous_products(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, ["K9"], ["K9 warning"], arch=("mp_31",))


@pytest.mark.parametrize(
    "text",
    [
        "T.wgmma_gemm(A, B, C, annotations={'x': 1})\n",
        "from tilelang.language import wgmma_gemm\nwgmma_gemm(A, B, C)\n",
    ],
)
def test_products_that_are_not_plain_are_errors(finds: Finds, text: str) -> None:
    finds(text, "K9", f"error {text.count(chr(10))}")


def test_waiting(rewrites: Rewrites) -> None:
    result = rewrites("T.wait_wgmma(0)\nx = 1\n", "T.wait_sqmma()\nx = 1\n", ["K10"])
    assert result.findings == []
    rewrites("T.wait_wgmma(1)\n", "T.wait_sqmma()\n", ["K10"], ["K10 info"])
    rewrites("T.wait_wgmma(  # all\n    0)\n", "T.wait_sqmma(  # all\n    0)\n", ["K10"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("T.wgmma_gemm(A, B, C)\nT.wait_wgmma(0)\nx = 1\n", "T.gemm(A, B, C)\nx = 1\n"),
        ("T.gemm(A, B, C, wg_wait=-1)\nif x:\n    T.wait_wgmma(1)\n", "T.gemm(A, B, C)\nif x:\n    pass\n"),
        ("T.gemm(A, B, C, wg_wait=wait, transpose_B=True)\n", "T.gemm(A, B, C, transpose_B=True)\n"),
    ],
)
def test_products_without_sqmma_wait_themselves(rewrites: Rewrites, before: str, after: str) -> None:
    result = rewrites(before, after, findings=["K9 warning", "K3 error"], arch=("mp_22",))
    assert not any("wait_sqmma" in finding.message + finding.advice for finding in result.findings)


def test_waits_within_expressions_without_sqmma(finds: Finds) -> None:
    finds("x = T.wait_wgmma(0)\n", "K10", "error 1", arch=("mp_22",))


def test_products_for_both_architectures(rewrites: Rewrites) -> None:
    """mp_31's form is written, and what mp_22 has to have instead is said."""
    for before in ("T.wgmma_gemm(A, B, C)\n", "T.gemm(A, B, C, wg_wait=-1)\n"):
        found = rewrites(before, "T.gemm(A, B, C, wg_wait=-1)\n", findings=["K9 warning"]).findings
        assert any("mp_22 has no SQMMA" in finding.message for finding in found)


def test_products_that_wait_stay(finds: Finds) -> None:
    finds("T.gemm(A, B, C, wg_wait=0)\n", "K9", arch=("mp_22",))
    finds("T.gemm(A, B, C, wg_wait=-1)\n", "K9", arch=("mp_31",))


# ---- K29 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "severity"),
    [("__match_any_sync", "info"), ("__float2half_rz", "info"), ("__popc", "info"), ("__expf", "info"),
     ("my_function", "info"), ("__nanosleep", None)],
)  # fmt: skip
def test_device_functions_are_kept(finds: Finds, name: str, severity: str | None) -> None:
    text = f"x = T.call_extern('int32', '{name}', y)\n"
    if severity is not None:
        finds(text, "K29", f"{severity} 1")


@pytest.mark.parametrize("text", ["T.call_extern(T.uint32, name, x)\n", "T.call_extern('handle', f'{a}_b', x)\n"])
def test_functions_that_are_named_elsewhere(finds: Finds, text: str) -> None:
    finds(text, "K29", "warning 1")


# ---- imports -----------------------------------------------------------------------------------------------------


def test_imports_of_missing_words(finds: Finds) -> None:
    """The import fails even where every use is rewritten."""
    head = "import torch\nfrom tilelang.language import fast_rcp, gemm, lds32\n"
    result = finds("x = gemm\n", "K27", "error 0", "error 0", head=head)
    assert [finding.name for finding in result.findings] == ["fast_rcp", "lds32"]
    finds("x = 1\n", "K27", head="import tilelang\nfrom elsewhere import fast_rcp\nfrom .language import lds32\n")


@pytest.mark.parametrize(
    "text",
    [
        "from tilelang.intrinsics import TensorCoreIntrinEmitter\n",
        "from tilelang.intrinsics.mma_macro_generator import TensorCoreIntrinEmitter as E\n",
        "from tilelang.intrinsics.utils import get_swizzle_layout\n",
        "x = tilelang.intrinsics.TensorCoreIntrinEmitter\n",
    ],
)
def test_macros_for_matrix_units(finds: Finds, text: str) -> None:
    finds(text, "K28", "error 1")


@pytest.mark.parametrize(
    "text", ["from tilelang.intrinsics import helper\n", "from mine import TensorCoreIntrinEmitter\n"]
)
def test_other_macros(finds: Finds, text: str) -> None:
    finds(text, "K28")
