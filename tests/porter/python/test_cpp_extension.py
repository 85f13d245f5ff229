"""P15: extensions are built by torch_musa; what builds host code alone stays with torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Notices, Port, Rewrites

TORCH = "from torch.utils.cpp_extension import "
MUSA = "from torch_musa.utils.musa_extension import "


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("load('m', s, extra_cuda_cflags=x)\n", "load('m', s, extra_musa_cflags=x)\n"),
        ("load(name='m', sources=s, with_cuda=True)\n", "load(name='m', sources=s, with_musa=True)\n"),
        ("o = dict(extra_cuda_cflags=x)\nload('m', s, **o)\n", "o = dict(extra_musa_cflags=x)\nload('m', s, **o)\n"),
        (
            "o = {'with_cuda': None, 'verbose': True}\nload('m', s, **o)\n",
            "o = {'with_musa': None, 'verbose': True}\nload('m', s, **o)\n",
        ),
        ("def f(**k):\n    return load('m', s, with_cuda=k)\n", "def f(**k):\n    return load('m', s, with_musa=k)\n"),
        (
            "def f(extra_cuda_cflags):\n    load('m', s, extra_cuda_cflags=extra_cuda_cflags)\n",
            "def f(extra_cuda_cflags):\n    load('m', s, extra_musa_cflags=extra_cuda_cflags)\n",
        ),
    ],
)
def test_keywords(rewrites: Rewrites, before: str, after: str) -> None:
    """Keywords of the call, and keys of a dictionary that flows into it; a parameter of the project keeps its name."""
    rewrites(f"{TORCH}load\n{before}", f"{MUSA}load\n{after}", ["P15"])


@pytest.mark.parametrize(
    "text",
    [
        "load('m', s, extra_cuda_cflags=x)\n",
        "import torch\nf(with_cuda=True, cuda_sources=s)\n",
        "o = {'extra_cuda_cflags': []}\nf(**o)\n",
        "from mylib import load\nload('m', s, with_cuda=True)\n",
        "from torch.utils import cpp_extension\ncpp_extension.CppExtension('m', s, with_cuda=True)\n",
    ],
)
def test_other_calls_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


def test_sources_of_load_inline(rewrites: Rewrites) -> None:
    rewrites(
        f"{TORCH}load_inline\nload_inline('m', cpp_sources='', cuda_sources='', functions=[])\n",
        f"{MUSA}load_inline\nload_inline('m', cpp_sources='', musa_sources='', functions=[])\n",
        ["P15"],
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{TORCH}BuildExtension, CppExtension\ne = CppExtension('cuda', [])\nc = BuildExtension\n",
        f"{TORCH}CppExtension\n{TORCH}BuildExtension\ne = CppExtension('cuda', [])\n",
        "from torch.utils import cpp_extension  # cuda\ncpp_extension.CppExtension('a', [])\n"
        "c = cpp_extension.BuildExtension\n",
        "import torch.utils.cpp_extension as ext  # cuda\next.CppExtension('a', [])\nc = ext.BuildExtension\n",
        f"{TORCH}include_paths\nx = include_paths()  # cuda\ny = include_paths(cuda=False)\n",
    ],
)
def test_host_extensions_stay(rewrites: Rewrites, text: str) -> None:
    """A file with CppExtension and nothing about CUDA keeps the build of torch, which needs no torch_musa."""
    rewrites(text)


def test_build_extension_alone_moves(rewrites: Rewrites) -> None:
    """A project's own build command says nothing about what it builds."""
    rewrites(
        f"{TORCH}BuildExtension\nclass Build(BuildExtension):  # cuda\n    pass\n",
        f"{MUSA}BuildExtension\nclass Build(BuildExtension):  # cuda\n    pass\n",
        ["P15"],
    )


@pytest.mark.parametrize(
    ("argument", "expected"),
    [("cuda=True", "musa=True"), ("True", "musa=True"), ('device_type="cuda"', "musa=True"), ("cuda=x", "musa=x")],
)
@pytest.mark.parametrize("name", ["include_paths", "library_paths"])
def test_folders_of_the_toolkit(rewrites: Rewrites, name: str, argument: str, expected: str) -> None:
    rewrites(
        f"import torch  # cuda\n{TORCH}{name}\nx = {name}({argument})\n",
        f"import torch  # cuda\nimport torch_musa.utils.musa_extension\n{TORCH}{name}\n"
        f"x = torch_musa.utils.musa_extension.{name}({expected})\n",
    )


@pytest.mark.parametrize("name", ["_jit_compile", "_find_cuda_home", "COMMON_NVCC_FLAGS", "_get_cuda_arch_flags"])
def test_private_names_are_reported(notices: Notices, name: str) -> None:
    result = notices(f"{TORCH}{name}  # cuda\nx = {name}\n", name)
    assert ("P15", "error") in {(finding.rule, finding.severity.value) for finding in result.findings}
    result = notices(f"from torch.utils import cpp_extension  # cuda\nx = cpp_extension.{name}\n", f".{name}")
    assert ("P15", "error") in {(finding.rule, finding.severity.value) for finding in result.findings}


def test_private_names_without_cuda_are_not(port: Port) -> None:
    assert port(f"{TORCH}_get_build_directory  # cuda\n").findings == []


def test_arguments_that_torch_musa_lacks(notices: Notices) -> None:
    notices(f"{TORCH}load  # cuda\nload('m', s,\n    with_sycl=True)\n", "with_sycl")


def test_a_name_that_is_one_of_two(rewrites: Rewrites) -> None:
    """`Ext` may be either class: what it is given is ported."""
    rewrites(
        f"{TORCH}CUDAExtension, CppExtension\nif cuda:\n    Ext = CUDAExtension\nelse:\n    Ext = CppExtension\n"
        "Ext('a', ['k.cu'], extra_compile_args={'nvcc': ['--use_fast_math']})\n",
        f"{TORCH}CppExtension\n{MUSA}MUSAExtension\nif cuda:\n    Ext = MUSAExtension\nelse:\n    Ext = CppExtension\n"
        "Ext('a', ['k.mu'], extra_compile_args={'mcc': ['-ffast-math']})\n",
        ["P15", "P16", "P17"],
        tree={"k.cu": ""},
    )


def test_constants(rewrites: Rewrites) -> None:
    rewrites(
        f"{TORCH}CUDA_HOME, CUDNN_HOME\nx = CUDA_HOME, CUDNN_HOME is None\n",
        f"{MUSA}MUSA_HOME, MUDNN_HOME as CUDNN_HOME\nx = MUSA_HOME, CUDNN_HOME is None\n",
        ["P15"],
    )
