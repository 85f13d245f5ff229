"""Extensions that a setup.py builds: P16 (flags of the compiler) and P17 (sources)."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import pytest

from musa_port.mappings import Row, read_rows

if TYPE_CHECKING:
    from tests.porter.python.conftest import Notices, Port, Rewrites

SETUP = """\
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="cuda_ops",
    ext_modules=[
        CUDAExtension(
            "cuda_ops._C",
            sources=["csrc/ops.cpp", "csrc/kernel.cu"],
            extra_compile_args={"cxx": ["-O3"], "nvcc": %s},
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
"""
KERNEL = {"csrc/ops.cpp": "", "csrc/kernel.cu": ""}
#: Rows of the table that are one argument: no value after a space, no description.
FLAGS = [
    row
    for row in read_rows("compiler_flags")
    if row.kind == "flag" and re.fullmatch(r"--?[\w=+/.-]+", row.cuda) and row.cuda != "-code=sm_80"
]


def flags_of(text: str, key: str = "mcc") -> list[str]:
    """The list that the (only) dictionary with this key holds for it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Dict):
            for name, value in zip(node.keys, node.values, strict=True):
                if isinstance(name, ast.Constant) and name.value == key:
                    return list(ast.literal_eval(value))
    raise AssertionError(f"no {key!r} in\n{text}")


def port_flags(port: Port, *flags: str) -> tuple[list[str], Any]:
    result = port(SETUP % repr(list(flags)), path="setup.py", tree=KERNEL)
    return flags_of(result.data.decode()), result


# ---- P16 ---------------------------------------------------------------------------------------------------------


def test_key(rewrites: Rewrites) -> None:
    result = rewrites(
        "from torch.utils.cpp_extension import CUDAExtension\n"
        "CUDAExtension('a', [], extra_compile_args={'cxx': ['-O2'], 'nvcc': ['-O2']})  # nvcc\n",
        "from torch_musa.utils.musa_extension import MUSAExtension\n"
        "MUSAExtension('a', [], extra_compile_args={'cxx': ['-O2'], 'mcc': ['-O2']})  # nvcc\n",
        imported="any",
    )
    assert "P16" in {edit.rule for edit in result.edits}


@pytest.mark.parametrize("row", FLAGS, ids=lambda row: row.cuda)
def test_flags_of_the_table(port: Port, row: Row) -> None:
    """One flag between two others that stay: replaced, dropped, or left and reported."""
    flags, result = port_flags(port, "-DA=1", row.cuda, "-DB=2")
    reported = [finding for finding in result.findings if row.cuda in finding.old + finding.message + finding.name]
    if row.musa == "(drop)":
        assert flags == ["-DA=1", "-DB=2"]
    elif row.supported and " " not in row.musa:
        assert flags == ["-DA=1", row.musa, "-DB=2"]
    elif row.supported:
        assert flags == ["-DA=1", *row.musa.split(), "-DB=2"] or reported
    else:
        assert flags == ["-DA=1", row.cuda, "-DB=2"]
        assert reported


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["-gencode", "arch=compute_80,code=sm_80", "-DX"], ["--offload-arch=mp_22", "-DX"]),
        (["-gencode=arch=compute_90,code=sm_90"], ["--offload-arch=mp_31"]),
        (["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90"],
         ["--offload-arch=mp_22", "--offload-arch=mp_31"]),
        (["-gencode", "arch=compute_90a,code=sm_90a"], ["--offload-arch=mp_31"]),
        (["--expt-relaxed-constexpr", "--expt-extended-lambda", "-DX"], ["-DX"]),
        (["--use_fast_math", "-std=c++17"], ["-ffast-math", "-std=c++17"]),
        (["-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__"],
         ["-U__MUSA_NO_HALF_OPERATORS__", "-U__MUSA_NO_HALF_CONVERSIONS__"]),
        (["-DCUDA_HAS_FP16=1", "-DWITH_SOMETHING"], ["-DCUDA_HAS_FP16=1", "-DWITH_SOMETHING"]),
        (["--threads", "4", "-DX"], ["-DX"]),
        (["-Xptxas", "-v", "-DX"], ["-DX"]),
        (["--ptxas-options=-v", "-DX"], ["-DX"]),
        (["-Xcompiler", "-fPIC"], ["-fPIC"]),
        (["-ccbin", "g++-11", "-DX"], ["-DX"]),
        (["-arch=compute_80", "-code=sm_80", "-DX"], ["--offload-arch=mp_22", "-DX"]),
        (["-arch=sm_90", "-code=sm_90"], ["--offload-arch=mp_31"]),
        (["-I/my/cuda/include", "-L/data/cuda"], ["-I/my/cuda/include", "-L/data/cuda"]),
    ],
    ids=lambda value: " ".join(value) or "none",
)  # fmt: skip
def test_flags(port: Port, before: list[str], after: list[str]) -> None:
    assert port_flags(port, *before)[0] == after


