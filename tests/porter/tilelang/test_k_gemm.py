"""T.gemm: K3 and K34 (which unit), K4 (fragments), K5 (accumulators), K6 (slices), K7 and K8 (layouts)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Finds, Port, Rewrites

MP31 = {"arch": ("mp_31",)}


def kernel(
    m: int,
    n: int,
    k: int,
    threads: int | None = 128,
    dtype: str = "float16",
    accumulator: str = "float32",
    more: str = "",
) -> str:
    """A kernel with one product of shared tiles, B transposed; the product is on line 6."""
    given = "" if threads is None else f", threads={threads}"
    return (
        f"def gemm():\n    with T.Kernel(8{given}) as i:\n        A = T.alloc_shared(({m}, {k}), '{dtype}')\n"
        f"        B = T.alloc_shared(({n}, {k}), '{dtype}')\n"
        f"        C = T.alloc_fragment(({m}, {n}), '{accumulator}')\n        T.gemm(A, B, C, transpose_B=True{more})\n"
    )


def units(port: Port, text: str) -> list[str]:
    """What K3 and K34 say of a text on mp_31, as words of their messages."""
    said = []
    for finding in port(text, arch=("mp_31",)).findings:
        if finding.rule in ("K3", "K34"):
            words = {"WMMA or a scalar": "either", "WMMA": "wmma", "scalar": "scalar", "not compile": "none"}
            said += [next(word for text, word in words.items() if text in finding.message)]
            assert (finding.severity.value == "error") == (said[-1] == "none")
    return said


# ---- K3, K34 -----------------------------------------------------------------------------------------------------

#: What 486 tiles of 16-bit types were lowered to, by threads, M and N; everything else in the sweep stayed on SQMMA.
MEASURED = {
    128: {(16, 16): "scalar", (16, 32): "wmma", (32, 16): "wmma"},
    256: {(16, 16): "none", (16, 32): "scalar", (32, 16): "scalar", (32, 32): "wmma", (16, 64): "wmma",
          (64, 16): "wmma", (128, 16): "wmma", (256, 16): "wmma"},
}  # fmt: skip
SIDES = (16, 32, 64, 128, 256)


@pytest.mark.parametrize("threads", [128, 256])
@pytest.mark.parametrize("m", SIDES)
def test_measured_tiles(port: Port, threads: int, m: int) -> None:
    for n in SIDES:
        expected = MEASURED[threads].get((m, n))
        assert units(port, kernel(m, n, 64, threads)) == ([expected] if expected else []), (m, n)


@pytest.mark.parametrize(
    ("tile", "expected"),
    [
        ((96, 96, 64, 128), []),
        ((128, 96, 64, 128), []),
        ((192, 128, 64, 128), []),
        ((128, 160, 64, 128), []),
        ((128, 128, 48, 128), []),
        ((8, 128, 64, 128), ["wmma"]),
        ((128, 8, 64, 128), ["wmma"]),
        ((100, 128, 64, 128), ["none"]),
        ((128, 100, 64, 128), ["scalar"]),
        ((128, 128, 64, 512), []),
        ((128, 128, 64, 1024), []),
        ((128, 128, 64, None), []),
        ((128, 128, 8, 128), ["either"]),
    ],
)
def test_other_tiles(port: Port, tile: tuple[int, int, int, int], expected: list[str]) -> None:
    assert units(port, kernel(*tile)) == expected


@pytest.mark.parametrize("threads", [96, 192, 384, 640])
def test_threads_without_a_layout(port: Port, threads: int) -> None:
    """They fail for a tile of 128x128; for another they are no multiple of 128 at least."""
    assert "none" in units(port, kernel(128, 128, 64, threads))


@pytest.mark.parametrize("threads", [32, 64])
def test_few_threads(finds: Finds, threads: int) -> None:
    finds(kernel(64, 64, 64, threads), "K34", "warning 2", **MP31)
    finds(kernel(64, 64, 64, threads), "K3", **MP31)


@pytest.mark.parametrize(("threads", "expected"), [(160, ["wmma"]), (130, ["scalar"])])
def test_odd_threads(port: Port, threads: int, expected: list[str]) -> None:
    assert units(port, kernel(64, 64, 64, threads)) == expected


@pytest.mark.parametrize(
    ("tile", "expected"),
    [
        ((128, 128, 32), []),
        ((64, 64, 16), []),
        ((128, 128, 64), ["wmma"]),
        ((256, 64, 32), ["wmma"]),
        ((64, 256, 32), ["wmma"]),
    ],
)
def test_tf32(port: Port, tile: tuple[int, int, int], expected: list[str]) -> None:
    assert units(port, kernel(*tile, dtype="float32")) == expected


@pytest.mark.parametrize("dtype", ["int8", "float8_e4m3fn", "float8_e5m2"])
def test_bytes(port: Port, dtype: str) -> None:
    accumulator = "int32" if dtype == "int8" else "float32"
    assert units(port, kernel(128, 128, 128, dtype=dtype, accumulator=accumulator)) == []
    assert units(port, kernel(128, 128, 48, dtype=dtype, accumulator=accumulator)) == ["either"]


def test_unknown_sizes_are_no_findings(finds: Finds) -> None:
    text = (
        "def gemm(m, n, k, threads):\n    with T.Kernel(8, threads=threads) as i:\n"
        "        A = T.alloc_shared((m, k), 'float16')\n        B = T.alloc_shared((k, n), 'float16')\n"
        "        C = T.alloc_fragment((m, n), 'float32')\n        T.gemm(A, B, C)\n"
    )
    finds(text, "K3", **MP31)


def test_sizes_from_calls_and_configurations(port: Port) -> None:
    text = (
        "@tilelang.autotune(configs=[{'m': 16, 'threads': 128}, dict(m=32, threads=128)])\n"
        "@tilelang.jit(target='musa')\ndef gemm(m, threads):\n    n = m\n    @T.prim_func\n    def main():\n"
        "        with T.Kernel(8, threads=threads) as i:\n            A = T.alloc_shared((m, 64), T.bfloat16)\n"
        "            B = T.alloc_shared((64, n), T.bfloat16)\n            C = T.alloc_fragment((m, n), T.float32)\n"
        "            T.gemm(A, B, C)\n    return main\n"
    )
    assert units(port, text) == ["scalar"]
    assert sorted(units(port, text + "gemm(16, threads=256)\n")) == ["none", "scalar"]


@pytest.mark.parametrize(
    ("archs", "expected"), [(("mp_31",), []), (("mp_22", "mp_31"), ["warning 6"]), (("mp_22",), ["error 6"])]
)
def test_no_product_compiles_for_mp22(finds: Finds, archs: tuple[str, ...], expected: list[str]) -> None:
    finds(kernel(128, 128, 64), "K3", *expected, arch=archs)


def test_no_room_for_producers(finds: Finds) -> None:
    text = kernel(128, 128, 64, 1024).replace("        T.gemm", "        for k in T.Pipelined(4):\n            T.gemm")
    finds(text, "K3", "warning 2", **MP31)


# ---- K4 ----------------------------------------------------------------------------------------------------------

ATTENTION = """\
def attention():
    with T.Kernel(8, threads=256) as i:
        P = T.alloc_fragment([64, 64], 'float16')  # scores
        V = T.alloc_shared([64, 64], 'float16')
        O = T.alloc_fragment([64, 64], 'float32')
        T.gemm(P, V, O)
