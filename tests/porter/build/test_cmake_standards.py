"""The standard of C++ beside that of CUDA: what the project says of C++ counts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from musa_port.api import port_tree

if TYPE_CHECKING:
    from tests.porter.conftest import Check

GUARDED = "if(NOT DEFINED CMAKE_CXX_STANDARD)\nset(CMAKE_CXX_STANDARD 17)\nendif()\n"


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        (
            "set(CMAKE_CXX_STANDARD 20)\nset(CMAKE_CUDA_STANDARD 17)\n",
            "set(CMAKE_CXX_STANDARD 20)\n" + GUARDED,
            ("B10 warning 2", "B16 info 2"),
        ),
        (
            "set(CMAKE_CUDA_STANDARD 17)\nset(CMAKE_CXX_STANDARD 20)\n",
            GUARDED + "set(CMAKE_CXX_STANDARD 20)\n",
            ("B10 warning 1", "B16 info 1"),
        ),
        (
            "set(CMAKE_CXX_STANDARD 17)\nset(CMAKE_CUDA_STANDARD 17)\n# set(CMAKE_CXX_STANDARD 20)\n",
            "set(CMAKE_CXX_STANDARD 17)\nset(CMAKE_CXX_STANDARD 17)\n# set(CMAKE_CXX_STANDARD 20)\n",
            ("B16 info 2",),
        ),
        (
            "set(CMAKE_CUDA_STANDARD_REQUIRED ON)\nset(CMAKE_CUDA_EXTENSIONS OFF)\n",
            "set(CMAKE_CXX_STANDARD_REQUIRED ON)\nset(CMAKE_CXX_EXTENSIONS OFF)\n",
            (),
        ),
        (
            "set_target_properties(k PROPERTIES CXX_STANDARD 14)\nset_property(TARGET k PROPERTY CUDA_STANDARD 17)\nx()\n",
            "set_target_properties(k PROPERTIES CXX_STANDARD 14)\nx()\n",
            ("B10 warning 2",),
        ),
        (
            "set_property(TARGET j PROPERTY CXX_STANDARD 14)\nset_property(TARGET k PROPERTY CUDA_STANDARD 17)\n",
            "set_property(TARGET j PROPERTY CXX_STANDARD 14)\nset_property(TARGET k PROPERTY CXX_STANDARD 17)\n",
            ("B10 info 2",),
        ),
        (
            "set(CMAKE_CXX_STANDARD 20)\n"
            "set_target_properties(k PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON FOLDER x)\n",
            "set(CMAKE_CXX_STANDARD 20)\nset_target_properties(k PROPERTIES CXX_STANDARD_REQUIRED ON FOLDER x)\n",
            ("B10 info 2", "B10 warning 2"),
        ),
        (
            "set(CMAKE_CXX_STANDARD 20)\nset_target_properties(k PROPERTIES\n  CUDA_STANDARD 17)\nx()\n",
            "set(CMAKE_CXX_STANDARD 20)\nx()\n",
            ("B10 warning 3",),
        ),
    ],
)
def test_cxx_counts(check: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    check({"CMakeLists.txt": before}, {"CMakeLists.txt": after}, findings)


def test_the_standard_of_another_file_counts(check: Check) -> None:
    check(
        {"CMakeLists.txt": "set(CMAKE_CXX_STANDARD 20)\n", "sub/CMakeLists.txt": "set(CMAKE_CUDA_STANDARD 17)\n"},
        {"sub/CMakeLists.txt": GUARDED},
        ("B10 warning sub/CMakeLists.txt:1", "B16 info sub/CMakeLists.txt:1"),
    )


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
@pytest.mark.parametrize("cxx", ["20", "14", ""])
def test_cmake_sees_the_standard_of_cxx(tmp_path: Path, cxx: str) -> None:
    given = f"set(CMAKE_CXX_STANDARD {cxx})\n" if cxx else ""
    text = f"{given}set(CMAKE_CUDA_STANDARD 17)\nmessage(STATUS \"standard=${{CMAKE_CXX_STANDARD}}\")\n"
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.cmake").write_text(text)
    port_tree(tmp_path / "in", tmp_path / "out")
    command = ["cmake", "-P", str(tmp_path / "out" / "x.cmake")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.strip().endswith(f"standard={cxx or '17'}")
