"""What no rule may touch, and files as they come: other encodings, line endings, no line ending at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musa_port import port_sources

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Port, Rewrites

#: Words of TileLang in a file that is not: whatever `T` is here, it is no language of kernels.
OTHER = """\
import torch
import typing as T
import torchvision.transforms as tv

target = "cuda"
flags = dict(compile_flags=["-use_fast_math"], execution_backend="nvrtc")
configs = {"tl.ptxas_register_usage_level": 10, PassConfigKey.TL_PTXAS_REGISTER_USAGE_LEVEL: 8}


def f(T):
    T.pdl_sync()
    T.set_max_nreg(240, 1)
    T.wait_wgmma(0)
    y = T.fast_rcp(x) % 32
    T.annotate_layout({a: make_swizzled_layout(a)})
    with T.Kernel(8, threads=32) as bx:
        A = T.alloc_shared((1024, 1024), "float32")
        T.gemm(A[1, :], B, C)
    assert "__syncthreads()" in source
"""


def test_other_programs(rewrites: Rewrites) -> None:
    result = rewrites(OTHER, head="")
    assert {finding.rule for finding in result.findings if finding.rule[0] in "HK"} == set()


#: The same words in a TileLang file, where they mean nothing to the rules.
WORDS = '''\
"""Calls T.pdl_sync() and T.gemm(fragment, shared); target="cuda"; "cuda -arch=sm_90"."""

# T.pdl_sync()
# tilelang.compile(p, target="cuda")


class Kernel:
    """Has T.set_max_nreg(240, 1)."""

    def pdl_sync(self) -> None:
        self.set_max_nreg(240, 1)

    def gemm(self, a, b, c):
        self.pdl_sync()
        return f"T.pdl_sync() {a} T.wait_wgmma(0)"


text = "T.pdl_sync()\\nT.wait_wgmma(0)\\n"
log("running with target=cuda and -use_fast_math")
name = "tl.ptxas_register_usage_level"
device_names = ["tile_cuda", "cuda_kernels"]
'''


def test_words_without_meaning(rewrites: Rewrites) -> None:
    rewrites(WORDS)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "not-ended"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_layout_of_files(port: Port, ending: bytes, last: bool, mark: bytes) -> None:
    lines = [
        b"import tilelang", b"import tilelang.language as T", b"", b"", b"@tilelang.jit(target = 'cuda' ,)  # \xc3\xa4",
        b"def f( ) :", b"\tT.pdl_sync( )", b"\tx=T.fast_rcp( y )   ; z = 1", b"", b"\treturn  x",
    ]  # fmt: skip
    new = list(lines)
    new[4] = lines[4].replace(b"cuda", b"musa")
    new[7] = b"\tx=(1 / (y))   ; z = 1"
    del new[6]
    before, after = (mark + ending.join(found) + (ending if last else b"") for found in (lines, new))
    assert port(before, head="").data == after


def test_other_encodings(port: Port) -> None:
    text = "# -*- coding: latin-1 -*-\nimport tilelang.language as T\nname = 'é'\nT.pdl_sync()\nlast = 'ü'\n"
    after = text.replace("T.pdl_sync()\n", "")
    result = port_sources({"a.py": text.encode("latin-1")})["a.py"]
    assert result.data == after.encode("latin-1")


def test_what_does_not_parse_is_copied(port: Port) -> None:
    data = b"import tilelang.language as T\nT.pdl_sync(\n"
    result = port_sources({"a.py": data})["a.py"]
    assert result.data == data
    assert [finding.rule for finding in result.findings] == ["F16"]


def test_stubs_and_imports_alone(rewrites: Rewrites) -> None:
    rewrites("")
    rewrites("def f(A: T.Tensor((64, 64), 'float16')) -> None: ...\n")


NATIVE = """\
@tilelang.jit(target="musa", pass_configs={
    tilelang.PassConfigKey.TL_ENABLE_MUSA_BURST: True,
    tilelang.PassConfigKey.TL_DISABLE_TMA_LOWER: True,
}, compile_flags=["-Od3", "-ffast-math", "-fmusa-flush-denormals-to-zero"])
def gemm(M, N, K, block_M=128, block_N=128, block_K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((N, K), "bfloat16"), C: T.Tensor((M, N), "bfloat16")):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), "bfloat16")
            B_shared = T.alloc_shared((block_N, block_K), "bfloat16")
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=1):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[bx * block_N, k * block_K], B_shared)
                T.gemm(A_shared, B_shared, C_local, transpose_B=True, wg_wait=-1)
                T.wait_sqmma()
            T.copy(C_local, C[by * block_M, bx * block_N])
    return main
"""


def test_a_program_for_musa(rewrites: Rewrites) -> None:
    """It needs nothing, and is told nothing."""
    assert rewrites(NATIVE, arch=("mp_31",)).findings == []
