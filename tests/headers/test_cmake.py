"""The CMake package: installed for real, used by projects that are configured and built."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

Run = Callable[..., str]

#: A MUSA runtime for the host, so that ports can be compiled and run by any C++ compiler.
MUSA_RUNTIME = """\
#pragma once
enum musaError_t { musaSuccess, musaErrorNoDevice };
inline musaError_t musaGetDeviceCount(int* n) { *n = 3; return musaSuccess; }
"""
PROJECT = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES CXX)
find_package(musa_compat REQUIRED)
add_executable(app src/plain.cpp)
musa_port_sources(app src/main.cpp src/count.cpp ${arguments})
target_include_directories(app PRIVATE include "${CMAKE_CURRENT_SOURCE_DIR}/../sdk")
""",
    "include/app/scale.h": "#pragma once\n#include <cuda_runtime.h>\ninline cudaError_t ok() { return cudaSuccess; }\n",
    "src/count.h": "#pragma once\nint count();\n",
    "src/count.cpp": """\
#include "count.h"
#include <app/scale.h>
int count() { int n = 0; return cudaGetDeviceCount(&n) == ok() ? n : -1; }
""",
    "src/main.cpp": """\
#include "count.h"
#include <cstdio>
int plain();
int main() { std::printf("%d %d\\n", count(), plain()); }
""",
    "src/plain.cpp": "int plain() { return 7; }\n",
}
#: In the output of a build that ran musa-port.
PORTING = "musa_port_run.cmake"


@dataclass
class Project:
    """A project, its build tree, and what was rebuilt."""

    run: Run
    source: Path
    build_dir: Path
    configure_options: list[str]

    def configure(self, *options: str, expect: int | None = 0) -> str:
        command = ["cmake", "-S", self.source, "-B", self.build_dir, *self.configure_options, *options]
        return self.run(*command, expect=expect)

    def build(self, expect: int | None = 0) -> str:
        return self.run("cmake", "--build", self.build_dir, "--verbose", expect=expect)

    def output(self) -> str:
        return self.run(self.build_dir / "app")

    @property
    def ported(self) -> Path:
        return self.build_dir / "musa_port" / "app"

    def objects(self) -> dict[str, int]:
        """When each object file was written."""
        files = (self.build_dir / "CMakeFiles" / "app.dir").rglob("*.o")
        return {file.name: file.stat().st_mtime_ns for file in files}

    def write(self, path: str, text: str) -> None:
        """Write a source so that every build tool sees it as newer than what was built."""
        file = self.source / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@pytest.fixture(params=["Ninja", "Unix Makefiles"])
def generator(request: pytest.FixtureRequest) -> str:
    program = {"Ninja": "ninja", "Unix Makefiles": "make"}[request.param]
    if shutil.which(program) is None:
        pytest.skip(f"{program} not found")
    return str(request.param)


@pytest.fixture
def project(run: Run, cxx: str, package: Path, musa_port: Path, generator: str, tmp_path: Path) -> Project:
    source = tmp_path / "project with space"
    (tmp_path / "sdk").mkdir()
    (tmp_path / "sdk" / "musa_runtime.h").write_text(MUSA_RUNTIME, encoding="utf-8")
    options = [
        "-G",
        generator,
        f"-DCMAKE_PREFIX_PATH={package}",
        f"-DCMAKE_CXX_COMPILER={cxx}",
        f"-DMUSA_PORT_EXECUTABLE={musa_port}",
    ]
    project = Project(run, source, source / "build", options)
    for path, text in PROJECT.items():
        project.write(path, text)
    return project


def test_port_is_built_and_runs(project: Project) -> None:
    project.configure()
    assert PORTING in project.build()
    assert project.output() == "3 7\n"
    assert "musaGetDeviceCount" in (project.ported / "src" / "count.cpp").read_text(encoding="utf-8")
    assert "cuda" not in (project.ported / "include" / "app" / "scale.h").read_text(encoding="utf-8")
    assert not (project.ported / "src" / "plain.cpp").exists()


def test_second_build_does_nothing(project: Project, generator: str) -> None:
    project.configure()
    project.build()
    before = project.objects()
    text = project.build()
    assert PORTING not in text
    assert project.objects() == before
    if generator == "Ninja":
        assert "no work to do" in text
    project.configure()
    assert PORTING not in project.build()
    assert project.objects() == before


