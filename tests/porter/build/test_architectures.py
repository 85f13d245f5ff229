"""--arch in every kind of build file: no other architecture comes out."""

from __future__ import annotations

import pytest

from musa_port import Options, port_sources

TWO = "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90"
FILES = {
    "Makefile": (f"ARCH = {TWO}", "ARCH = --offload-arch={mp}"),
    "a.mk": ('x:\n\tTORCH_CUDA_ARCH_LIST="8.0;9.0" y', 'x:\n\tTORCH_MUSA_ARCH_LIST="{n}" y'),
    "b.mk": ("export TORCH_CUDA_ARCH_LIST = 8.0;9.0", "export TORCH_MUSA_ARCH_LIST = {n}"),
    "a.sh": ('export TORCH_CUDA_ARCH_LIST="8.0;9.0"', 'export TORCH_MUSA_ARCH_LIST="{n}"'),
    "b.sh": (f"nvcc {TWO} x.cpp", "mcc --offload-arch={mp} x.cpp"),
    "c.sh": ("cmake -DCMAKE_CUDA_ARCHITECTURES='80;90' .", "cmake -DMUSA_ARCHITECTURES='{n}' ."),
    "d.sh": (f"FLAGS=({TWO})", "FLAGS=(--offload-arch={mp})"),
    ".env": ("TORCH_CUDA_ARCH_LIST=8.0;9.0", "TORCH_MUSA_ARCH_LIST={n}"),
    "Dockerfile": ('FROM a\nENV TORCH_CUDA_ARCH_LIST="8.0 9.0+PTX"', 'FROM a\nENV TORCH_MUSA_ARCH_LIST="{n}"'),
    "compose.yml": (
        'services:\n  a:\n    environment:\n      TORCH_CUDA_ARCH_LIST: "8.0;9.0"',
        'services:\n  a:\n    environment:\n      TORCH_MUSA_ARCH_LIST: "{n}"',
    ),
    "a.cmake": ("set(CMAKE_CUDA_ARCHITECTURES 80 90)", "set(MUSA_ARCHITECTURES {n})"),
    "b.cmake": (f'set(CUDA_NVCC_FLAGS "{TWO}")', 'set(MUSA_MCC_FLAGS "--offload-arch={mp}")'),
    "c.cmake": ('set(ENV{TORCH_CUDA_ARCH_LIST} "8.0;9.0")', 'set(ENV{TORCH_MUSA_ARCH_LIST} "{n}")'),
    "d.cmake": ("target_compile_options(t PRIVATE -arch=sm_90)", "target_compile_options(t PRIVATE --offload-arch={mp})"),
}


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("arch", ["mp_22", "mp_31"])
def test_arch(path: str, arch: str) -> None:
    before, after = FILES[path]
    ported = port_sources({path: f"{before}\n".encode()}, Options(arch=(arch,)))[path].data.decode()
    assert ported == after.replace("{mp}", arch).replace("{n}", arch[3:]) + "\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.sh", 'for a in 80 90; do F="$F -gencode arch=compute_$a,code=sm_$a"; done'),
        ("a.sh", 'F+=(-gencode=arch=compute_${a},code=sm_${a})'),
        ("a.cmake", 'foreach(a 80)\n  list(APPEND F "-gencode=arch=compute_${a},code=sm_${a}")\nendforeach()'),
        ("a.cmake", 'foreach(a 80)\n  string(APPEND F " -gencode arch=compute_${a},code=sm_${a}")\nendforeach()'),
        ("Makefile", "F += $(foreach a,80 90,-gencode arch=compute_$(a),code=sm_$(a))"),
        ("Makefile", 'x:\n\tfor a in 80; do F="$$F -gencode=arch=compute_$$a,code=sm_$$a"; done'),
    ],
)
def test_an_architecture_that_is_put_together_is_reported(path: str, text: str) -> None:
    result = port_sources({path: f"{text}\n".encode()})[path]
    assert result.data.decode() == f"{text}\n"
    assert [finding.severity.value for finding in result.findings if finding.rule == "B1"] == ["error"]
