"""Operators and kernels: P21 (dispatch keys), P24 (Triton and TileLang hosts), P25 (CUDA C++ inside strings)."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Notices, Port, Rewrites

HEAD, MUSA = "import torch\n", "import torch\nimport torch_musa\n"

# ---- P21 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'lib = torch.library.Library("ns", "FRAGMENT")\nlib.impl("op", f, "CUDA")\n',
        "lib = torch.library.Library('ns', 'IMPL')\nlib.impl('op', f, 'CUDA')  # CUDA\n",
        'lib = torch.library.Library("ns", "DEF")\nlib.impl("op", f, dispatch_key="CUDA")\n',
        '@torch.library.impl("ns::CUDA", "CUDA")\ndef f(x): ...\n',
        '@torch.library.impl("cuda::op", "CUDA")\ndef f(x): ...\n',
        'lib = torch.library.Library("ns", "FRAGMENT")\n@torch.library.impl(lib, "CUDA", "CUDA")\ndef f(x): ...\n',
        'from torch.library import Library\nLIB = Library("ns", "FRAGMENT")\ndef g():\n    LIB.impl("op", f, "CUDA")\n',
        'from torch.library import impl\n@impl("ns::op", "CUDA")\ndef f(x): ...\n',
    ],
)
def test_dispatch_keys(rewrites: Rewrites, text: str) -> None:
    """Only the key, which is the last "CUDA" in quotes."""
    (*_, last) = re.finditer(r"(?<=[\"'])CUDA(?=[\"'])", text)
    after = text[: last.start()] + "PrivateUse1" + text[last.end() :]
    rewrites(HEAD + text, HEAD + after, ["P21"], imported="any")


@pytest.mark.parametrize(
    "text",
    [
        'lib = torch.library.Library("CUDA", "FRAGMENT")\nlib.impl("CUDA", f, "CPU")\n',
        'lib = torch.library.Library("ns", "FRAGMENT")\nlib.impl("op", f, "Meta")  # CUDA\nlib.define("CUDA")\n',
        'x.impl_thing("op", f, "CUDA")\nf("op", g, "CUDA")\nprint("CUDA")\n',
        'from mylib import impl\n@impl("op", "CUDA")\ndef f(x): ...\n',
        'lib = torch.library.Library("ns", "FRAGMENT")\nlib.impl("op", f, "CompositeExplicitAutograd")  # cuda\n',
    ],
)
def test_other_keys_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


@pytest.mark.parametrize(
    "text",
    [
        'lib = torch.library.Library("ns", "IMPL", "CUDA")\n',
        'lib = torch.library.Library("ns", "FRAGMENT")\nlib.impl("op", f, "AutogradCUDA")\n',
        'torch.library.register_kernel("ns::op", "cuda", f)\n',
        '@torch.library.register_kernel("ns::op", "cuda")\ndef f(x): ...\n',
        "k = torch._C.DispatchKey.CUDA\n",
    ],
)
def test_other_ways_to_register_are_noticed(notices: Notices, text: str) -> None:
    notices(HEAD + text, "cuda" if "cuda" in text else "CUDA")


# ---- P24 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import tilelang\n@tilelang.jit(target=\"cuda\")\ndef f(): ...\n",
         "import tilelang\n@tilelang.jit(target=\"musa\")\ndef f(): ...\n"),
        ("import tilelang\nk = tilelang.compile(f, out_idx=[2], target='cuda')\n",
         "import tilelang\nk = tilelang.compile(f, out_idx=[2], target='musa')\n"),
        ("from tilelang import jit\n@jit(out_idx=-1, target='cuda')\ndef f(): ...\n",
         "from tilelang import jit\n@jit(out_idx=-1, target='musa')\ndef f(): ...\n"),
        ("from tilelang.contrib.nvcc import get_target_compute_version\n",
         "from tilelang.contrib.mcc import get_target_compute_version\n"),
        ("from triton.language.extra.cuda import libdevice\nx = libdevice.exp\n",
         "from triton.language.extra.musa import libdevice\nx = libdevice.exp\n"),
        ("import triton.language as tl\nx = tl.extra.cuda.libdevice.rsqrt(y)\n",
         "import triton.language as tl\nx = tl.extra.musa.libdevice.rsqrt(y)\n"),
        ("import triton\nok = triton.runtime.driver.active.get_current_target().backend == \"cuda\"\n",
         "import triton\nok = triton.runtime.driver.active.get_current_target().backend == \"musa\"\n"),
        ("import tvm\nd = tvm.cuda(0)\n", "import tvm\nd = tvm.musa(0)\n"),
    ],
)  # fmt: skip
def test_rows(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, imported="any")


@pytest.mark.parametrize(
    "text",
    [
        "import torch, triton\n@triton.jit\ndef k(x): ...\nk[(1,)](torch.cuda.Stream(), num_warps=8)\n",
        "import triton  # cuda\nc = triton.Config({}, num_warps=4)\n",
        "import triton  # cuda\nc = triton.Config({'B': 64}, num_stages=3, num_warps=8)\n",
    ],
)
def test_numbers_of_warps_are_reported(notices: Notices, text: str) -> None:
    result = notices(text, "num_warps")
    assert re.findall(rb"num_\w+=\d", result.data) == re.findall(rb"num_\w+=\d", text.encode())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("import triton  # cuda\nc = triton.Config({}, num_ctas=2)\n", "num_ctas"),
        ("import triton  # cuda\n@triton.jit\ndef k(): ...\nk[(1,)](x, maxnreg=128)\n", "maxnreg"),
        ("import triton.language as tl  # cuda\ny = tl.inline_asm_elementwise('', '', [], tl.float32, True, 1)\n",
         "inline_asm"),
        ('from triton.backends.compiler import GPUTarget\nt = GPUTarget("cuda", 80, 32)\n', '"cuda"'),
        ('import tvm\nt = tvm.target.Target("cuda -arch=sm_90")\n', '"cuda'),
        ('import triton  # cuda\nms = triton.testing.do_bench(lambda: f())\n', "do_bench"),
        ('from tilelang.utils.target import target_is_cuda\n', "target_is_cuda"),
        ('import tilelang.cuda\n', "tilelang.cuda"),
    ],
)  # fmt: skip
def test_rows_that_need_a_look(notices: Notices, text: str, word: str) -> None:
    notices(text, word)


@pytest.mark.parametrize(
    "text",
    [
        'f(target="cuda")\n',
        'import torch\nbuild(target="cuda")\nx = {"target": "cuda_target"}\n',
        "from mylib.extra.cuda import libdevice\n",
        "import triton\nprint('triton cuda')\n",
        "import mylib as tl\nx = tl.extra.cuda.y\n",
    ],
)
def test_other_targets_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


# ---- P25 ---------------------------------------------------------------------------------------------------------

KERNEL = "#include <cuda_runtime.h>\n__global__ void k(float* p) { p[0] = 1; }\nvoid f() { cudaDeviceSynchronize(); }\n"
PORTED = "#include <musa_runtime.h>\n__global__ void k(float* p) { p[0] = 1; }\nvoid f() { musaDeviceSynchronize(); }\n"


def strings(text: str) -> list[str]:
    constants = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


@pytest.mark.parametrize("quote", ['"""', "'''", 'r"""', "R'''"])
def test_sources_in_a_keyword(port: Port, quote: str) -> None:
    text = (
        "from torch.utils.cpp_extension import load_inline\n"
        f"m = load_inline(name='m', cpp_sources='', cuda_sources={quote}{KERNEL}{quote.lstrip('rR')})\n"
    )
    result = port(text)
    ported = result.data.decode()
    assert f"musa_sources={quote}" in ported
    assert PORTED in strings(ported)
    assert "P25" in {edit.rule for edit in result.edits} | {finding.rule for finding in result.findings}


