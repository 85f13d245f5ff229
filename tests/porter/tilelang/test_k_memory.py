"""Shared memory: K32. The sums are worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Port

MP31 = ("mp_31",)


def memory(port: Port, text: str, archs: tuple[str, ...] = MP31) -> list[str]:
    """The messages of K32, with their severity."""
    result = port(text, arch=archs)
    return [f"{item.severity.value} {item.message}" for item in result.findings if item.rule == "K32"]


def tiles(*lines: str) -> str:
    return "\n".join(["def f():", "    with T.Kernel(8) as i:", *(f"        {line}" for line in lines), ""])


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [
        ("(256, 512)", "'float16'", 262144),
        ("(256, 512)", "T.bfloat16", 262144),
        ("[256, 256]", "'float32'", 262144),
        ("(256, 256)", "T.float", 262144),
        ("65536", "T.int32", 262144),
        ("(4, 256, 256)", "torch.int8", 262144),
        ("(512, 512)", "'float8_e4m3'", 262144),
        ("(512, 512)", "T.float8_e4m3fn", 262144),
        ("(512, 1024)", "T.float4_e2m1fn", 262144),
        ("(2, 256 * 64)", "'float64'", 262144),
        ("(T.ceildiv(1000, 8), 256)", "'float64'", 256000),
        ("(1 << 9, 2 ** 8)", "'float16'", 262144),
    ],
)
def test_sizes(port: Port, shape: str, dtype: str, size: int) -> None:
    (said,) = memory(port, tiles(f"a = T.alloc_shared({shape}, {dtype})"))
    assert said == f"warning alloc_shared of f needs {size} B of 196608 B on mp_31: a {size}"


@pytest.mark.parametrize(
    ("rows", "exceeds"),
    [(192, False), (193, True)],
)
def test_the_limit_is_192_kib(port: Port, rows: int, exceeds: bool) -> None:
    assert bool(memory(port, tiles(f"a = T.alloc_shared(({rows}, 1024), 'int8')"))) == exceeds


def test_fragments_and_other_kernels_do_not_count(port: Port) -> None:
    text = tiles("a = T.alloc_shared((128, 1024), 'int8')", "b = T.alloc_fragment((256, 1024), 'float32')")
    assert memory(port, text + text.replace("f()", "g()")) == []


GEMM = """\
def matmul(M, N, K, block_M, block_N, block_K, num_stages=2, dtype='bfloat16'):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), 'float32')
            C_shared = T.alloc_shared((block_M, block_N), dtype)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C_shared)
            T.copy(C_shared, C[by * block_M, bx * block_N])
    return main
"""


@pytest.mark.parametrize(
    ("call", "size"),
    [
        # tiles of 128x64 and 64x128 in two stages, and the result
        ("matmul(1024, 1024, 1024, 128, 128, 64)", None),  # 2 * 16384 + 2 * 16384 + 32768 = 98304
        ("matmul(1024, 1024, 1024, 128, 128, 128)", None),  # 2 * 32768 + 2 * 32768 + 32768 = 163840
        ("matmul(1024, 1024, 1024, 256, 256, 64)", 262144),  # 2 * 32768 + 2 * 32768 + 131072
        ("matmul(1024, 1024, 1024, 256, 256, 64, num_stages=3)", 327680),
        ("matmul(1024, 1024, 1024, 256, 256, 64, 0)", None),  # 196608, which is all there is
        ("matmul(1024, 1024, 1024, 256, 256, 64, dtype='float32')", 524288),
        ("matmul(M=1, N=1, K=1, block_M=256, block_N=256, block_K=128)", 393216),
    ],
)
def test_stages(port: Port, call: str, size: int | None) -> None:
    said = memory(port, f"{GEMM}program = {call}\n")
    assert bool(said) == (size is not None)
    if size is not None:
        assert f"needs {size} B of 196608 B on mp_31" in said[0]
        assert "C_shared" in said[0]
        assert ("stages" in said[0]) == (", 0)" not in call)


def test_the_largest_of_several_calls(port: Port) -> None:
    calls = "a = matmul(1, 1, 1, 128, 128, 32)\nb = matmul(1, 1, 1, 256, 256, 64)\nc = matmul(M, 1, 1, 64, 64, 32)\n"
    (said,) = memory(port, GEMM + calls)
    assert "262144 B" in said


def test_unknown_sizes_of_products_name_what_they_depend_on(port: Port) -> None:
    assert memory(port, GEMM) == [
        "info the shared memory of matmul depends on block_K, block_M, block_N: keep it below 196608 B"
    ]


def test_unknown_sizes_elsewhere_are_no_finding(port: Port) -> None:
    assert memory(port, "def f(n):\n    with T.Kernel(8) as i:\n        a = T.alloc_shared((n, 64), 'float16')\n") == []


def test_what_is_known_is_enough(port: Port) -> None:
    text = "def f(n):\n    with T.Kernel(8) as i:\n        a = T.alloc_shared((n, 64), 'int8')\n"
    text += "        b = T.alloc_shared((512, 512), 'int8')\n"
    (said,) = memory(port, text)
    assert "needs at least 262144 B" in said


def test_mp22(port: Port) -> None:
    """Its size is not public; tiles of 128x128x64 in three stages, 98304 B, were too much."""
    text = tiles("a = T.alloc_shared((96, 1024), 'int8')")
    assert memory(port, text, ("mp_22",)) == [
        "warning alloc_shared of f needs 98304 B on mp_22, where tiles of 98304 B did not fit: a 98304"
    ]
    assert memory(port, text.replace("96", "95"), ("mp_22",)) == []
    assert memory(port, text) == []


def test_macros_allocate_too(port: Port) -> None:
    text = (
        "@T.macro\ndef stage(n: int):\n    a = T.alloc_shared((n, 1024), 'int8')\n    T.clear(a)\n\n\n"
        "def f():\n    with T.Kernel(8) as i:\n        stage(100)\n        stage(n=120)\n"
    )
    (said,) = memory(port, text)
    assert f"needs {220 * 1024} B" in said


def test_macros_load_in_pipelines(port: Port) -> None:
    text = (
        "@T.macro\ndef load(G: T.Tensor, S: T.SharedBuffer):\n    T.copy(G[0, 0], S)\n\n\n"
        "def f(G):\n    with T.Kernel(8) as i:\n        a = T.alloc_shared((64, 1024), 'int8')\n"
        "        for k in T.Pipelined(8, num_stages=4):\n            load(G, a)\n"
    )
    (said,) = memory(port, text)
    assert f"needs {4 * 64 * 1024} B" in said
    assert "a 65536 x 4 stages" in said
