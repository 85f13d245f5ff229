"""P33, P34 and others: what stays CUDA must not go unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Port, Rewrites

HEAD = "import torch\n"


def said(port: Port, text: str) -> list[str]:
    result = port(HEAD + text)
    assert result.data == (HEAD + text).encode()
    return [f"{finding.rule} {finding.severity.value}" for finding in result.findings]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ('timeit.timeit("torch.cuda.synchronize()")\n', "P33 warning"),
        ('exec("x.cuda()")\n', "P33 warning"),
        ("""Timer(stmt="f(x)", setup="x = torch.ones(1, device='cuda')")\n""", "P33 warning"),
        ('InferenceSession("a", providers=["CUDAExecutionProvider"])\n', "P33 info"),
        ('parser.parse_args(["--device=cuda:0"])\n', "P33 info"),
        ('run(["--dist-backend=nccl"])\n', "P33 info"),
        ("from torch.testing._internal.common_cuda import TEST_CUDA\n", "P34 info"),
        ("from torch.testing._internal.common_device_type import onlyCUDA\n", "P34 info"),
        ("import apex\n", "P31 error"),
        ("from xformers.ops import memory_efficient_attention\n", "P31 error"),
        ("with torch.autograd.profiler.emit_nvtx(): pass\n", "P22 error"),
    ],
)
def test_reported(port: Port, text: str, finding: str) -> None:
    assert said(port, text) == [finding]


def test_the_architecture_of_a_target(port: Port) -> None:
    assert said(port, "ok = target.arch >= 90  # cuda\n") == ["P28 warning"]


@pytest.mark.parametrize(
    "text",
    [
        'exec("print(1)")\n',
        'timeit.timeit("f()", setup="from m import f")\n',
        'run(["--model=cuda_kernel"])\n',
        "from torch.testing._internal.common_utils import run_tests\n",
        "ok = target.arch >= 3  # cuda\n",
    ],
)
def test_left_in_silence(port: Port, text: str) -> None:
    assert said(port, text) == []


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("x.cuda.return_value = x\n", "x.musa.return_value = x\n"),
        ("x.cuda.assert_called_once_with()\n", "x.musa.assert_called_once_with()\n"),
        ("n = model.cuda.call_count\n", "n = model.musa.call_count\n"),
    ],
)
def test_what_a_mock_stands_for(rewrites: Rewrites, text: str, after: str) -> None:
    rewrites(HEAD + text, HEAD + after, imported="any")


@pytest.mark.parametrize("text", ["x.cuda.enabled = True\n", "args.cuda.x\n"])
def test_other_members(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text, HEAD + text)


@pytest.mark.parametrize("name", ["cuda_time", "cuda_time_str", "cuda_time_total", "self_cuda_memory_usage"])
def test_fields_of_a_profile(rewrites: Rewrites, name: str) -> None:
    new = name.replace("cuda", "musa")
    text = "for event in profile.key_averages():\n    t = event.{}\n"
    rewrites(HEAD + text.format(name), HEAD + text.format(new), findings=["P14 warning"], imported="any")
