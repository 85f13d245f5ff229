"""A matrix product in TileLang, imported only by those who have it."""

from __future__ import annotations

import tilelang
import tilelang.language as T
import torch


@tilelang.jit(out_idx=[-1], target="cuda")
def _matmul(m: int, n: int, k: int, block: int = 128, depth: int = 32):
    @T.prim_func
    def main(
        a: T.Tensor((m, k), T.float16),
        b: T.Tensor((k, n), T.float16),
        c: T.Tensor((m, n), T.float16),
    ):
        with T.Kernel(T.ceildiv(n, block), T.ceildiv(m, block), threads=128) as (bx, by):
            a_shared = T.alloc_shared((block, depth), T.float16)
            b_shared = T.alloc_shared((depth, block), T.float16)
            sums = T.alloc_fragment((block, block), T.float32)
            T.clear(sums)
            for step in T.Pipelined(T.ceildiv(k, depth), num_stages=2):
                T.copy(a[by * block, step * depth], a_shared)
                T.copy(b[step * depth, bx * block], b_shared)
                T.gemm(a_shared, b_shared, sums)
            T.copy(sums, c[by * block, bx * block])

    return main


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """`a @ b` of float16 matrices on the GPU, summed in float32."""
    if not (a.is_cuda and b.is_cuda):
        raise ValueError(f"expected matrices on the GPU, got {a.device} and {b.device}")
    return _matmul(a.shape[0], b.shape[1], a.shape[1])(a, b)