def test_sources_in_a_list(port: Port) -> None:
    text = (
        "from torch.utils.cpp_extension import load_inline\n"
        f'm = load_inline("m", cpp_sources=[""], cuda_sources=[common, """{KERNEL}"""])\n'
    )
    assert PORTED in strings(port(text).data.decode())


@pytest.mark.parametrize(
    "literal",
    [
        r'"void f() {\n  cudaFree(p);\n  printf(\"cudaFree \\n\");\n}\n"',
        r"'void f() { cudaFree(p); /* it\'s */ }'",
        '"void f() { cudaFree(p); }" " void g() { cudaMalloc(&p, 4); }"',
        '"void f() { cuda" "Free(p); }"',
        r'"\x63udaFree(p);"',
        '"void f() { cudaFree(p); } // \u00e9\u4e2d"',
    ],
)
def test_escapes_in_sources(port: Port, literal: str) -> None:
    """The value of the string is ported text or the text that it was; escapes never break."""
    head = "from torch.utils.cpp_extension import load_inline\n"
    result = strings(port(f"{head}m = load_inline('m', cpp_sources='', cuda_sources={literal})\n").data.decode())
    value = eval(literal)
    calls = re.compile(r"cuda(?=(?:Free|Malloc)\((?:p|&p))")
    assert value in result or calls.sub("musa", value) in result


@pytest.mark.parametrize(
    "text",
    [
        "src = '''void f() { cudaFree(p); }'''\nm = load_inline('m', cpp_sources='', cuda_sources=src)\n",
        "m = load_inline('m', cpp_sources='', cuda_sources=f'''void f() {{ cudaFree(p); }} {more}''')\n",
        "m = load_inline('m', cpp_sources='', cuda_sources='void f() { cudaFree(p); } %s' % x)\n",
    ],
)
def test_sources_from_elsewhere_are_noticed(notices: Notices, text: str) -> None:
    notices("from torch.utils.cpp_extension import load_inline\n" + text, "cudaFree")


def test_raw_kernel(port: Port) -> None:
    text = (
        "import cupy as cp\n"
        'k = cp.RawKernel(r"""\nextern "C" __global__ void k(__nv_bfloat16* p) { cudaFree(p); }\n""", "k")\n'
    )
    result = port(text)
    ported = result.data.decode()
    assert "void k(__mt_bfloat16* p) { musaFree(p); }" in ported
    assert "import cupy as cp\n" in ported
    assert "error" in {finding.severity.value for finding in result.findings}


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nSOURCE = '''cudaFree(p);'''\nprint(SOURCE)\n",
        "import torch\nf(cuda_sources='cudaFree(p);')\n",
        "import torch\nx = 'call cudaMalloc(p) first'\n",
        "from mylib import load_inline\nload_inline('m', cuda_sources='cudaFree(p);')\n",
    ],
)
def test_other_strings_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)