def test_changed_header_is_ported_and_compiled_again(project: Project, generator: str) -> None:
    project.configure()
    project.build()
    before = project.objects()
    header = PROJECT["include/app/scale.h"].replace("return cudaSuccess", "return cudaErrorNoDevice")
    project.write("include/app/scale.h", header)
    assert PORTING in project.build()
    assert project.output() == "-1 7\n"
    rebuilt = {name for name, time in project.objects().items() if time != before[name]}
    # Ninja knows which ported files changed; make compiles every ported source again.
    assert rebuilt == ({"count.cpp.o"} if generator == "Ninja" else {"count.cpp.o", "main.cpp.o"})
    assert PORTING not in project.build()


def test_changed_source_is_ported_and_compiled_again(project: Project) -> None:
    project.configure()
    project.build()
    project.write("src/count.cpp", PROJECT["src/count.cpp"].replace("return cuda", "return 1 + (int)cuda"))
    assert PORTING in project.build()
    assert project.output() == "-1 7\n"


@pytest.mark.parametrize("generator", ["Ninja"])
def test_header_that_nobody_includes_compiles_nothing(project: Project) -> None:
    project.configure()
    project.build()
    before = project.objects()
    project.write("include/app/unused.h", "// new\n")
    assert PORTING in project.build()
    assert project.objects() == before
    assert (project.ported / "include" / "app" / "unused.h").is_file()


def test_removed_header_is_gone_from_the_port(project: Project) -> None:
    project.write("src/extra.h", "#pragma once\n")
    project.configure()
    project.build()
    assert (project.ported / "src" / "extra.h").is_file()
    (project.source / "src" / "extra.h").unlink()
    project.build()
    assert not (project.ported / "src" / "extra.h").exists()


def test_changed_option_ports_again(project: Project) -> None:
    project.configure()
    project.build()
    project.configure("-Darguments=OPTIONS;--keep-names;cudaGetDeviceCount")
    assert PORTING in project.build(expect=None)
    assert "cudaGetDeviceCount" in (project.ported / "src" / "count.cpp").read_text(encoding="utf-8")


def test_deleted_port_is_made_again(project: Project) -> None:
    project.configure()
    project.build()
    port = project.ported / "src" / "count.cpp"
    port.unlink()
    assert PORTING in project.build()
    assert port.is_file()


def test_findings_are_said_and_with_strict_end_the_build(project: Project) -> None:
    source = PROJECT["src/count.cpp"] + "#ifdef __CUDACC__\nvoid f() { ncclGather(0); }\n#endif\n"
    project.write("src/count.cpp", source)
    project.configure()
    text = project.build()
    assert "musa-port left something to do by hand" in text
    assert "ncclGather" in text
    (report,) = {Path(path) for path in re.findall(r"see (.*report\.html)", text)}
    assert report.is_file()
    project.configure("-Darguments=STRICT")
    for _ in range(2):
        assert "musa-port left something to do by hand" in project.build(expect=None)
    project.write("src/count.cpp", PROJECT["src/count.cpp"])
    project.build()
    assert project.output() == "3 7\n"


def test_failure_of_musa_port_ends_the_build(project: Project) -> None:
    project.configure("-Darguments=OPTIONS;--map;no-such-file.json")
    for _ in range(2):
        text = project.build(expect=None)
        assert "app: musa-port failed (2)" in text
        assert "no-such-file.json" in text


def test_output_dir_and_root(project: Project) -> None:
    text = PROJECT["CMakeLists.txt"].replace("find_package", "set(arguments ROOT .. OUTPUT_DIR port)\nfind_package")
    project.write("CMakeLists.txt", text)
    project.configure()
    project.build()
    assert project.output() == "3 7\n"
    assert (project.build_dir / "port" / "project with space" / "src" / "count.cpp").is_file()


@pytest.mark.parametrize("generator", ["Unix Makefiles"])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("musa_port_sources(none a.cpp)", "none is not a target"),
        ("add_executable(x)\nmusa_port_sources(x OPTIONS --arch mp_31)", "no sources for x"),
        ("add_executable(x)\nmusa_port_sources(x ../a.cpp)", "../a.cpp is not below ROOT"),
        ("add_executable(x)\nmusa_port_sources(x a.cpp OPTIONS --check)", "option --check is set by musa_port_sources"),
        ("add_executable(x)\nmusa_port_sources(x a.cpp)\nmusa_port_sources(x b.cpp)", "called twice for x"),
        ("target_link_libraries(app PRIVATE musa_compat::headers musa_compat::cuda_reverse)", "MUSA_COMPAT_SDK"),
    ],
)
def test_mistakes_are_said_when_configuring(project: Project, line: str, message: str) -> None:
    project.write("CMakeLists.txt", PROJECT["CMakeLists.txt"] + line + "\n")
    text = " ".join(project.configure(expect=1).split())
    assert message in text


