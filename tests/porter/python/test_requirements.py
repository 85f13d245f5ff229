"""B70 to B73 in setup.py: the same decisions as in a requirements file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from musa_port import FilePort
    from tests.porter.python.conftest import Port, Rewrites

HEAD = "from setuptools import setup\n"


def said(result: FilePort) -> list[str]:
    return [f"{finding.rule} {finding.severity.value} {finding.line}" for finding in result.findings]


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        (
            'setup(install_requires=["nvidia-cublas-cu12", "numpy"])',
            'setup(install_requires=["numpy"])',
            ["B70 warning 2"],
        ),
        ('setup(install_requires=["nvidia-nccl-cu12"])', "setup(install_requires=[])", ["B70 warning 2"]),
        (
            'setup(install_requires=[\n    "numpy",\n    "nvidia-nccl-cu12; sys_platform == \'linux\'",\n])',
            'setup(install_requires=[\n    "numpy",\n])',
            ["B70 warning 4"],
        ),
        ('setup(setup_requires=["nvidia-ml-py>=12"])', 'setup(setup_requires=["mthreads-ml-py"])', ["B71 info 2"]),
        (
            'setup(extras_require={"gpu": ["nvidia-cufft-cu12", "x"]})',
            'setup(extras_require={"gpu": ["x"]})',
            ["B70 warning 2"],
        ),
        (
            'R = ["numpy"]\nR.append("nvidia-nccl-cu12")\nR += ["nvidia-nvtx-cu12", "x"]\nsetup(install_requires=R)',
            'R = ["numpy"]\nR += ["x"]\nsetup(install_requires=R)',
            ["B70 warning 3", "B70 warning 4"],
        ),
        (
            'def needs():\n    return ["nvidia-nccl-cu12", "x"]\nsetup(install_requires=needs())',
            'def needs():\n    return ["x"]\nsetup(install_requires=needs())',
            ["B70 warning 3"],
        ),
        (
            'k = {"install_requires": ["nvidia-nccl-cu12", "x"]}\nsetup(**k)',
            'k = {"install_requires": ["x"]}\nsetup(**k)',
            ["B70 warning 2"],
        ),
    ],
)
def test_changed(rewrites: Rewrites, before: str, after: str, findings: list[str]) -> None:
    result = rewrites(f"{HEAD}{before}\n", f"{HEAD}{after}\n", path="setup.py")
    assert said(result) == findings


@pytest.mark.parametrize(
    ("requirement", "finding"),
    [
        ("cupy-cuda12x", "B71 error 2"),
        ("flash-attn>=2", "B71 warning 2"),
        ("xformers", "B71 error 2"),
        ("triton", "B71 warning 2"),
        ("onnxruntime-gpu>=1.18", "B71 error 2"),
        ("tensorrt", "B71 error 2"),
        ("cudf-cu12", "B71 error 2"),
        ("paddlepaddle-gpu", "B71 warning 2"),
        ("torch==2.4.0+cu121", "B72 error 2"),
        ("torch>=2.2", "B73 info 2"),
    ],
)
@pytest.mark.parametrize("form", ['setup(install_requires=["{}"])\n', 'setup(extras_require=dict(x=["{}"]))\n'])
def test_left_and_reported(rewrites: Rewrites, form: str, requirement: str, finding: str) -> None:
    """Also where the file has no other word of CUDA."""
    assert finding in said(rewrites(HEAD + form.format(requirement), path="setup.py"))


def test_a_set_does_not_become_a_dictionary(rewrites: Rewrites) -> None:
    assert said(rewrites(HEAD + 'setup(install_requires={"nvidia-nccl-cu12"})\n')) == ["B70 warning 2"]


@pytest.mark.parametrize(
    "text",
    [
        'setup(install_requires=["numpy", "scipy"], name="cuda-x")\n',
        'setup(name="nvidia-cublas-cu12")\n',
        'configure(install_requires=["nvidia-cublas-cu12"])\n',
    ],
)
def test_left_alone(port: Port, text: str) -> None:
    result = port(HEAD + text, path="setup.py")
    assert result.edits == []
    assert said(result) == []
