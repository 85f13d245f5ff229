"""Whole programs in the style that kernels are written in: what is done to them, and what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from musa_port import FilePort
    from tests.porter.tilelang.conftest import Port

MP31 = ("mp_31",)


def said(result: FilePort, *rules: str) -> list[str]:
    """The findings of these rules, or of all H and K, as `RULE severity line`."""
    return [
        f"{finding.rule} {finding.severity.value} {finding.line}"
        for finding in result.findings
        if (finding.rule in rules if rules else finding.rule[0] in "HK")
    ]


def changed(result: FilePort) -> dict[str, list[tuple[str, str]]]:
    """What was replaced by what, by rule."""
    table: dict[str, list[tuple[str, str]]] = {}
    for edit in result.edits:
        table.setdefault(edit.rule, []).append((edit.old, edit.new))
    return table


MATMUL = """\
import torch
import tilelang
import tilelang.language as T


@tilelang.jit(
    out_idx=[-1],
    target="cuda",
    execution_backend="nvrtc",
    pass_configs={
        tilelang.PassConfigKey.TL_DISABLE_WARP_SPECIALIZED: True,
        tilelang.PassConfigKey.TL_PTXAS_REGISTER_USAGE_LEVEL: 10,
    },
    compile_flags=["-O3", "--use_fast_math", "-lineinfo"],
)
def matmul(M, N, K, block_M, block_N, block_K, dtype="float16", accum_dtype="float"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.use_swizzle(panel_size=10)
            T.annotate_layout({A_shared: tilelang.layout.make_swizzled_layout(A_shared)})
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=3):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


