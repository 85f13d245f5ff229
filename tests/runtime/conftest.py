"""Fixtures of the runtime's tests: Python programs in a process of their own, and a stand-in for `torch_musa`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Program: TypeAlias = Callable[..., str]

#: Variables that decide which device is used; a test starts without them.
VARIABLES = (
    "MUSA_COMPAT_DEVICE",
    "MUSA_COMPAT_SIM",
    "MUSA_COMPAT_SIM_ARCH",
    "MUSA_COMPAT_PROVIDER",
    "CUDA_VISIBLE_DEVICES",
    "MUSA_VISIBLE_DEVICES",
    "TORCH_DEVICE_BACKEND_AUTOLOAD",
)


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Runs a Python program in a fresh interpreter and returns what it printed."""

    def run(code: str, *path: Path, **variables: str) -> str:
        environment = {**os.environ, **variables}
        environment["PYTHONPATH"] = os.pathsep.join([*map(str, path), os.environ.get("PYTHONPATH", "")])
        result = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout.strip()

    return run