@pytest.mark.parametrize("generator", ["Unix Makefiles"])
def test_missing_musa_port_is_said(project: Project) -> None:
    project.configure_options = [option for option in project.configure_options if "MUSA_PORT" not in option]
    options = ("-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=NO", f"-DCMAKE_MAKE_PROGRAM={shutil.which('make')}")
    text = project.configure(*options, expect=1)
    assert "pip install musa-compat" in " ".join(text.split())


@pytest.mark.parametrize("generator", ["Ninja"])
def test_mu_sources_are_compiled_as_cxx_for_mcc(project: Project) -> None:
    """What mcc would be called with: there is no mcc here, so the build is looked at and not run."""
    project.write("src/kernel.cu", "__global__ void k() {}\n")
    project.configure("-Darguments=src/kernel.cu")
    rules = (project.build_dir / "build.ninja").read_text(encoding="utf-8")
    (block,) = re.findall(r"^build \S*kernel\.mu\.o: CXX.*?\n\n", rules, re.M | re.S)
    assert "-x musa" in block


@pytest.mark.parametrize("target", ["headers", "cuda_reverse"])
@pytest.mark.parametrize("generator", ["Ninja"])
def test_header_targets(project: Project, target: str) -> None:
    """Unported code against a MUSA SDK, and MUSA code against a CUDA one."""
    code, sdk = ("cuda", "musa") if target == "headers" else ("musa", "cuda")
    (project.source.parent / "sdk" / f"{sdk}_runtime.h").write_text(MUSA_RUNTIME.replace("musa", sdk), encoding="utf-8")
    main = f"int main() {{ int n; return {code}GetDeviceCount(&n) + n; }}\n"
    project.write("main.cpp", f"#include <{code}_runtime.h>\n{main}")
    project.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.20)\nproject(app LANGUAGES CXX)\nfind_package(musa_compat REQUIRED)\n"
        "add_executable(app main.cpp)\n"
        f'target_link_libraries(app PRIVATE musa_compat::{target})\ntarget_include_directories(app PRIVATE "../sdk")\n',
    )
    project.configure()
    project.build()
    project.run(project.build_dir / "app", expect=3)


@pytest.mark.parametrize("generator", ["Ninja"])
def test_package_works_as_a_subdirectory(project: Project, example: Path) -> None:
    text = PROJECT["CMakeLists.txt"].replace(
        "find_package(musa_compat REQUIRED)", f'add_subdirectory("{example.parents[1]}" musa_compat EXCLUDE_FROM_ALL)'
    )
    project.write("CMakeLists.txt", text + "target_link_libraries(app PRIVATE musa_compat::headers)\n")
    project.configure()
    project.build()
    assert project.output() == "3 7\n"


# ---- the example ------------------------------------------------------------------------------------------------


@pytest.mark.nvcc
def test_example_and_its_port_print_the_same(
    run: Run, nvcc: str, package: Path, musa_port: Path, example: Path, tmp_path: Path
) -> None:
    """Both are run; without a GPU they compare what they compute on the host."""
    options = [f"-DCMAKE_PREFIX_PATH={package}", f"-DMUSA_PORT_EXECUTABLE={musa_port}", f"-DCMAKE_CUDA_COMPILER={nvcc}"]
    run("cmake", "-S", example, "-B", tmp_path, *options)
    run("cmake", "--build", tmp_path)
    ported, original = run(tmp_path / "ported"), run(tmp_path / "original")
    without_times = re.compile(r"^device_sum: .* ms\n", re.M)
    assert without_times.sub("", ported) == without_times.sub("", original)
    assert ported.startswith("half 0.333252, bfloat16 0.333984\n")
    before = (tmp_path / "ported").stat().st_mtime_ns
    run("cmake", "--build", tmp_path)
    assert (tmp_path / "ported").stat().st_mtime_ns == before
