"""Compilers, and stand-ins for the SDKs that are not here."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "musa_compat" / "include"

Run = Callable[..., str]


def run_command(*command: str | Path, cwd: Path | None = None, expect: int | None = 0) -> str:
    """The output of a command, both streams. Fails the test unless it ends with status `expect` (None: any)."""
    result = subprocess.run(
        list(map(str, command)), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if expect is not None:
        assert result.returncode == expect, f"{' '.join(map(str, command))}\n{result.returncode}: {result.stdout}"
    return result.stdout


@pytest.fixture(scope="session")
def run() -> Run:
    return run_command


@pytest.fixture(scope="session")
def include() -> Path:
    """The include directory in the source tree."""
    return INCLUDE


@pytest.fixture(scope="session")
def example() -> Path:
    """The CUDA project of the examples."""
    return ROOT / "examples" / "cuda_project"


@pytest.fixture(scope="session")
def musa_port() -> Path:
    """The installed command."""
    program = Path(sysconfig.get_path("scripts")) / "musa-port"
    assert program.is_file(), f"{program} is missing: install the project with `pip install -e '.[test]'`"
    return program


@pytest.fixture(scope="session")
def cxx() -> str:
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler found")
    return compiler


@pytest.fixture(scope="session")
def nvcc() -> str:
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("nvcc not found: the CUDA toolkit is not installed")
    return compiler


@pytest.fixture(scope="session")
def cuda_include(nvcc: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The include directory of the toolkit that nvcc belongs to."""
    source = tmp_path_factory.mktemp("where") / "where.cu"
    source.touch()
    dependencies = run_command(nvcc, "-M", source)
    (header,) = {word for word in dependencies.split() if word.endswith("/cuda_runtime.h")}
    return Path(header).parent.resolve()


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `cmake --install` put the CMake package."""
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("cmake not found")
    build, prefix = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("prefix")
    run_command(cmake, "-S", ROOT, "-B", build, f"-DCMAKE_INSTALL_PREFIX={prefix}")
    run_command(cmake, "--install", build)
    return prefix
