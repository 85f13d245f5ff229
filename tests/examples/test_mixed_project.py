"""The mixed example project: sources, build files, package and tests are ported together and stay consistent."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from musa_port import FileStatus, Report, port_tree
from musa_port import cli as command_line

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "examples" / "mixed_project"
REVERSE = ROOT / "musa_compat" / "include" / "musa_compat" / "musa_on_cuda"
#: What tests and builds leave behind.
JUNK = shutil.ignore_patterns("__pycache__", ".pytest_cache", "build", "*.so", "*.egg-info", "norm_speed")

#: What the project is: path -> path in the port.
RENAMED = {
    "csrc/kernels.cuh": "csrc/kernels.muh",
    "csrc/ops.cu": "csrc/ops.mu",
    "tools/norm_speed.cu": "tools/norm_speed.mu",
}
#: Files with nothing to port.
UNCHANGED = {
    "csrc/binding.cpp",
    "csrc/ops.h",
    "fastops/__init__.py",
    "pyproject.toml",
    "tests/conftest.py",
    "tests/test_training.py",
}
#: Folders that the build files give to the compilers with -I.
INCLUDE_DIRS = ("csrc",)
#: Words about CUDA that remain: texts, comments, and names of the project.
LEFT = {
    "Makefile": Counter({"NVCCFLAGS": 2}),
    "csrc/binding.cpp": Counter({"CUDA": 1}),  # a text
    "fastops/devices.py": Counter({"NVIDIA": 1}),  # a docstring
    "setup.py": Counter({"CUDA": 1}),  # a docstring
    "tools/norm_speed.mu": Counter({"CUDA_CHECK": 12}),  # a macro of the project
}

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project without what its tests and builds left behind."""
    folder = tmp_path_factory.mktemp("project") / "mixed_project"
    shutil.copytree(PROJECT, folder, ignore=JUNK)
    return folder


@pytest.fixture(scope="module")
def ported(project: Path) -> Path:
    return project.parent / "ported"


@pytest.fixture(scope="module", autouse=True)
def report(project: Path, ported: Path) -> Report:
    return port_tree(project, ported)


def texts(folder: Path) -> dict[str, str]:
    """Every file below the folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def modules(folder: Path) -> Iterator[tuple[str, ast.Module]]:
    """The syntax tree of every Python file."""
    for path, text in texts(folder).items():
        if path.endswith(".py"):
            yield path, ast.parse(text, path)


# ---- one run, one report -----------------------------------------------------------------------------------------


def test_one_command_leaves_nothing_to_do_by_hand(project: Path, tmp_path: Path) -> None:
    """Exit status 0 says so, and one report holds every file."""
    page = tmp_path / "report.json"
    arguments = [str(project), "-o", str(tmp_path / "out"), "--report", str(page)]
    result = CliRunner().invoke(command_line.port, arguments)
    assert result.exit_code == 0, result.output
    data = json.loads(page.read_text(encoding="utf-8"))
    assert data["summary"]["findings"]["error"] == 0
    assert {file["path"] for file in data["files"]} == set(texts(project))


def test_every_kind_of_file_is_ported(report: Report, project: Path) -> None:
    assert [finding for finding in report.findings() if finding.severity.value == "error"] == []
    statuses = {file.path: file.status for file in report.files}
    assert {path for path, status in statuses.items() if status is not FileStatus.PORTED} == UNCHANGED
    assert {file.path: file.output_path for file in report.files} == {
        path: RENAMED.get(path, path) for path in texts(project)
    }


def test_second_run_changes_nothing(ported: Path, tmp_path: Path) -> None:
    again = port_tree(ported, tmp_path / "again")
    assert texts(tmp_path / "again") == texts(ported)
    assert again.edit_count == 0


# ---- the files agree with each other -----------------------------------------------------------------------------


def test_sources_that_are_named_exist(project: Path, ported: Path) -> None:
    """Each mention of a device source, in any file, is the path of a file of the port."""
    mentions = [
        (path, name)
        for path, text in texts(ported).items()
        for name in re.findall(r"[\w./-]*\w\.(?:cuh?|muh?)\b", text)
    ]
    for path, name in mentions:
        folders = [ported, (ported / path).parent, *(ported / folder for folder in INCLUDE_DIRS)]
        assert any((folder / name).is_file() for folder in folders), f"{path} names {name}"
    naming = {path for path, _ in mentions}
    assert {"setup.py", "CMakeLists.txt", "Makefile", "csrc/ops.mu", "tools/norm_speed.mu"} <= naming
    before = sum(len(re.findall(r"\w\.(?:cuh?)\b", text)) for text in texts(project).values())
    assert len(mentions) == before  # none was lost


def test_includes_resolve(ported: Path) -> None:
    found = 0
    for path, text in texts(ported).items():
        for name in re.findall(r'^#include "(.+)"$', text, re.M):
            folders = [(ported / path).parent, *(ported / folder for folder in INCLUDE_DIRS)]
            assert any((folder / name).is_file() for folder in folders), f"{path} includes {name}"
            found += 1
    assert found == 4


def test_extension_keeps_its_name(ported: Path) -> None:
    """The module that setup.py builds is the one that the package imports."""
    trees = dict(modules(ported))
    calls = [node for node in ast.walk(trees["setup.py"]) if isinstance(node, ast.Call)]
    (build,) = [call for call in calls if getattr(call.func, "id", "") == "MUSAExtension"]
    assert ast.literal_eval(build.args[0]) == "fastops._C"
    imports = [node for node in ast.walk(trees["fastops/ops.py"]) if isinstance(node, ast.ImportFrom)]
    assert any(node.module == "fastops" and node.names[0].name == "_C" for node in imports)
    exported = re.findall(r'm\.def\("(\w+)"', texts(ported)["csrc/binding.cpp"])
    used = {
        node.attr
        for node in ast.walk(trees["fastops/ops.py"])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "_C"
    }
    assert used == set(exported)


# ---- nothing of CUDA is left -------------------------------------------------------------------------------------


def test_words_about_cuda_that_are_left(ported: Path) -> None:
    words = re.compile(r"\w*(?:cuda|nvcc|nccl|nvidia)\w*|\bsm_?\d+\w*|compute_\d+\w*", re.I)
    left = {path: Counter(words.findall(text)) for path, text in texts(ported).items()}
    assert {path: found for path, found in left.items() if found} == LEFT


def test_no_device_of_cuda_in_python(ported: Path) -> None:
    """Strings and attributes, but for docstrings, by Python's own parser."""
    for path, tree in modules(ported):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.fullmatch(r"cuda(:.*)?|nccl|CUDA", node.value), f"{path}:{node.lineno}"
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("cuda", "is_cuda", "CUDA"), f"{path}:{node.lineno}"


