"""Kernel rules whose answer is that nothing changes: so that `explain` says it, and says when to look twice."""

from __future__ import annotations

from musa_port.model import Severity
from musa_port.rules import Rule, register

UNCHANGED = register(
    Rule(
        "K1",
        "tilelang-unchanged",
        Severity.INFO,
        "Leaves the core of the language: T.Kernel, loops, allocations, fills, reductions, atomics, T.dynamic, macros.",
        why="tilelang-musa has the same words with the same meaning. Of T.use_swizzle, which only orders thread "
        "blocks, the code generator of version 0.1.12 wants another form than the front end writes.",
        example=("T.use_swizzle(10)", "T.use_swizzle(10)"),
        advice="Delete T.use_swizzle where compiling stops at threadblock_swizzle_pattern.",
        evidence="the kernels of TileKernels that its port left alone; lowering with tilelang-musa 0.1.12",
    )
)
COPY = register(
    Rule(
        "K2",
        "tile-copy",
        Severity.INFO,
        "Leaves T.copy between tiles and tensors.",
        why="A copy from shared to global memory may become a bulk store (TME) by itself on mp_31.",
        advice="Give such a copy disable_tma=True where results differ.",
    )
)
ASYNC_COPY = register(
    Rule(
        "K36",
        "async-copy",
        Severity.INFO,
        "Leaves T.async_copy, T.ptx_commit_group and T.ptx_wait_group.",
        why="mp_21 and newer copy asynchronously; these three have counterparts. With warp specialisation and the "
        "automatic synchronisation both disabled, the kernel has to commit and wait itself, as on CUDA.",
        evidence="the port of TileKernels leaves the engram gate alone",
    )
)
CONTROL = register(
    Rule(
        "K38",
        "kernel-control-flow",
        Severity.INFO,
        "Leaves T.Persistent, T.loop_break, T.thread_return and T.device_assert.",
        why="tilelang-musa has them with the same meaning.",
    )
)
WIDE_VECTORS = register(
    Rule(
        "K39",
        "wide-vectors",
        Severity.INFO,
        "Leaves kernels that allow vectors of 256 bits.",
        why="Automatic vectorisation ends at 128 bits on MUSA, with TL_DISABLE_VECTORIZE_256 and without it.",
    )
)
