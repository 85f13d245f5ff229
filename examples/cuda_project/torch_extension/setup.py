"""Builds the torch operator `torch.ops.cuda_project.scale` (needs PyTorch with CUDA and nvcc)."""

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="cuda_project_scale",
    version="0.1",
    ext_modules=[CUDAExtension("cuda_project_scale", ["scale.cu"])],
    cmdclass={"build_ext": BuildExtension},
)
