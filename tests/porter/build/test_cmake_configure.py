"""Ported projects, configured and built by CMake itself. Stand-ins take the place of the modules of the MUSA SDK."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from musa_port import Options
from musa_port.api import port_tree
from musa_port.model import Severity

CMAKE = shutil.which("cmake")
pytestmark = [
    pytest.mark.skipif(CMAKE is None, reason="cmake is not installed"),
    pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler"),
    pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed"),
]

#: What the port expects of the SDK: device sources are compiled, here as C++, with the flags of MUSA_MCC_FLAGS.
FIND_MUSA = r"""
set(MUSA_FOUND TRUE)
macro(_musa_sources)
  foreach(source ${ARGN})
    if(source MATCHES "\\.mu$")
      set_source_files_properties(${source} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++;${MUSA_MCC_FLAGS}")
    endif()
  endforeach()
endmacro()
macro(musa_add_library name)
  add_library(${name} ${ARGN})
  _musa_sources(${ARGN})
endmacro()
macro(musa_add_executable name)
  add_executable(${name} ${ARGN})
  _musa_sources(${ARGN})
endmacro()
"""
FIND_TOOLKIT = r"""
set(MUSAToolkit_FOUND TRUE)
set(MUSAToolkit_VERSION 4.3.0)
foreach(name musart mublas)
  if(NOT TARGET MUSA::${name})
    add_library(MUSA::${name} INTERFACE IMPORTED)
    set_target_properties(MUSA::${name} PROPERTIES INTERFACE_COMPILE_DEFINITIONS HAS_${name})
  endif()
endforeach()
"""
PROJECT = r"""
cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CXX CUDA)  # both
find_package(CUDAToolkit 11.4 REQUIRED)
if(NOT CUDAToolkit_FOUND)
  message(FATAL_ERROR "no toolkit")
endif()

set(CMAKE_CUDA_ARCHITECTURES "80;86;90")
list(APPEND CUDA_NVCC_FLAGS -Xcompiler -fPIC
  --expt-relaxed-constexpr # for std::min
  -Xptxas=-v
  -DFROM_FLAGS=3)
set(KERNELS src/scale.cu)
list(APPEND KERNELS src/sum.cu)
add_library(kernels STATIC ${KERNELS} src/host.cpp)
target_compile_features(kernels PUBLIC cuda_std_17)
target_link_libraries(kernels PUBLIC CUDA::cudart CUDA::cublas)
set_target_properties(kernels PROPERTIES CUDA_SEPARABLE_COMPILATION ON POSITION_INDEPENDENT_CODE ON)
add_executable(demo main.cu)
target_link_libraries(demo PRIVATE kernels)
file(WRITE "${CMAKE_BINARY_DIR}/values.txt" "[${CMAKE_CUDA_ARCHITECTURES}] [${CUDA_NVCC_FLAGS}] [$ENV{CUDA_HOME}]")
"""
FILES = {
    "CMakeLists.txt": PROJECT,
    "src/scale.cu": "int scale(int x) { return x * FROM_FLAGS; }\n",
    "src/sum.cu": "int sum(int x) { return x + 1; }\n",
    "src/host.cpp": "#if !defined(HAS_musart) || !defined(HAS_mublas)\n#error\n#endif\nint host() { return 5; }\n",
    "main.cu": "int scale(int); int sum(int); int host();\nint main() { return scale(2) + sum(3) + host(); }\n",
}


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like the MUSA SDK to CMake."""
    modules = tmp_path / "sdk" / "cmake"
    modules.mkdir(parents=True)
    (modules / "FindMUSA.cmake").write_text(FIND_MUSA, encoding="utf-8")
    (modules / "FindMUSAToolkit.cmake").write_text(FIND_TOOLKIT, encoding="utf-8")
    monkeypatch.setenv("MUSA_HOME", str(tmp_path / "sdk"))
    return tmp_path / "sdk"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=os.environ, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_ported_project_builds_and_runs(tmp_path: Path, sdk: Path) -> None:
    source, output, build = tmp_path / "source", tmp_path / "output", tmp_path / "build"
    write(source, FILES)
    report = port_tree(source, output, Options())
    assert [finding.message for finding in report.findings() if finding.severity is Severity.ERROR] == []
    run(CMAKE or "", "-S", output, "-B", build, "-G", "Unix Makefiles", "-Wno-dev")
    run(CMAKE or "", "--build", build)
    assert subprocess.run([build / "demo"]).returncode == 2 * 3 + 4 + 5
    values = (build / "values.txt").read_text(encoding="utf-8")
    assert values == f"[22;31] [-fPIC;-DFROM_FLAGS=3] [{sdk}]"