kernel = matmul(1024, 1024, 1024, 128, 128, 32)
a = torch.randn(1024, 1024, device="cuda").half()
"""


def test_matmul(port: Port) -> None:
    result = port(MATMUL, head="", arch=MP31)
    expected = MATMUL
    for old, new in [
        ('target="cuda"', 'target="musa"'),
        ('execution_backend="nvrtc"', 'execution_backend="tvm_ffi"'),
        ("        tilelang.PassConfigKey.TL_PTXAS_REGISTER_USAGE_LEVEL: 10,\n", ""),
        ('["-O3", "--use_fast_math", "-lineinfo"]', '["-O3", "-ffast-math"]'),
        ("            T.annotate_layout({A_shared: tilelang.layout.make_swizzled_layout(A_shared)})\n", ""),
        ('device="cuda"', 'device="musa"'),
        ("import torch\n", "import torch\nimport torch_musa\n"),
    ]:
        assert old in expected
        expected = expected.replace(old, new)
    assert result.data.decode() == expected
    assert said(result) == ["H10 info 14", "H11 info 14", "K1 warning 27", "K12 warning 28", "K14 info 30"]


FLASH = """\
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[3])
def flash_attention(batch, heads, seq_len, dim, is_causal, block_M=64, block_N=64, num_stages=1, threads=128):
    scale = (1.0 / dim) ** 0.5 * 1.44269504
    shape = [batch, seq_len, heads, dim]
    dtype = T.bfloat16
    accum_dtype = T.float32

    @T.prim_func
    def main(
        Q: T.Tensor(shape, dtype),
        K: T.Tensor(shape, dtype),
        V: T.Tensor(shape, dtype),
        Output: T.Tensor(shape, dtype),
    ):
        with T.Kernel(T.ceildiv(seq_len, block_M), heads, batch, threads=threads) as (bx, by, bz):
            Q_shared = T.alloc_shared([block_M, dim], dtype)
            K_shared = T.alloc_shared([block_N, dim], dtype)
            V_shared = T.alloc_shared([block_N, dim], dtype)
            scores = T.alloc_fragment([block_M, block_N], accum_dtype)
            P = T.alloc_fragment([block_M, block_N], dtype)
            O = T.alloc_fragment([block_M, dim], accum_dtype)
            maximum = T.alloc_fragment([block_M], accum_dtype)
            T.copy(Q[bz, bx * block_M : (bx + 1) * block_M, by, :], Q_shared)
            T.fill(O, 0)
            T.fill(maximum, -T.infinity(accum_dtype))
            for k in T.Pipelined(T.ceildiv(seq_len, block_N), num_stages=num_stages):
                T.copy(K[bz, k * block_N : (k + 1) * block_N, by, :], K_shared)
                T.clear(scores)
                T.gemm(Q_shared, K_shared, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.reduce_max(scores, maximum, dim=1, clear=False)
                for i, j in T.Parallel(block_M, block_N):
                    scores[i, j] = T.exp2(scores[i, j] * scale - maximum[i] * scale)
                T.copy(scores, P)
                T.copy(V[bz, k * block_N : (k + 1) * block_N, by, :], V_shared)
                # P x V
                T.gemm(P, V_shared, O, policy=T.GemmWarpPolicy.FullRow)
            T.copy(O, Output[bz, bx * block_M : (bx + 1) * block_M, by, :])

    return main


kernel = flash_attention(8, 32, 4096, 128, False, block_M=128, block_N=128, num_stages=2, threads=256)
"""


def test_flash_attention(port: Port) -> None:
    """P goes through shared memory, as in the port that Moore Threads made by hand."""
    result = port(FLASH, head="", arch=MP31)
    allocation = "            P = T.alloc_fragment([block_M, block_N], dtype)\n"
    product = "                T.gemm(P, V_shared, O, policy=T.GemmWarpPolicy.FullRow)\n"
    expected = FLASH.replace(
        allocation, allocation + "            P_shared = T.alloc_shared([block_M, block_N], dtype)\n"
    ).replace(product, "                T.copy(P, P_shared)\n" + product.replace("(P,", "(P_shared,"))
    assert result.data.decode() == expected
    # Q 128x128, K and V 128x128 in two stages, and the new tile, of two bytes each: 196608, exactly what there is.
    assert said(result) == ["H7 info 5", "K14 info 30", "K4 warning 40"]


def test_flash_attention_of_larger_heads(port: Port) -> None:
    result = port(FLASH.replace("4096, 128,", "4096, 192,"), head="", arch=MP31)
    (finding,) = (finding for finding in result.findings if finding.rule == "K32")
    assert "278528 B of 196608 B" in finding.message  # (128 + 2 * 128 + 2 * 128) * 192 * 2 + 128 * 128 * 2
    assert "P_shared 32768, which rule K4 adds" in finding.message


SPECIALISED = """\
import tilelang
import tilelang.language as T

NUM_STAGES = 2


@tilelang.jit(out_idx=[2], pass_configs={"tl.enable_auto_warp_specialization": False, "tl.disable_tma_lower": False})
def gemm_ws(M: int, N: int, K: int):
    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((K, N), "bfloat16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(N // 128, M // 128, threads=256, cluster_dims=(2, 1, 1)) as (bx, by):
            A_shared = T.alloc_shared((NUM_STAGES, 128, 64), "bfloat16")
            B_shared = T.alloc_shared((NUM_STAGES, 64, 128), "bfloat16")
            C_local = T.alloc_fragment((128, 128), "float32")
            full = T.alloc_barrier([1] * NUM_STAGES)
            empty = T.alloc_barrier([128] * NUM_STAGES)
            with T.ws(1):
                T.dec_max_nreg(24)
                for k in T.serial(K // 64):
                    T.mbarrier_wait_parity(empty[k % NUM_STAGES], (k // NUM_STAGES + 1) % 2)
                    T.tma_copy(A[by * 128, k * 64], A_shared[k % NUM_STAGES, :, :], barrier=full[k % NUM_STAGES])
                    T.tma_copy(B[k * 64, bx * 128], B_shared[k % NUM_STAGES, :, :], barrier=full[k % NUM_STAGES])
                    T.barrier_arrive(full[k % NUM_STAGES])
            with T.ws(0):
                T.inc_max_nreg(240)
                T.clear(C_local)
                for k in T.serial(K // 64):
                    T.mbarrier_wait_parity(full[k % NUM_STAGES], k // NUM_STAGES % 2)
                    T.warpgroup_arrive()
                    T.wgmma_gemm(A_shared[k % NUM_STAGES, :, :], B_shared[k % NUM_STAGES, :, :], C_local)
                    T.wait_wgmma(0)
                    T.barrier_arrive(empty[k % NUM_STAGES])
                T.copy(C_local, C[by * 128, bx * 128])

    return main
"""


def test_warp_specialised(port: Port) -> None:
    result = port(SPECIALISED, head="", arch=MP31)
    table = changed(result)
    assert [old.strip() for old, _ in table["K18"]] == ["T.dec_max_nreg(24)", "T.inc_max_nreg(240)"]
    assert [new for _, new in table["K9"]] == ["gemm", ", wg_wait=-1"]
    assert table["K10"] == [("wait_wgmma(0)", "wait_sqmma()")]
    assert table["H28"] == [('"tl.enable_auto_warp_specialization": False, ', "")]
    assert set(table) == {"H28", "K9", "K10", "K18"}
    assert said(result) == [
        "H7 info 7", "H28 warning 7", "K21 error 11", "K16 warning 15", "K17 info 17", "K15 warning 21",
        "K9 warning 29", "K9 warning 30", "K6 error 30", "K6 error 30",
    ]  # fmt: skip


DEQUANT = """\
from tilelang import language as TL
from tilelang import jit
import tilelang as tl
from tvm import tir, te
from tilelang.contrib import nvcc
from tilelang.utils.target import determine_target


def vector_size():
    major, _ = nvcc.parse_compute_version(nvcc.get_target_compute_version(determine_target("auto", return_object=True)))
    return 32 if major >= 10 else 16


def unpack(nbit: int, value: tir.PrimExpr, position: tir.PrimExpr, dtype: str):
    mask = tir.const((1 << nbit) - 1, "uint8")
    return ((value >> (position * nbit).astype("uint8")) & mask).astype(dtype)


@jit(target={"kind": "cuda", "arch": "sm_90a"}, execution_backend="cython")
def dequant_gemm(M, N, K, block_M=128, block_N=128, block_K=128, threads=128):
    @TL.prim_func
    def main(A: TL.Tensor((M, K), "e4m3_float8"), B: TL.Tensor((N, K // 2), "uint8"), C: TL.Tensor((M, N), "float16")):
        with TL.Kernel(TL.ceildiv(N, block_N), TL.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_shared = TL.alloc_shared((block_M, block_K), "float8_e4m3fn")
            B_shared = TL.alloc_shared((block_N, block_K // 2), "uint8")
            B_local = TL.alloc_fragment((block_N, block_K), "float8_e4m3fn")
            C_local = TL.alloc_fragment((block_M, block_N), "float16")
            TL.pdl_sync()
            for k in TL.Pipelined(K // block_K, num_stages=4):
                TL.copy(A[by * block_M, k * block_K], A_shared)
                TL.copy(B[bx * block_N, k * block_K // 2], B_shared)
                for i, j in TL.Parallel(block_N, block_K):
                    B_local[i, j] = unpack(4, B_shared[i, j // 2], j % 2, "float8_e4m3fn")
                TL.gemm(A_shared, B_local, C_local, transpose_B=True)
            TL.copy(C_local, C[by * block_M, bx * block_N])

    return main
"""


def test_dequantised_gemm(port: Port) -> None:
    result = port(DEQUANT, head="", arch=MP31)
    text = result.data.decode()
    for new in [
        "from tvm import te\ntry:\n    from tvm import tirx as tir\nexcept ImportError:\n    from tvm import tir\n",
        "from tilelang.contrib import mcc as nvcc\nfrom tilelang.backend.target import determine_target\n",
        'target={"kind": "musa", "arch": "mp_31"}, execution_backend="tvm_ffi"',
        'B_local_shared = TL.alloc_shared((block_N, block_K), "float8_e4m3fn")\n',
        "                TL.copy(B_local, B_local_shared)\n                TL.gemm(A_shared, B_local_shared, C_local",
        'C_local = TL.alloc_fragment((block_M, block_N), "float32")',
    ]:
        assert new in text, new
    assert "pdl_sync" not in text
    # A 128x128 and B 128x64 in four stages, and the new tile of 128x128, of a byte each: within the limit.
    assert said(result) == ["H20 warning 10", "H20 warning 10", "K5 warning 27", "K14 info 29", "K4 warning 34"]


def test_mp22_is_told_more(port: Port) -> None:
    """With both architectures among --arch, what one of them lacks is a warning and no error."""
    result = port(DEQUANT, head="")
    assert {"K3 warning 34", "K31 warning 22"} <= set(said(result))
    assert not [item for item in said(result) if " error " in item]
    alone = said(port(DEQUANT, head="", arch=("mp_22",)))
    assert {"K3 error 34", "K31 error 22"} <= set(alone)