@pytest.mark.parametrize(
    "flags",
    [["--maxrregcount=64"], ["-maxrregcount=32"], ["--maxrregcount", "64"], ["-gencode=arch=compute_100,code=sm_100"],
     ["-gencode", "arch=compute_120,code=sm_120"], ["-dlink"], ["-arch=native"]],
    ids=" ".join,
)  # fmt: skip
def test_flags_without_a_counterpart_are_reported(port: Port, flags: list[str]) -> None:
    result = port(SETUP % repr(flags), path="setup.py", tree=KERNEL)
    line = (SETUP % "").split("\n").index('            extra_compile_args={"cxx": ["-O3"], "nvcc": },') + 1
    assert line in {finding.line for finding in result.findings}


def test_host_flags_stay(port: Port) -> None:
    """The flags of the host compiler are not the device compiler's, whatever they look like."""
    text = SETUP.replace('["-O3"]', '["-O3", "-lineinfo", "-G"]') % '["-O2"]'
    result = port(text, path="setup.py", tree=KERNEL).data.decode()
    assert flags_of(result, "cxx") == ["-O3", "-lineinfo", "-G"]


@pytest.mark.parametrize(
    "text",
    [
        "args = {'cxx': ['-O2'], 'nvcc': ['--use_fast_math']}\ne = CUDAExtension('a', [], extra_compile_args=args)\n",
        "def f():\n    args = {'cxx': [], 'nvcc': ['--use_fast_math']}\n"
        "    return CUDAExtension('a', [], extra_compile_args=args)\n",
    ],
)
def test_dictionary_that_flows_into_an_extension(port: Port, text: str) -> None:
    result = port("from torch.utils.cpp_extension import CUDAExtension\n" + text).data.decode()
    assert flags_of(result) == ["-ffast-math"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("flags = []\nflags.append('-gencode')\nflags.append('arch=compute_80,code=sm_80')\n"
         "e = CUDAExtension('a', [], extra_compile_args={'nvcc': ['-O3'] + flags})\n", "arch=compute_80"),
        ("flags = ['-O3']\nflags.append('--use_fast_math')\n"
         "e = CUDAExtension('a', [], extra_compile_args={'nvcc': flags})\n", "--use_fast_math"),
        ("flags = ['--use_fast_math']\ne = CUDAExtension('a', [], extra_compile_args={'nvcc': flags})\n", "fast_math"),
        ("args = {'cxx': []}\nargs['nvcc'] = ['--use_fast_math']\n"
         "e = CUDAExtension('a', [], extra_compile_args=args)\n",
         "args['nvcc']"),
        ("e = CUDAExtension('a', [], extra_compile_args={'nvcc': [f'-arch=sm_{sm}']})\n", "f'-arch"),
        ("e = CUDAExtension('a', [], extra_compile_args={'nvcc': ['-O3'] + more})\n", "'nvcc'"),
        ("e = CUDAExtension('a', [], extra_compile_args={'nvcc_dlink': ['-dlink']})\n", "nvcc_dlink"),
        ("e = CUDAExtension('a', [], libraries=['cudart', 'cublas'])\n", "'cudart'"),
        ("m = load('a', [], extra_cuda_cflags=['--use_fast_math'])\n", "extra_cuda_cflags"),
    ],
)  # fmt: skip
def test_other_ways_are_noticed(notices: Notices, text: str, word: str) -> None:
    notices("from torch.utils.cpp_extension import CUDAExtension, load\n" + text, word)


