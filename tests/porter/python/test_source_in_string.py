"""P25: sources in strings are ported as the C-family engine ports a file, wherever the string stands."""

from __future__ import annotations

import ast
import random
from typing import TYPE_CHECKING

import pytest

from musa_port import port_sources

if TYPE_CHECKING:
    from tests.porter.python.conftest import Port, Rewrites

HEAD = "from torch.utils.cpp_extension import load_inline\n"
SOURCE = """\
#include <cuda_runtime.h>
#include <ATen/cuda/CUDAContext.h>
// cudaMalloc in a comment, é
#define CHECK(x) do { if ((x) != cudaSuccess) { puts("cudaFree failed\\n"); } } while (0)
__global__ void k(__nv_bfloat16* p, char c = '\\'') { asm volatile("mov.u32 %0, %%laneid;"); }
void f(float* p) {
    cudaStream_t s = at::cuda::getCurrentCUDAStream();
    k<<<1, 32, 0, s>>>(p); \\
    cudaFree(p);
}
"""


def as_file(source: str) -> str:
    """What the engine makes of the source as a file of its own: the independent answer."""
    return port_sources({"k.cu": source.encode()})["k.cu"].data.decode()


def inline(literal: str) -> str:
    return f"{HEAD}m = load_inline('m', cpp_sources='', cuda_sources={literal})\n"


