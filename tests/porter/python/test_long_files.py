"""Generated files have tens of thousands of lines: the work for a file grows with its length, and not with the square.

Counted in calls of functions, which are the same on every machine, and in searches of the text.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from musa_port import Options, port_sources
from musa_port.cuda import tables
from musa_port.cuda.index import build
from musa_port.draft import Draft
from musa_port.languages import get

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

SHORT, LONG = 80, 320
#: A square would be the square of LONG / SHORT; what is done once for a file makes it less.
MOST = 1.15 * LONG / SHORT

KERNEL = """\
@tilelang.jit(target="cuda")
def multiply_{0}(M, N, K, BM=128, BN=128, BK=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16")):
        with T.Kernel(T.ceildiv(M, BM), T.ceildiv(N, BN), threads=128) as (bx, by):
            a = T.alloc_shared((BM, BK), "float16")
            b = T.alloc_shared((BK, BN), "float16")
            c = T.alloc_fragment((BM, BN), "float32")
            for k in T.Pipelined(K // BK, num_stages=3):
                T.copy(A[bx, k], a)
                T.gemm(a, b, c)
    return main
"""
TILELANG = "import tilelang\nimport tilelang.language as T\n"
IN_KERNEL = f"{TILELANG}@T.prim_func\ndef main(A: T.Tensor((64, 64), 'float16')):\n    with T.Kernel(1) as bx:\n"
SHAPES = {
    "tensors": ("import torch\n", 'x{0} = torch.zeros(4, device="cuda")\n'),
    "one name": ("import torch\ndef f(x):\n    x = x.to(torch.device('cuda'))\n", "    x = torch.relu(x)\n"),
    "functions": ("import torch\n", "def f{0}(x):\n    return x.cuda() + torch.cuda.current_device()\n"),
    "methods": ("import torch\nclass A:\n", "    def f{0}(self):\n        return self.cuda()\n"),
    "classes": ("import torch\n", "class A{0}:\n    def f(self, x):\n        return x.is_cuda\n"),
    "elif": ("import torch\nif x == 0:\n    pass\n", "elif x == {0}:\n    y.cuda()\n"),
    "strings": ("import torch\n", 's{0} = "cuda:{0}"\n'),
    "imports": ("import torch\n", "import torch.cuda as c{0}\n"),
    "one import": ("import torch\n", "import torch.cuda; torch.cuda.synchronize()\n"),
    "aliases": ("import torch\n", "cuda = torch.cuda; cuda.synchronize()\n"),
    "findings": ("import torch\n", "x{0} = torch.cuda.get_device_capability() >= (9, 0)\n"),
    "environment": ("import os\n", "env{0} = {{}}; env{0}.update(CUDA_HOME='/x'); os.environ.update(env{0})\n"),
    "items": ("import os, subprocess\nenv = dict(os.environ)\n", "env['A{0}'] = 'CUDA_HOME'; f(['nvcc'], env=env)\n"),
    "commands": ("import subprocess\n", 'subprocess.run(["nvcc", "-o", "a{0}", "a.cu"])\n'),
    "extensions": (
        "from torch.utils.cpp_extension import CUDAExtension\n",
        "e{0} = CUDAExtension('a{0}', ['a.cu'], extra_compile_args={{'nvcc': ['-O3', '--use_fast_math']}})\n",
    ),
    "kernels": (TILELANG, KERNEL),
    "tiles": (IN_KERNEL, "        a{0} = T.alloc_shared((128, 64), 'float16'); T.copy(A, a{0})\n"),
    "products": (IN_KERNEL, "        T.gemm(A, A, c)\n"),
    "compilations": (TILELANG, "k{0} = tilelang.compile(f, target='cuda', execution_backend='nvrtc')\n"),
}


def calls_for(text: str) -> int:
    """How many functions are called to port a file."""
    count = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        port_sources({"a.py": text.encode()}, Options())
    finally:
        sys.setprofile(before)
    return count


def written(shape: str, lines: int) -> str:
    head, part = SHAPES[shape]
    return head + "".join(part.format(number) for number in range(-(-lines // part.count("\n"))))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_grows_with_the_file(shape: str) -> None:
    calls_for(written(shape, 1))  # what is read once for all files
    short, long = (calls_for(written(shape, lines)) for lines in (SHORT, LONG))
    assert long < MOST * short


class Searched(bytes):
    """Bytes that count how often they are searched through."""

    searches = 0

    def __contains__(self, part: Any) -> bool:
        self.searches += 1
        return super().__contains__(part)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_is_not_searched_for_each_of_its_nodes(shape: str, draft_of: Callable[[bytes], Draft]) -> None:
    data = Searched(written(shape, LONG).encode())
    draft = draft_of(data)
    get("python").port(draft)
    assert data.searches < LONG / 8


def test_a_draft_tells_what_the_file_mentions(draft_of: Callable[[bytes], Draft]) -> None:
    draft = draft_of(Searched(b"import ctypes"))
    assert draft.mentions(b"dlopen", b"ctypes")
    assert not draft.mentions(b"dlopen")
    assert not draft.mentions()


@pytest.fixture
def draft_of() -> Callable[[bytes], Draft]:
    names = tables.load(Options())
    return lambda data: Draft("a.py", data, build([], {}, {}, []), names)


def test_lines_that_end_in_carriage_returns_alone() -> None:
    text = b"import torch\rx = torch.cuda.device_count()\r"
    result = port_sources({"a.py": text})["a.py"]
    assert result.data == text
    assert [(finding.rule, finding.line) for finding in result.findings] == [("F16", 1)]
    assert "carriage returns alone; write newlines" in result.findings[0].message
