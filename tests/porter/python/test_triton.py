"""P24 besides names: how kernels are launched, inline PTX, targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from musa_port import FilePort
    from tests.porter.python.conftest import Port, Rewrites

HEAD = "import triton  # cuda\nimport triton.language as tl\n"


def said(result: FilePort) -> list[tuple[int, str]]:
    return [(finding.line, finding.severity.value) for finding in result.findings if finding.rule == "P24"]


def test_one_finding_for_each_function(port: Port) -> None:
    text = (
        f"{HEAD}@triton.autotune(configs=[\n    triton.Config({{}}, num_warps=4, num_stages=2),\n"
        "    triton.Config({}, num_warps=8),\n], key=[])\n@triton.jit\ndef k(): ...\n"
        "def f():\n    k[(1,)](x, num_warps=4)\n    k[(2,)](x, num_warps=8)\n"
    )
    result = port(text)
    assert result.data.decode() == text
    assert said(result) == [(4, "warning"), (10, "warning")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k[g](x, num_warps=4)\n", ["warning"]),
        ("k[g](x, num_stages=4)\n", ["warning"]),
        ("o = {'num_warps': 4}\nk[g](x, **o)\n", ["warning"]),
        ("k[g](x, num_ctas=2)\n", ["error"]),
        ("k[g](x, maxnreg=128, num_warps=4)\n", ["error", "warning"]),
        ("k[g](x, num_ctas=1)\n", []),
        ("f(x, num_warps=4)\nConfig(num_warps=4)\n", []),
        ("k[g](x, warps=4)\n", []),
        ("def f(num_warps=4): ...\n", []),
    ],
)
def test_launches(port: Port, text: str, expected: list[str]) -> None:
    result = port(HEAD + text)
    assert result.data.decode() == HEAD + text
    assert sorted(severity for _, severity in said(result)) == expected


def test_numbers_of_warps_hold_on_mp_31(port: Port) -> None:
    """A warp has 32 threads there, as on CUDA."""
    assert said(port(f"{HEAD}k[g](x, num_warps=4)\n", arch=("mp_31",))) == []
    assert said(port(f"{HEAD}k[g](x, num_stages=4)\n", arch=("mp_31",))) == [(3, "warning")]


def test_inline_assembly(port: Port) -> None:
    text = f"{HEAD}@triton.jit\ndef k():\n    tl.inline_asm_elementwise('a')\n    tl.inline_asm_elementwise('b')\n"
    assert said(port(text)) == [(5, "error")]
    assert said(port("import triton  # cuda\nimport mylib as tl\ntl.inline_asm_elementwise('a')\n")) == []


CURRENT = "triton.runtime.driver.active.get_current_target()"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{CURRENT}.backend == 'cuda'", f"{CURRENT}.backend == 'musa'"),
        (f"'cuda' != {CURRENT}.backend", f"'musa' != {CURRENT}.backend"),
        (f"{CURRENT}.backend in ('cuda', 'hip')", f"{CURRENT}.backend in ('musa', 'hip')"),
        (f"t = {CURRENT}\nx = t.backend == 'cuda'", f"t = {CURRENT}\nx = t.backend == 'musa'"),
        (
            f"def t():\n    return {CURRENT}\nx = t().backend == 'cuda'",
            f"def t():\n    return {CURRENT}\nx = t().backend == 'musa'",
        ),
    ],
)
def test_backend(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(f"{HEAD}{before}\n", f"{HEAD}{after}\n", ["P24"])


def test_other_backends_stay(rewrites: Rewrites) -> None:
    rewrites(f"{HEAD}x = y.backend == 'cuda_x'\nz = config.backend in ('cuda_a', 'b')\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('GPUTarget("cuda", 80, 32)', 'GPUTarget("musa", 22, 128)'),
        ("GPUTarget('cuda', 86, 32)", "GPUTarget('musa', 22, 128)"),
        ('GPUTarget("cuda", 90, 32)', 'GPUTarget("musa", 31, 32)'),
        ('GPUTarget(backend="cuda", arch=75, warp_size=32)', 'GPUTarget(backend="musa", arch=22, warp_size=128)'),
    ],
)
def test_target(rewrites: Rewrites, before: str, after: str) -> None:
    head = "from triton.backends.compiler import GPUTarget\n"
    rewrites(f"{head}{before}\n", f"{head}{after}\n", ["P24"], ["P24 warning"])


@pytest.mark.parametrize(
    ("arch", "sm", "expected"),
    [
        (("mp_22",), 90, "22, 128"),
        (("mp_31",), 90, "31, 32"),
        (("mp_22",), 80, "22, 128"),
        (("mp_31",), 80, "31, 32"),
        (("mp_21", "mp_22"), 75, "21, 128"),
        (("mp_22", "mp_31"), 80, "22, 128"),
        (("mp_22", "mp_31"), 90, "31, 32"),
    ],
)
def test_target_is_among_the_architectures(rewrites: Rewrites, arch: tuple[str, ...], sm: int, expected: str) -> None:
    """The warp follows the architecture: 128 threads up to mp_22, 32 on mp_31."""
    head = "from triton.compiler import GPUTarget as Target\n"
    rewrites(f'{head}Target("cuda", {sm}, 32)\n', f'{head}Target("musa", {expected})\n', ["P24"], arch=arch)


@pytest.mark.parametrize(
    "call", ['GPUTarget("cuda", arch, 32)', 'GPUTarget("cuda", 100, 32)', 'GPUTarget("cuda", 80, w)']
)
def test_targets_that_are_not_known(rewrites: Rewrites, call: str) -> None:
    rewrites(f"from triton.backends.compiler import GPUTarget\n{call}\n", findings=["P24 error"])


def test_other_targets_stay(rewrites: Rewrites) -> None:
    rewrites('from triton.backends.compiler import GPUTarget\nGPUTarget("hip", "gfx942", 64)  # cuda\n')
    rewrites('from mylib import GPUTarget\nGPUTarget("cuda_x", 80, 32)\n')


def test_devices_of_tvm(rewrites: Rewrites) -> None:
    rewrites("import tvm\nx = tvm.cuda(0), tvm.cpu()\n", "import tvm\nx = tvm.musa(0), tvm.cpu()\n", ["P24"])
    rewrites("import mytvm as tvm\nx = tvm.cuda(0)\n")
    rewrites("import tvm\nt = tvm.target.Target('cuda')\n", "import tvm\nt = tvm.target.Target('musa')\n", ["P24"])
    rewrites("import tvm\nt = tvm.target.Target('cuda -arch=sm_90')\n", findings=["P24 error"])