def values(text: str, keyword: str = "musa_sources") -> list[str]:
    """The strings that the keyword holds."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and node.arg == keyword:
            constants = [item.value for item in ast.walk(node.value) if isinstance(item, ast.Constant)]
            return [value for value in constants if isinstance(value, str)]
    raise AssertionError(text)


def literals(source: str) -> dict[str, str]:
    """Ways to write the same text."""
    escaped = source.replace("\\", "\\\\")
    return {
        "long": f'"""{escaped}"""',
        "long-single": f"'''{escaped}'''".replace("'\\\\''", "\\'\\\\\\'\\'"),
        "raw": f"r'''{source}'''" if "'''" not in source and not source.endswith("\\") else repr(source),
        "repr": repr(source),
        "double": '"' + escaped.replace('"', '\\"').replace("\n", "\\n") + '"',
        "continued": '"""\\\n' + escaped + '"""',
    }


@pytest.mark.parametrize("name", literals(""))
def test_every_literal(port: Port, name: str) -> None:
    literal = literals(SOURCE)[name]
    assert ast.literal_eval(literal) == SOURCE
    (got,) = values(port(inline(literal)).data.decode())
    assert got == as_file(SOURCE)


@pytest.mark.parametrize("seed", range(30))
def test_any_line_in_any_literal(port: Port, seed: int) -> None:
    random_ = random.Random(seed)
    lines = [line for line in SOURCE.splitlines() if not line.endswith("\\")]
    source = "".join(line + "\n" for line in random_.sample(lines, random_.randint(1, 4)))
    literal = random_.choice([text for text in literals(source).values() if ast.literal_eval(text) == source])
    (got,) = values(port(inline(literal)).data.decode())
    assert got == as_file(source)


def test_findings_stand_at_their_place(port: Port) -> None:
    """In the Python file: the PTX is in the sixth line of the text, whose first line is the second of the file."""
    for literal, line in ((f"'''{SOURCE}'''".replace("\\", "\\\\"), 6), (repr(SOURCE), 2)):
        result = port(inline(literal))
        (finding,) = [finding for finding in result.findings if finding.rule == "C30"]
        assert finding.line == line
        text = inline(literal).split("\n")[line - 1]
        assert text[finding.column - 1 :].startswith("asm volatile")
        assert finding.path == "module.py"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("S = 'cudaFree(p);'\nload_inline('m', '', S)\n", "S = 'musaFree(p);'\nload_inline('m', '', S)\n"),
        ("load_inline('m', ['cudaFree(p);'], [])\n", "load_inline('m', ['musaFree(p);'], [])\n"),
        (
            "S = ['cudaFree(p);']\nS.append('cudaFree(q);')\nload_inline('m', '', S)\n",
            "S = ['musaFree(p);']\nS.append('musaFree(q);')\nload_inline('m', '', S)\n",
        ),
        ("load_inline('m', '', 'cudaFree(%s);' % p)\n", "load_inline('m', '', 'musaFree(%s);' % p)\n"),
        ("load_inline('m', '', 'cudaFree({});'.format(p))\n", "load_inline('m', '', 'musaFree({});'.format(p))\n"),
        ("load_inline('m', '', f'cudaFree({p}); {{}}')\n", "load_inline('m', '', f'musaFree({p}); {{}}')\n"),
        (
            "load_inline('m', '', f'{cudaFree}cudaFree {p!r:>{w}}')\n",
            "load_inline('m', '', f'{cudaFree}cudaFree {p!r:>{w}}')\n",
        ),
        ("load_inline('m', '', A + 'cudaFree(p);' + B)\n", "load_inline('m', '', A + 'musaFree(p);' + B)\n"),
        ("load_inline('m', '', T.replace('a', 'cudaFree'))\n", "load_inline('m', '', T.replace('a', 'cudaFree'))\n"),
        (
            "T = '''cudaFree(p);'''\nload_inline('m', '', T.replace('p', 'q'))\n",
            "T = '''musaFree(p);'''\nload_inline('m', '', T.replace('p', 'q'))\n",
        ),
        (
            "def s():\n    return 'cudaFree(p);'\nload_inline('m', '', s())\n",
            "def s():\n    return 'musaFree(p);'\nload_inline('m', '', s())\n",
        ),
        (
            "load_inline('m', '', 'cudaFree(p);' 'cudaFree(q);')\n",
            "load_inline('m', '', 'musaFree(p);' 'musaFree(q);')\n",
        ),
        (
            "load_inline('m', '', 'cudaFree(p);' if x else 'cudaFree(q);')\n",
            "load_inline('m', '', 'musaFree(p);' if x else 'musaFree(q);')\n",
        ),
    ],
)
def test_ways(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(HEAD + before, HEAD.replace("torch.utils.cpp", "torch_musa.utils.musa") + after)


@pytest.mark.parametrize(
    "call",
    [
        "import cupy\nk = cupy.RawKernel('cudaFree(p);', 'k')\n",
        "from cupy import RawModule\nk = RawModule(code='cudaFree(p);')\n",
        "from pycuda.compiler import SourceModule\nk = SourceModule('cudaFree(p);', options=['cudaFree'])\n",
        "import torch\nk = torch.cuda._compile_kernel('cudaFree(p);', 'cudaFree')\n",
    ],
)
def test_other_compilers(port: Port, call: str) -> None:
    """The first argument, and nothing else of the call."""
    result = port(call).data.decode()
    assert call.replace("'cudaFree(p);'", "'musaFree(p);'").split("\n")[1] in result


@pytest.mark.parametrize(
    "text",
    [
        "S = 'cudaFree(p);'\nprint(S)\n",
        "f('cudaFree(p);')\nf(code='cudaFree(p);')\n",
        "from mylib import RawKernel as K, load_inline\nK('cudaFree(p);')\nload_inline(cuda_sources='cudaFree(p);')\n",
        "def f():\n    '''cudaFree(p);'''\n",
    ],
)
def test_other_strings_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


def test_kernels_in_other_strings_are_noticed(port: Port) -> None:
    text = "TEMPLATE = '''\n__global__ void k() { cudaFree(p); }\n'''\n"
    result = port(text)
    assert result.data.decode() == text
    assert [(finding.rule, finding.line) for finding in result.findings] == [("P25", 1)]


def test_sources_from_elsewhere_are_noticed(port: Port) -> None:
    result = port(f"{HEAD}from .kernels import SOURCE\nload_inline('m', '', SOURCE)\n" + "# cuda\n")
    assert "P25" in {finding.rule for finding in result.findings}