"""
PORTED = """\
def attention():
    with T.Kernel(8, threads=256) as i:
        P = T.alloc_fragment([64, 64], 'float16')  # scores
        P_shared = T.alloc_shared([64, 64], 'float16')
        V = T.alloc_shared([64, 64], 'float16')
        O = T.alloc_fragment([64, 64], 'float32')
        T.copy(P, P_shared)
        T.gemm(P_shared, V, O)
"""


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_fragment_goes_through_shared_memory(rewrites: Rewrites, ending: str) -> None:
    head = ending.join(["import tilelang.language as T", ""])
    before, after = (text.replace("\n", ending).encode() for text in (ATTENTION, PORTED))
    rewrites(before, after, ["K4"], ["K4 warning"], head=head, **MP31)


def test_a_fragment_as_second_operand(rewrites: Rewrites) -> None:
    before, after = (text.replace("P, V", "V, P").replace("P_shared, V", "V, P_shared") for text in (ATTENTION, PORTED))
    rewrites(before, after, ["K4"], **MP31)


def test_a_fragment_in_two_products(rewrites: Rewrites) -> None:
    """One tile, and a copy before each."""
    before = ATTENTION + "        T.clear(P)\n        T.gemm(P, V, O)\n"
    after = PORTED + "        T.clear(P)\n        T.copy(P, P_shared)\n        T.gemm(P_shared, V, O)\n"
    rewrites(before, after, ["K4"], **MP31)


def test_without_automatic_synchronisation_the_kernel_waits(rewrites: Rewrites) -> None:
    key = "C = {tilelang.PassConfigKey.TL_DISABLE_THREAD_STORAGE_SYNC: True}\n"
    after = PORTED.replace("T.copy(P, P_shared)\n", "T.copy(P, P_shared)\n        T.sync_threads()\n")
    rewrites(key + ATTENTION, key + after, ["K4"], **MP31)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("T.gemm(P", "T.gemm(P[:, :]"),
        ("        T.gemm", "        x = 1; T.gemm"),
        ("        T.gemm(P, V, O)", "        with T.ws(0):\n            T.gemm(P, V, O)"),
        ("'float16')  # scores", "'float16', scope='local.fragment')"),
        ("    with", "    P_shared = 1\n    with"),
    ],
)
def test_products_that_are_not_plain_are_errors(port: Port, old: str, new: str) -> None:
    result = port(ATTENTION.replace(old, new, 1), **MP31)
    assert result.edits == []
    assert [finding.severity.value for finding in result.findings if finding.rule == "K4"] == ["error"]


def test_products_in_macros_are_errors(finds: Finds) -> None:
    text = (
        "@T.macro\ndef product(P: T.FragmentBuffer([64, 64], 'float16'), V: T.SharedBuffer, O: T.FragmentBuffer):\n"
        "    T.gemm(P, V, O)\n"
    )
    finds(text, "K4", "error 3", **MP31)


@pytest.mark.parametrize("other", ["alloc_fragment", "alloc_local"])
def test_two_fragments_stay(rewrites: Rewrites, other: str) -> None:
    rewrites(ATTENTION.replace("alloc_shared", other), **MP31)


def test_two_fragments_are_slow(finds: Finds) -> None:
    finds(ATTENTION.replace("alloc_shared", "alloc_fragment"), "K3", "warning 6", **MP31)


def test_on_mp22_alone_nothing_is_rewritten(rewrites: Rewrites) -> None:
    rewrites(ATTENTION, arch=("mp_22",))


# ---- K5 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [("'float16'", "'float32'"), ('"half"', '"float32"'), ("T.float16", "T.float32"), ("T.bfloat16", "T.float32")],
)
def test_accumulators(rewrites: Rewrites, old: str, new: str) -> None:
    text = kernel(64, 64, 64, accumulator="@").replace("'@'", "@")
    rewrites(text.replace("@", old), text.replace("@", new), ["K5"], ["K5 warning"], **MP31)


def test_accumulators_whose_type_is_a_parameter(finds: Finds) -> None:
    text = kernel(64, 64, 64).replace("gemm()", "gemm(accum_dtype='float16')").replace("'float32'", "accum_dtype")
    finds(text, "K5", "warning 6", **MP31)


def test_accumulators_that_are_operands_too_are_left(finds: Finds) -> None:
    text = kernel(64, 64, 64, accumulator="float16") + "        T.gemm(C, C, D)\n"
    finds(text, "K5", "warning 6", **MP31)


@pytest.mark.parametrize("dtype", ["float32", "float", "int32", "uint32"])
def test_wide_accumulators_stay(finds: Finds, dtype: str) -> None:
    finds(kernel(64, 64, 64, accumulator=dtype), "K5", **MP31)


# ---- K6 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operand", ["A[stage, :, :]", "A[1, :, :]", "A[:, k0:k1]", "A[64:, :]", "A[i]"])
def test_slices(finds: Finds, operand: str) -> None:
    finds(f"T.gemm({operand}, B, C)\nT.gemm(B, {operand}, C)\n", "K6", "error 1", "error 2", **MP31)


@pytest.mark.parametrize("operand", ["A", "A[:, :]", "A[0:64, :]", "A[0, :, :]"])
def test_whole_tiles(finds: Finds, operand: str) -> None:
    finds(f"T.gemm({operand}, B, C)\n", "K6", **MP31)


def test_slices_of_the_accumulator_are_left(finds: Finds) -> None:
    finds("T.gemm(A, B, C[:, 0:64])\nT.copy(A[1, :], B)\n", "K6", **MP31)


# ---- K7, K8 ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threads", "dtype", "expected"),
    [(256, "float16", ["warning 6"]), (512, "bfloat16", ["warning 6"]), (128, "float16", []), (256, "float32", [])],
)
def test_transposed(finds: Finds, threads: int, dtype: str, expected: list[str]) -> None:
    finds(kernel(64, 64, 64, threads, dtype, more=", transpose_A=True"), "K7", *expected, **MP31)


@pytest.mark.parametrize(("dtype", "expected"), [("float8_e4m3", ["warning 6"]), ("float16", []), ("int8", [])])
def test_fp8_across(finds: Finds, dtype: str, expected: list[str]) -> None:
    text = kernel(128, 128, 128, dtype=dtype)
    finds(text, "K7", **MP31)
    finds(text.replace("transpose_B=True", "transpose_B=False"), "K7", *expected, **MP31)


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ("T.gemm(A, D, E, transpose_A=True)", ["error 7"]),
        ("T.gemm(D, B, E)", ["error 7"]),
        ("T.gemm(B, D, E, transpose_A=True)", ["error 7"]),
        ("T.gemm(A, D, E)", []),
        ("T.gemm(D, B, E, transpose_B=True)", []),
        ("T.gemm(B, D, E)", []),
        ("T.gemm(A, D, E, transpose_A=flag)", []),
    ],
)
def test_two_layouts(finds: Finds, second: str, expected: list[str]) -> None:
    """The first product reads A, and B transposed, along K."""
    finds(kernel(64, 64, 64) + f"        {second}\n", "K8", *expected, **MP31)


@pytest.mark.parametrize(
    ("allocation", "expected"),
    [("alloc_fragment", []), ("alloc_shared", ["error 6"]), ("alloc_local", ["error 6"])],
)
def test_the_memory_of_accumulators(finds: Finds, allocation: str, expected: list[str]) -> None:
    text = kernel(64, 64, 64).replace("alloc_fragment", allocation)
    finds(text, "K3", *expected, **MP31)