def test_flags_of_a_just_in_time_build(port: Port) -> None:
    result = port(
        "from torch.utils.cpp_extension import load\n"
        "m = load('a', s, extra_cflags=['-lineinfo'], extra_cuda_cflags=['--use_fast_math', '-lineinfo'])\n"
    )
    text = result.data.decode()
    assert "extra_cflags=['-lineinfo']" in text
    assert "extra_musa_cflags=['-ffast-math', '-gline-tables-only']" in text


@pytest.mark.parametrize(
    "text",
    [
        "x = {'nvcc': ['--use_fast_math']}\n",
        "import torch\nx = {'nvcc': ['-arch=sm_80'], 'cxx': []}\nf(x)\n",
        "import torch\nf(extra={'nvcc': ['-lineinfo']})\nx['nvcc'] = 1\n",
        "print('nvcc -arch=sm_80 --use_fast_math')\n",
        "import torch\nparser.add_argument('--nvcc', default='--use_fast_math')\n",
    ],
)
def test_other_dictionaries_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


# ---- P17 ---------------------------------------------------------------------------------------------------------

SOURCES = {
    "list": "e = CUDAExtension('a', sources=['csrc/ops.cpp', 'csrc/kernel.cu'])\n",
    "positional": "e = CUDAExtension('a', ['csrc/ops.cpp', 'csrc/kernel.cu'])\n",
    "current": "e = CUDAExtension('a', sources=['./csrc/kernel.cu'])\n",
    "tuple": "e = CUDAExtension('a', sources=('csrc/kernel.cu',))\n",
    "load": "e = load('a', sources=['csrc/kernel.cu'])\n",
    "glob": "e = CUDAExtension('a', sources=glob.glob('csrc/*.cu'))\n",
    "glob-plus": "e = CUDAExtension('a', sources=['csrc/ops.cpp'] + glob.glob('csrc/*.cu'))\n",
}


@pytest.mark.parametrize("text", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("renamed", [True, False])
def test_sources(port: Port, text: str, renamed: bool) -> None:
    head = "import glob\nfrom torch.utils.cpp_extension import CUDAExtension, load\n"
    result = port(head + text, path="setup.py", tree=KERNEL, rename_ext=renamed)
    expected = text.replace(".cu'", ".mu'") if renamed else text
    assert result.data.decode().endswith(expected.replace("CUDAExtension", "MUSAExtension"))
    assert ("P17" in {edit.rule for edit in result.edits}) == renamed


def test_sources_that_are_not_renamed_stay(port: Port) -> None:
    """A file that does not exist, and one that the options leave alone."""
    head = "from torch.utils.cpp_extension import CUDAExtension\n"
    text = "CUDAExtension('a', sources=['gone/kernel.cu', 'csrc/kernel.cu'])\n"
    result = port(head + text, path="setup.py", tree=KERNEL, exclude=("csrc/*",))
    assert "['gone/kernel.cu', 'csrc/kernel.cu']" in result.data.decode()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("e = CUDAExtension('a', sources=[os.path.join(here, 'csrc', 'kernel.cu')])\n", "'kernel.cu'"),
        ("e = CUDAExtension('a', sources=[f'{here}/csrc/kernel.cu'])\n", "kernel.cu"),
        ("src = ['csrc/kernel.cu']\ne = CUDAExtension('a', sources=src)\n", "'csrc/kernel.cu'"),
        ("e = CUDAExtension('a', sources=[str(p) for p in pathlib.Path('csrc').glob('*.cu')])\n", "'*.cu'"),
    ],
)
def test_other_ways_to_name_sources_are_noticed(notices: Notices, text: str, word: str) -> None:
    head = "import os, pathlib\nfrom torch.utils.cpp_extension import CUDAExtension\n"
    notices(head + text, word, path="setup.py", tree=KERNEL)


def test_other_paths_stay(rewrites: Rewrites) -> None:
    rewrites(
        "print('see csrc/kernel.cu')\nx = {'csrc/kernel.cu': 1}\ny = 'csrc/kernel.cu is gone'\n# csrc/kernel.cu\n",
        path="setup.py",
        tree=KERNEL,
    )


def test_sources_of_a_package_below(port: Port) -> None:
    """Paths are relative to the file that names them, or to the root of the tree."""
    text = "from torch.utils.cpp_extension import load\nload('a', sources=['kernel.cu'])\n"
    result = port(text, path="pkg/ops.py", tree={"pkg/kernel.cu": ""})
    assert "sources=['kernel.mu']" in result.data.decode()
