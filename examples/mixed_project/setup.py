"""Builds fastops; without a CUDA toolkit, its operators are made of PyTorch's."""

import os

from setuptools import Extension, setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CUDAExtension

os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "8.0;9.0")


def extensions() -> list[Extension]:
    """The extension with the kernels, where it can be built."""
    if CUDA_HOME is None:
        return []
    return [
        CUDAExtension(
            "fastops._C",
            sources=["csrc/binding.cpp", "csrc/ops.cu"],
            extra_compile_args={"cxx": ["-O3"], "nvcc": ["-O3", "--use_fast_math", "--expt-relaxed-constexpr"]},
        )
    ]


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildExtension})
