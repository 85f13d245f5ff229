"""Small kernels, for the examples of rules."""

from __future__ import annotations


def kernel(*lines: str, threads: int = 128) -> str:
    """A kernel with these lines in its body."""
    head = [
        "@T.prim_func",
        "def gemm(X: T.Tensor((64, 64), 'float16')):",
        f"    with T.Kernel(1, threads={threads}) as bx:",
    ]
    return "\n".join([*head, *(f"        {line}" for line in lines)])


def shared(name: str, rows: int, columns: int) -> str:
    """A line that allocates a shared tile of float16."""
    return f"{name} = T.alloc_shared(({rows}, {columns}), 'float16')"


def fragment(name: str, rows: int, columns: int, dtype: str = "float32") -> str:
    """A line that allocates a fragment."""
    return f"{name} = T.alloc_fragment(({rows}, {columns}), '{dtype}')"
