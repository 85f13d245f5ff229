"""Warps, barriers, pipelines, layouts: K12 to K17, K24 to K26, K35."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Finds, Rewrites

MAKE = "tilelang.layout.make_swizzled_layout"

# ---- K12, K13 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "maker",
    "make_swizzled_layout make_wgmma_swizzled_layout make_tcgen05mma_swizzled_layout make_full_bank_swizzled_layout "
    "make_half_bank_swizzled_layout make_quarter_bank_swizzled_layout".split(),
)
def test_swizzles(rewrites: Rewrites, maker: str) -> None:
    before = f"x = 1\nT.annotate_layout({{A: tilelang.layout.{maker}(A)}})\ny = 2\n"
    rewrites(before, "x = 1\ny = 2\n", ["K12"], ["K12 warning"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"T.annotate_layout({{A: {MAKE}(A), B: other(B)}})\n", "T.annotate_layout({B: other(B)})\n"),
        (f"T.annotate_layout({{B: other(B), A: {MAKE}(A)}})\n", "T.annotate_layout({B: other(B)})\n"),
        (f"T.annotate_layout({{\n    A: {MAKE}(A),\n    B: f(B),\n}})\n", "T.annotate_layout({\n    B: f(B),\n})\n"),
        (f"def f():\n    T.annotate_layout({{A: {MAKE}(A)}})\n", "def f():\n    pass\n"),
        (f"if x:\n    T.annotate_layout({{\n        A: {MAKE}(A),  # for gemm\n    }})\n    y = 1\n",
         "if x:\n    # for gemm\n    y = 1\n"),
        ("from tilelang.layout import make_swizzled_layout as m\nx = 1\nT.annotate_layout({A: m(A)})\n",
         "from tilelang.layout import make_swizzled_layout as m\nx = 1\n"),
    ],
)  # fmt: skip
def test_entries_of_annotations(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, ["K12"])


@pytest.mark.parametrize("text", [f"layout = {MAKE}(A)\nT.annotate_layout({{A: layout}})\n", f"f({MAKE}(A))\n"])
def test_layouts_elsewhere_are_reported(finds: Finds, text: str) -> None:
    finds(text, "K12", "warning 1")


@pytest.mark.parametrize(
    "text",
    [
        "T.annotate_layout({A: tilelang.layout.make_sqmma_swizzled_layout(A, k_major=True)})\n",
        "T.annotate_layout({A: tilelang.layout.make_linear_layout(A)})\n",
        "T.annotate_layout({A: make_swizzled_layout(A)})\n",
        "T.annotate_layout(layouts)\n",
    ],
)
def test_other_layouts_stay(finds: Finds, text: str) -> None:
    finds(text, "K12")


@pytest.mark.parametrize(("archs", "expected"), [(("mp_31",), []), (("mp_22", "mp_31"), ["warning 1"])])
def test_own_fragments(finds: Finds, archs: tuple[str, ...], expected: list[str]) -> None:
    finds("f = T.Fragment((8, 32), forward_fn=g)\n", "K13", *expected, arch=archs)


# ---- K14, K15 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("T.Pipelined(8, num_stages=2)", ["info 1"]),
        ("T.Pipelined(0, 8, num_stages=3)", ["info 1"]),
        ("T.Pipelined(0, 8, 2)", ["info 1"]),
        ("T.Pipelined(8, num_stages=stages)", ["info 1"]),
        ("T.Pipelined(8, num_stages=1)", []),
        ("T.Pipelined(8, num_stages=0)", []),
        ("T.Pipelined(8)", []),
        ("T.serial(8)", []),
    ],
)
def test_pipelines(finds: Finds, loop: str, expected: list[str]) -> None:
    finds(f"for i in {loop}:\n    x = i\n", "K14", *expected)


@pytest.mark.parametrize(
    ("archs", "severity"), [(("mp_31",), "warning"), (("mp_22", "mp_31"), "warning"), (("mp_22",), "error")]
)
def test_bulk_copies_stay(finds: Finds, archs: tuple[str, ...], severity: str) -> None:
    finds("T.tma_copy(a, b, barrier=c)\n", "K15", f"{severity} 1", arch=archs)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("T.tma_store_wait()", []),
        ("T.tma_store_wait(0)", []),
        ("T.tma_store_wait(0, read=True)", []),
        ("T.tma_store_wait(1)", ["warning 1"]),
        ("T.tma_store_wait(read=False)", ["warning 1"]),
        ("T.tma_load(d, b, s)", ["warning 1"]),
        ("d = T.create_tma_descriptor(1, 2)", ["warning 1"]),
    ],
)
def test_bulk_waits(finds: Finds, call: str, expected: list[str]) -> None:
    finds(f"{call}\n", "K15", *expected)


# ---- K16, K24 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        ("128", []),
        ("32", []),
        ("[128, 256]", []),
        ("[128] * 4", []),
        ("threads", []),
        ("1", ["warning 2"]),
        ("[128, 1]", ["warning 2"]),
        ("[1] * 2", ["warning 2"]),
        ("arrive_count=48", ["warning 2"]),
    ],
)
def test_arrival_counts(finds: Finds, count: str, expected: list[str]) -> None:
    finds(f"x = 1\nb = T.alloc_barrier({count})\n", "K16", *expected)


@pytest.mark.parametrize(("number", "expected"), [(21, []), (22, ["error 2"])])
def test_number_of_barriers(finds: Finds, number: int, expected: list[str]) -> None:
    """Three arrays of 21 are 63, which is what there is."""
    lines = [f"        b{n} = T.alloc_barrier([128] * {number})" for n in range(3)]
    text = "\n".join(["def f():", "    with T.Kernel(1) as i:", *lines, ""])
    result = finds(text, "K16", *expected)
    if expected:
        assert "66 barriers" in next(finding.message for finding in result.findings if finding.rule == "K16")


@pytest.mark.parametrize(("number", "expected"), [(63, []), (64, ["error 3"])])
def test_barriers_of_a_comprehension(finds: Finds, number: int, expected: list[str]) -> None:
    text = "def f(n=STAGES):\n    with T.Kernel(1) as i:\n        b = [T.alloc_barrier(128) for _ in range(n)]\n"
    finds(f"STAGES = {number}\n{text}", "K16", *expected)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("T.sync_threads()", []),
        ("T.sync_threads(1, 128)", []),
        ("T.sync_threads(barrier_id=1, arrive_count=n)", []),
        ("T.sync_threads(1, 100)", ["warning 1"]),
        ("T.sync_threads(1, arrive_count=1)", ["warning 1"]),
    ],
)
def test_partial_syncs(finds: Finds, call: str, expected: list[str]) -> None:
    finds(f"{call}\n", "K24", *expected)


def test_bulk_copies_for_one_architecture(finds: Finds) -> None:
    for call in ("T.tma_copy(a, b)", "T.tma_load(d, b, s)"):
        result = finds(f"{call}\n", "K15", "error 1", arch=("mp_22",))
        assert [(item.message[-24:], item.advice) for item in result.findings] == [
            ("mp_22 has no bulk copies", "Write T.copy.")
        ]
    finds("T.tma_store_arrive()\nT.tma_store_wait(1)\n", "K15", "error 1", "error 2", arch=("mp_22",))


# ---- K17 ---------------------------------------------------------------------------------------------------------


def test_specialised(finds: Finds) -> None:
    text = "with T.Kernel(8, threads=256, producer_threads=128) as i:\n    with T.ws(0):\n        x = 1\n"
    finds(text, "K17", "warning 1", "info 2", arch=("mp_31",))
    finds(text, "K17", "warning 1", "warning 2")
    finds(text, "K17", "warning 1", "error 2", arch=("mp_22",))


# ---- K25, K26, K35 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("T.shfl_sync(x, 0)", ["info 1"]),
        ("T.shfl_sync(x, 0, 16)", ["warning 1"]),
        ("T.shfl_xor(x, 1, mask=255)", ["warning 1"]),
        ("T.shfl_down(x, 1)", []),
        ("T.warp_reduce_sum(x)", []),
        ("T.sync_warp()", []),
    ],
)
def test_shuffles(finds: Finds, call: str, expected: list[str]) -> None:
    finds(f"y = {call}\n", "K25", *expected, arch=("mp_31",))


@pytest.mark.parametrize(
    "word", "shfl_sync shfl_xor shfl_up shfl_down warp_reduce_max ballot_sync any_sync tvm_warp_shuffle".split()
)
def test_shuffles_on_wide_warps(finds: Finds, word: str) -> None:
    finds(f"y = T.{word}(x, 0)\n", "K25", "warning 1")


LITERALS = [
    "lane = tid % 32", "warp = thread_idx // 32", "lane = tx & 31", "warp = tx >> 5", "n = num_threads // 32",
    "lane = T.get_thread_binding() % 32", "warp_size = 32", "WARP_SIZE: int = 32\nWARP_SIZE = 32",
    "y = f(0xFFFFFFFF)", "y = f(mask=0xffffffff)",
]  # fmt: skip
NO_LITERALS = [
    "x = y % 32", "i = index // 32", "lane = tid % 64", "lane = tid & 15", "warp = tx >> 4", "warp_size = 64",
    "warp_size = width", "n = align(m, 32)", "x = 0xFFFFFFFF", "block = 32", "t = tid * 32",
]  # fmt: skip


@pytest.mark.parametrize("text", LITERALS)
def test_widths(finds: Finds, text: str) -> None:
    finds(f"{text}\n", "K26", f"warning {1 + text.count(chr(10))}")
    finds(f"{text}\n", "K26", arch=("mp_31",))


@pytest.mark.parametrize("text", NO_LITERALS)
def test_other_numbers(finds: Finds, text: str) -> None:
    finds(f"{text}\n", "K26")


def test_widths_without_tilelang(finds: Finds) -> None:
    finds("lane = tid % 32\n", "K26", head="import torch\n")


def test_one_finding_for_a_function(finds: Finds) -> None:
    finds(
        "def f():\n    warp = tid // 32\n    lane = tid % 32\n\ndef g():\n    lane = tid % 32\n",
        "K26",
        "warning 2",
        "warning 6",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f():\n    with T.Kernel(8, threads=32) as i:\n        pass\n", ["info 2"]),
        ("def f(n=32):\n    with T.Kernel(8, threads=n) as i:\n        pass\n", ["info 2"]),
        ("def f(n):\n    with T.Kernel(8, threads=n) as i:\n        pass\nf(32)\nf(64)\n", ["info 2"]),
        ("def f(n):\n    with T.Kernel(8, threads=n) as i:\n        pass\nf(64)\n", []),
        ("def f():\n    with T.Kernel(8, threads=128) as i:\n        pass\n", []),
        ("def f():\n    with T.Kernel(8) as i:\n        pass\n", []),
        ("def f():\n    with T.Kernel(8, threads=(16, 2)) as i:\n        pass\n", ["info 2"]),
    ],
)
def test_blocks_of_a_warp(finds: Finds, text: str, expected: list[str]) -> None:
    finds(text, "K35", *expected)
