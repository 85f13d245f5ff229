"""The hook for pre-commit: what it starts is what the command line offers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from musa_port import cli

ROOT = Path(__file__).resolve().parent.parent
#: Keys of a hook that pre-commit reads: https://pre-commit.com/#creating-new-hooks
KEYS = frozenset(
    "id name entry language files exclude types types_or exclude_types always_run fail_fast verbose pass_filenames "
    "require_serial description language_version minimum_pre_commit_version args stages".split()
)


@pytest.fixture(scope="module")
def hook() -> dict[str, Any]:
    """The one hook of the file."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert isinstance(hook, dict)
    return hook


def test_fields(hook: dict[str, Any]) -> None:
    assert hook.keys() <= KEYS
    assert hook["id"] == "musa-port-check"
    assert hook["name"]
    assert hook["description"]
    assert hook["language"] == "python"  # pre-commit installs this repository with pip
    assert hook["pass_filenames"] is False  # musa-port takes one folder


def test_program_is_installed_by_the_package(hook: dict[str, Any]) -> None:
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    program = shlex.split(hook["entry"])[0]
    assert f'\n{program} = "musa_port.cli:main"\n' in pyproject


@pytest.mark.parametrize(
    ("files", "status"),
    [
        ({}, 0),
        ({"a.mu": "void f(void* p) { musaFree(p); }\n", "a.py": 'device = "musa"\n'}, 0),
        ({"a.mu": "", "b.cpp": "void f(void* p) { cudaFree(p); }\n"}, 1),
        ({"a.mu": "", "b.py": "import torch\nx = torch.cuda.device_count()\n"}, 1),
        ({"run.sh": "export CUDA_VISIBLE_DEVICES=0\n"}, 1),
        ({"notes.md": "cudaFree, torch.cuda\n"}, 0),
    ],
    ids=["empty", "port", "cuda in C++", "cuda in Python", "cuda in a script", "words in a text"],
)
def test_hook_sees_cuda_code(
    hook: dict[str, Any], files: dict[str, str], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Started as pre-commit starts it, in the root of a repository; nothing is written."""
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli.port, shlex.split(hook["entry"])[1:] + hook["args"])
    assert result.exit_code == status, result.output
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == files
