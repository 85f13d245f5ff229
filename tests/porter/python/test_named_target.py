"""P38: names in strings that are patched, imported or asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Execute, Port, Rewrites

HEAD, MUSA = "import torch\n", "import torch\nimport torch_musa\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('mock.patch("torch.cuda.is_available")', 'mock.patch("torch.musa.is_available")'),
        ("mocker.patch('torch.cuda.CUDAGraph', None)", "mocker.patch('torch.musa.MUSAGraph', None)"),
        ('patch("torch.version.cuda", "12.1")', 'patch("torch.version.musa", "12.1")'),
        ('patch("torch.cuda.amp.autocast")', 'patch("torch.musa.amp.autocast")'),
        ('patch("pkg.ops.torch.cuda.is_available")', 'patch("pkg.ops.torch.musa.is_available")'),
        ('patch(f"{MODULE}.torch.cuda.synchronize")', 'patch(f"{MODULE}.torch.musa.synchronize")'),
        (
            'monkeypatch.setattr("torch.cuda.is_available", lambda: True)',
            'monkeypatch.setattr("torch.musa.is_available", lambda: True)',
        ),
        ('monkeypatch.delattr("torch.cuda.Stream")', 'monkeypatch.delattr("torch.musa.Stream")'),
        (
            'monkeypatch.setattr(torch.cuda, "CUDAGraph", None)',
            'monkeypatch.setattr(torch.musa, "MUSAGraph", None)',
        ),
        ('patch.object(torch.cuda, "nccl")', 'patch.object(torch.musa, "mccl")'),
        ('mocker.spy(torch.cuda, "cudart")', 'mocker.spy(torch.musa, "musart")'),
        (
            'patch.multiple("torch.cuda", CUDAGraph=None, Stream=None)',
            'patch.multiple("torch.musa", MUSAGraph=None, Stream=None)',
        ),
        ('patch.multiple(torch.cuda, CUDAGraph=None)', 'patch.multiple(torch.musa, MUSAGraph=None)'),
        ('importlib.import_module("torch.cuda")', 'importlib.import_module("torch_musa")'),
        ('importlib.import_module("torch.cuda.amp")', 'importlib.import_module("torch_musa.core.amp")'),
        ('pytest.importorskip("pynvml")', 'pytest.importorskip("pymtml")'),
        ('getattr(torch, "cuda")', 'getattr(torch, "musa")'),
        ('hasattr(torch.version, "cuda")', 'hasattr(torch.version, "musa")'),
        ('getattr(torch.cuda, "cudart")()', 'getattr(torch.musa, "musart")()'),
        ('hasattr(torch, "cuda") and x', 'hasattr(torch, "musa") and x'),
        ('getattr(x, "is_cuda", False)', 'getattr(x, "is_musa", False)'),
    ],
)  # fmt: skip
def test_names(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(f"{HEAD}{before}\n", f"{MUSA}{after}\n", imported="any")


def test_decorator_of_a_test(rewrites: Rewrites) -> None:
    text = '@patch("torch.cuda.device_count", return_value=2)\ndef test(count): ...\n'
    rewrites(HEAD + text, MUSA + text.replace("cuda", "musa"), ["P38"])


def test_what_is_patched_is_what_is_called(port: Port, execute: Execute) -> None:
    text = (
        "import importlib\nimport torch\nfrom unittest import mock\n"
        'with mock.patch("torch.cuda.is_available", return_value=7):\n    answer = torch.cuda.is_available()\n'
        'importlib.import_module("torch.cuda.amp").autocast()\ngetattr(torch, "cuda").synchronize()\n'
    )
    world = execute(port(text))
    assert world.names["answer"] == 7
    assert world.calls == ["torch_musa.core.amp.autocast", "torch_musa.synchronize"]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ('patch("torch.cuda.utilization")', "P1 error"),
        ('patch("torch.cuda.nvtx.range_push")', "P22 error"),
        ('patch("torch.cuda._lazy_init")', "P29 error"),
        ('monkeypatch.delattr("torch.cuda.utilization")', "P1 error"),
        ('import_module("cupy")', "P31 error"),
        ('patch("pkg.torch.utils.cpp_extension.CUDAExtension")', "P38 warning"),
        ('names = ["torch.cuda.is_available"]', "P38 info"),
        ('sys.modules["torch.cuda"] = fake', "P38 info"),
    ],
)
def test_left_and_reported(rewrites: Rewrites, text: str, finding: str) -> None:
    rewrites(f"import torch\n{text}\n", findings=[finding])


@pytest.mark.parametrize(
    "text",
    [
        'patch("pkg.cuda.is_available")',
        'patch("pkg.torch_cuda.run")',
        'requests.patch("https://example.com/torch.cuda.x")',
        'setattr(self, "cuda_stream", s)',
        'hasattr(torch, "compile")',
        'importlib.util.find_spec("cupy")',
        'getattr(torch.cuda_x, "y", None)',
        'getattr(config, "use_cuda", None)',
        'print("torch.cuda.is_available")',
        'raise RuntimeError("torch.cuda.is_available")',
    ],
)
def test_left_alone(rewrites: Rewrites, text: str) -> None:
    result = rewrites(f"import importlib\nimport torch\n{text}\n")
    assert result.findings == []


def test_attribute_that_torch_musa_lacks(rewrites: Rewrites) -> None:
    before = 'monkeypatch.setattr(torch.cuda, "utilization", None)\n'
    rewrites(HEAD + before, MUSA + before.replace("torch.cuda", "torch.musa"), findings=["P1 error"])


def test_question_for_what_torch_musa_lacks(rewrites: Rewrites) -> None:
    """The answer is no, which is right."""
    before = 'if hasattr(torch.cuda, "utilization"): pass\n'
    result = rewrites(HEAD + before, MUSA + before.replace("torch.cuda", "torch.musa"))
    assert result.findings == []