def test_torch_musa_is_imported_where_it_is_used(ported: Path) -> None:
    for path, tree in modules(ported):
        uses = any(isinstance(node, ast.Attribute) and node.attr in ("musa", "is_musa") for node in ast.walk(tree))
        imported = [
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        ]
        assert imported.count("torch_musa") == (1 if uses else 0), path


def test_environment(ported: Path) -> None:
    """A script, a workflow and setup.py say the same."""
    files = texts(ported)
    workflow = dict(re.findall(r'^      (\w+): "(.*)"$', files[".github/workflows/tests.yml"], re.M))
    assert workflow == {
        "MUSA_VISIBLE_DEVICES": "0",
        "TORCH_MUSA_ARCH_LIST": "22;31",
        "MUSA_LAUNCH_BLOCKING": "1",
    }
    assert 'os.environ.setdefault("TORCH_MUSA_ARCH_LIST", "22;31")' in files["setup.py"]
    exported = re.findall(r"^export (\w+)=", files["scripts/train.sh"], re.M)
    assert exported == ["MUSA_HOME", "PATH", "MUSA_VISIBLE_DEVICES", "MCCL_DEBUG"]
    assert "--device musa" in files["scripts/train.sh"]
    assert os.access(ported / "scripts" / "train.sh", os.X_OK)


# ---- compilers and tests -----------------------------------------------------------------------------------------


@pytest.mark.nvcc
def test_tool_is_the_same_program(project: Path, ported: Path, tmp_path: Path) -> None:
    """Compiled through the reverse headers, the port gives the PTX of the original."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc not found: the CUDA toolkit is not installed")
    code = []
    for folder, source in ((project, "tools/norm_speed.cu"), (ported, "tools/norm_speed.mu")):
        output = tmp_path / "norm_speed.ptx"
        options = ["-std=c++17", "-ptx", "-x", "cu", f"-I{REVERSE}", f"-I{folder / 'csrc'}", "-o", str(output)]
        run(nvcc, *options, str(folder / source), cwd=tmp_path)
        code.append(output.read_text(encoding="utf-8"))
    assert "rms_norm_kernel" in code[0]
    assert code[1] == code[0]


@needs_torch
def test_tests_of_the_original_pass(project: Path) -> None:
    assert " passed" in run_tests(project)


#: What torch_musa brings, on a machine without a MUSA device.
NO_DEVICE = """
import types
import torch
torch.musa = types.SimpleNamespace(is_available=lambda: False)
torch.Tensor.is_musa = property(lambda self: False)
"""


@needs_torch
def test_tests_of_the_port_pass_without_a_device(ported: Path, tmp_path: Path) -> None:
    """The port still falls back to the CPU."""
    (tmp_path / "torch_musa.py").write_text(NO_DEVICE, encoding="utf-8")
    assert " passed" in run_tests(ported, tmp_path)


#: A program for pytest that has the simulated device.
ON_SIMULATED_DEVICE = """
import sys
from musa_compat import sim
sim.enable(devices=2)
import pytest
import torch
from fastops.devices import default_device
assert default_device().type == "musa"
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider"]))
"""


@needs_torch
def test_tests_of_the_port_pass_on_the_simulated_device(ported: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    assert " passed" in run(sys.executable, "-c", ON_SIMULATED_DEVICE, cwd=ported, env=environment)


def run_tests(folder: Path, *path: Path) -> str:
    """The output of the project's own tests, which must pass."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}
    return run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=folder, env=environment)


def run(*command: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    """The standard output of a command that must succeed."""
    result = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"
    return result.stdout