TARGET_SOURCES = r"""
cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CUDA CXX)
add_executable(demo)
target_sources(demo PRIVATE main.cu src/scale.cu src/sum.cu src/host.cpp)
target_compile_definitions(demo PRIVATE FROM_FLAGS=3 HAS_musart HAS_mublas)
"""


def test_sources_compiled_as_cxx(tmp_path: Path, sdk: Path) -> None:
    """Targets that musa_add_* cannot make: a compiler that knows `-x musa` gets it, for device sources alone."""
    source, output, build = tmp_path / "source", tmp_path / "output", tmp_path / "build"
    write(source, FILES | {"CMakeLists.txt": TARGET_SOURCES})
    port_tree(source, output, Options())
    compiler = tmp_path / "mcc"
    compiler.write_text(
        f'#!/bin/sh\necho "$@" >> "{tmp_path}/calls"\n'
        'for a; do shift; [ "$a" = musa ] && a=c++; set -- "$@" "$a"; done\nexec c++ "$@"\n',
        encoding="utf-8",
    )
    compiler.chmod(0o755)
    run(CMAKE or "", "-S", output, "-B", build, "-G", "Unix Makefiles", f"-DCMAKE_CXX_COMPILER={compiler}")
    run(CMAKE or "", "--build", build)
    assert subprocess.run([build / "demo"]).returncode == 2 * 3 + 4 + 5
    calls = [line for line in (tmp_path / "calls").read_text(encoding="utf-8").splitlines() if " -c " in line]
    device = {line.rsplit("/", 1)[-1] for line in calls if "-x musa" in line}
    host = {line.rsplit("/", 1)[-1] for line in calls if "-x musa" not in line}
    assert device == {"main.mu", "scale.mu", "sum.mu"}
    assert "host.cpp" in host
    assert not {name for name in host if name.endswith(".mu")}


@pytest.mark.parametrize(
    "text",
    [
        "if(A)\n  find_package(CUDA)\nelseif(B)\n  find_package(CUDAToolkit 11 REQUIRED)\n"
        "else()\n  enable_language(CUDA)\nendif()",
        'set(CUDA_NVCC_FLAGS -Xptxas=-v)\nset(CMAKE_CUDA_FLAGS "-Xcompiler \\"-fPIC\\" ${X}" CACHE STRING "d")',
        'target_link_libraries(t PUBLIC CUDA::cudart "$<$<BOOL:x>:CUDA::cublas>" [[cudart]])',
        "set_source_files_properties(a.cu PROPERTIES COMPILE_FLAGS -Xptxas=-v LANGUAGE CUDA)",
        "project(x LANGUAGES CUDA # only\n)",
    ],
)
def test_output_is_cmake(tmp_path: Path, text: str) -> None:
    """CMake reads a whole file before it runs the first command, so that `return()` makes it a check of syntax."""
    write(tmp_path / "source", {"CMakeLists.txt": text, "a.cu": ""})
    port_tree(tmp_path / "source", tmp_path / "output", Options())
    ported = (tmp_path / "output" / "CMakeLists.txt").read_text(encoding="utf-8")
    assert ported != text
    write(tmp_path, {"script.cmake": "return()\n" + ported})
    run(CMAKE or "", "-P", tmp_path / "script.cmake")
