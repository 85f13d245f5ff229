"""What is installed: the wheel's files, the commands, and what may not be needed at import time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
#: The version has one source.
VERSION_FILE = ROOT / "porter" / "musa_port" / "__init__.py"
(VERSION,) = re.findall(r'^__version__ = "(.+)"$', VERSION_FILE.read_text(encoding="utf-8"), re.M)

#: Runs a program with some packages made impossible to import: `python -c BLOCK "torch numpy" PROGRAM`.
BLOCK = """
import sys
for name in sys.argv.pop(1).split():
    sys.modules[name] = None
program = sys.argv.pop(1)
exec(program)
"""

#: Packages that belong to the user; nothing may need them.
FOREIGN = "torch torch_musa torchada tilelang numpy"


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """The standard output of a command that must succeed."""
    result = subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{command} ended with {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout


def script(name: str) -> Path:
    """An installed console script."""
    return Path(sysconfig.get_path("scripts")) / name


# ---- the installation that runs the tests -----------------------------------------------------------------------


@pytest.mark.parametrize("command", ["musa-port", "musa-compat"])
def test_commands_print_the_version(command: str, tmp_path: Path) -> None:
    assert VERSION in run(script(command), "--version", cwd=tmp_path).split()


@pytest.mark.parametrize("package", ["musa_compat", "musa_port"])
def test_packages_have_the_version(package: str, tmp_path: Path) -> None:
    program = f"import {package}; print({package}.__version__)"
    assert run(sys.executable, "-c", program, cwd=tmp_path).strip() == VERSION


def test_headers_prints_a_directory_with_the_headers(tmp_path: Path) -> None:
    folder = Path(run(script("musa-compat"), "headers", cwd=tmp_path).rstrip("\n"))
    assert folder.is_absolute()
    assert (folder / "musa_compat" / "cuda_runtime.h").is_file()


def test_cmake_dir_prints_a_directory_with_the_package(tmp_path: Path) -> None:
    folder = Path(run(script("musa-compat"), "cmake-dir", cwd=tmp_path).rstrip("\n"))
    assert folder.is_absolute()
    assert (folder / "musa_compat-config.cmake").is_file()


def test_cmake_finds_the_package(tmp_path: Path) -> None:
    folder = run(script("musa-compat"), "cmake-dir", cwd=tmp_path).rstrip("\n")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(user LANGUAGES NONE)\n"
        'find_package(musa_compat REQUIRED)\nmessage(STATUS "found ${musa_compat_VERSION}")\n'
        'if(NOT COMMAND musa_port_sources)\n  message(FATAL_ERROR "no musa_port_sources")\nendif()\n',
        encoding="utf-8",
    )
    output = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-Dmusa_compat_DIR={folder}", cwd=tmp_path)
    assert f"found {VERSION}" in output


def test_porter_needs_neither_torch_nor_the_core(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "a.cu").write_text("void f(void* p) { cudaFree(p); }\n", encoding="utf-8")
    program = "from musa_port.cli import main; main()"
    run(sys.executable, "-c", BLOCK, f"{FOREIGN} musa_compat", program, "src", "-o", "out", cwd=tmp_path)
    assert (tmp_path / "out" / "a.mu").read_text(encoding="utf-8") == "void f(void* p) { musaFree(p); }\n"


def test_core_needs_neither_torch_nor_the_porter(tmp_path: Path) -> None:
    program = "from musa_compat.cli import main; main()"
    blocked = f"{FOREIGN} musa_port tree_sitter tree_sitter_cuda"
    assert run(sys.executable, "-c", BLOCK, blocked, program, "headers", cwd=tmp_path)


# ---- the wheel --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, so that a file missing there is noticed too."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def wheel_names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an installed wheel."""
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    run(*pip, "--target", target, wheel, cwd=target)
    return target


def committed(folder: str) -> set[str]:
    """The files below `folder` that belong to the source, as paths from the repository root."""
    files = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT).as_posix() for path in files}


def test_wheel_is_for_every_platform(wheel: Path) -> None:
    assert wheel.name == f"musa_compat-{VERSION}-py3-none-any.whl"


def test_wheel_holds_both_packages_with_their_data(wheel_names: set[str]) -> None:
    porter = {path.removeprefix("porter/") for path in committed("porter/musa_port")}
    assert "musa_port/mappings/runtime.csv" in porter
    assert "musa_port/py.typed" in porter
    assert porter <= wheel_names
    assert committed("musa_compat") <= wheel_names


def test_wheel_holds_nothing_else(wheel_names: set[str]) -> None:
    assert {name.split("/")[0] for name in wheel_names} == {
        "musa_compat",
        "musa_port",
        f"musa_compat-{VERSION}.dist-info",
    }


def test_requirements_are_few_and_without_torch(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = Parser().parsestr(archive.read(f"musa_compat-{VERSION}.dist-info/METADATA").decode())
    required = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    names = {re.split(r"[^\w-]", line)[0] for line in required}
    assert names == {"click", "jinja2", "libcst", "pathspec", "pyyaml", "rich", "tree-sitter", "tree-sitter-cuda"}
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata.get_all("License-File") == ["LICENSE"]


def test_each_requirement_has_its_reason_in_the_documentation() -> None:
    (block,) = re.findall(r"^dependencies = \[(.*?)^\]", PYPROJECT, re.M | re.S)
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    requirements = re.findall(r'"([\w-]+)[>~]=([\d.]+)"', block)
    assert len(requirements) == len(block.strip().splitlines())
    for name, bound in requirements:
        assert re.search(rf"^\| {name} \| {re.escape(bound)}\b", page, re.M), f"{name}>={bound}"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("musa_compat.cli headers", "musa_compat/include"),
        ("musa_compat.cli cmake-dir", "musa_compat/"),
        ("musa_port.cli --version", VERSION),
    ],
)
def test_installed_wheel_works(installed: Path, arguments: str, expected: str, tmp_path: Path) -> None:
    # -S keeps the editable installation, whose finder comes first, out of the way.
    module, *rest = arguments.split()
    program = f"from {module} import main; main()"
    path = os.pathsep.join([str(installed), sysconfig.get_path("purelib")])
    output = run(sys.executable, "-S", "-c", program, *rest, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path})
    assert expected in output
    assert str(ROOT) not in output


# ---- the repository ---------------------------------------------------------------------------------------------


def test_readmes_tour_is_what_the_porter_does(tmp_path: Path) -> None:
    for readme in ("README.md", "README_CN.md"):
        text = (ROOT / readme).read_text(encoding="utf-8")
        before, after = re.findall(r"^```cuda\n(.*?)^```$", text, re.M | re.S)
        source = tmp_path / readme / "hello"
        source.mkdir(parents=True)
        (source / "scale.cu").write_text(before, encoding="utf-8")
        run(script("musa-port"), "hello", "-o", "hello_musa", cwd=source.parent)
        assert (source.parent / "hello_musa" / "scale.mu").read_text(encoding="utf-8") == after


def test_links_of_the_front_pages_lead_somewhere() -> None:
    for page in ("README.md", "README_CN.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (ROOT / target).is_file(), f"{page}: {target}"
