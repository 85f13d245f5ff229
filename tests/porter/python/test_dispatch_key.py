"""P21: the keys and device types under which operators are registered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Port, Rewrites

HEAD = "import torch\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('torch.library.Library("n", "IMPL", "CUDA")', 'torch.library.Library("n", "IMPL", "PrivateUse1")'),
        ('x.impl("op", f, "AutogradCUDA")', 'x.impl("op", f, "AutogradPrivateUse1")'),
        (
            'x.impl("op", f, "SparseCUDA" if s else "CUDA")',
            'x.impl("op", f, "SparsePrivateUse1" if s else "PrivateUse1")',
        ),
        ('torch.library.impl("n::op", ("CPU", "CUDA"))', 'torch.library.impl("n::op", ("CPU", "PrivateUse1"))'),
        ('torch.library.impl("n::op", "cuda")', 'torch.library.impl("n::op", "musa")'),
        ('torch.library.impl("n::op", types="cuda")', 'torch.library.impl("n::op", types="musa")'),
        ('torch.library.register_kernel("n::op", "cuda", f)', 'torch.library.register_kernel("n::op", "musa", f)'),
        (
            'torch.library.register_kernel("n::op", ["cuda", "cpu"])',
            'torch.library.register_kernel("n::op", ["musa", "cpu"])',
        ),
        ('op.register_kernel("cuda")', 'op.register_kernel("musa")'),
        ('torch.library.register_autocast("n::op", "cuda", t)', 'torch.library.register_autocast("n::op", "musa", t)'),
        (
            'torch.library.custom_op("n::op", mutates_args=(), device_types="cuda")',
            'torch.library.custom_op("n::op", mutates_args=(), device_types="musa")',
        ),
        ('register(name="x", dispatch_key="CUDA")', 'register(name="x", dispatch_key="PrivateUse1")'),
        ('def f(dispatch_key: str = "CUDA"): ...', 'def f(dispatch_key: str = "PrivateUse1"): ...'),
        ('dispatch_key = "CUDA"', 'dispatch_key = "PrivateUse1"'),
    ],
)
def test_keys(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(f"{HEAD}{before}\n", f"{HEAD}{after}\n", imported="any")


@pytest.mark.parametrize(
    "text",
    [
        'x.impl("CUDA", f)\nx.impl("op", f, "CPU")\nx.implement("op", f, "CUDA")\n',
        'torch.library.define("n::op", "CUDA")\nf("n::op", "CUDA")\n',
        'from mylib import register_kernel\nregister_kernel("n::op", "cuda")\n',
        'key = "CUDA"\nx = {"dispatch_key": "CUDA"}\n',
        'torch.library.Library("CUDA", "DEF")\n',
    ],
)
def test_others_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


def test_files_without_torch_stay(rewrites: Rewrites) -> None:
    rewrites('x.impl("op", f, "CUDA")\ndispatch_key = "CUDA"\nop.register_kernel("cuda")\n')


@pytest.mark.parametrize(
    "text",
    ["k = torch._C.DispatchKey.AutogradCUDA\n", 'torch._C._dispatch_has_kernel_for_dispatch_key("n::op", "CUDA")\n'],
)
def test_private_functions_are_reported(port: Port, text: str) -> None:
    result = port(HEAD + text)
    assert result.data.decode() == HEAD + text
    assert ("P21", "error") in {(finding.rule, finding.severity.value) for finding in result.findings}
