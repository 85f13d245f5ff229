"""The trees that the corpus tests port: published packages that nobody here wrote."""

from __future__ import annotations

from typing import NamedTuple


class Tree(NamedTuple):
    """A folder of a package as it lies in its wheel."""

    package: str
    version: str
    folder: str

    @property
    def name(self) -> str:
        return f"{self.package}-{self.folder.rsplit('/', 1)[-1]}"


TREES = (
    Tree("gsplat", "1.5.3", "gsplat"),
    Tree("nerfacc", "0.5.3", "nerfacc"),
    Tree("tilelang", "0.1.15", "tilelang"),
    Tree("sgl-deep-gemm", "0.2.5", "deep_gemm"),
    Tree("warp-lang", "1.19.0", "warp"),
    Tree("flashinfer-python", "0.7.4", "flashinfer/data/include/flashinfer"),
    Tree("flashinfer-python", "0.7.4", "flashinfer/data/csrc/fused_moe"),
    Tree("flashinfer-python", "0.7.4", "flashinfer/data/cccl"),
    Tree("flashinfer-python", "0.7.4", "flashinfer/data/cutlass"),
)

#: Trees whose Python is checked. Of flashinfer, which has more than a hundred megabytes of it, the parts with most of
#: the calls of torch.cuda.
PYTHON_TREES = (
    Tree("gsplat", "1.5.3", "gsplat"),
    Tree("accelerate", "1.15.0", "accelerate"),
    Tree("torchmetrics", "1.9.0", "torchmetrics"),
    Tree("lightning", "2.6.6", "lightning"),
    Tree("tile-kernels", "1.0.0", "tile_kernels"),
    Tree("flashinfer-python", "0.7.4", "flashinfer/comm"),
)
