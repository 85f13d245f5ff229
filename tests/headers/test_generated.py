"""The generated headers as text: up to date, complete, and without names that do harm."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from musa_port.headers.__main__ import main, pending
from musa_port.headers.render import MARK

FORWARD = "musa_compat/names/cuda_to_musa"
REVERSE = "musa_compat/names/musa_to_cuda"
MAPPINGS = Path(__file__).resolve().parents[2] / "porter" / "musa_port" / "mappings"

#: Tables with proven names.
AREAS = "runtime driver complex cublas curand cufft cusparse cusolver nccl nvrtc cupti".split()
#: Rows of the tables that are no API names.
TOOLKITS = "cublas cublasLt curand cufft cusparse cusolver cupti CUBLAS CURAND CUFFT CUSPARSE CUSOLVER CUPTI".split()
VIRTUAL = "CU_DEVICE_ATTRIBUTE_VIRTUAL"


def defines(path: Path) -> dict[str, str]:
    """The names that a header defines, without those that somebody has to ask for."""
    text = re.sub(r"#ifdef MUSA_COMPAT_\w+\n.*?#endif\n", "", path.read_text(encoding="utf-8"), flags=re.S)
    pairs = re.findall(r"^#define (\w+) (\S.*)$", text, re.M)
    assert len(dict(pairs)) == len(pairs), f"{path.name} defines a name twice"
    return dict(pairs)


def table(name: str) -> list[dict[str, str]]:
    with (MAPPINGS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def all_defines(folder: Path) -> dict[str, str]:
    files = [file for file in folder.glob("*.h") if file.name not in ("compiler.h", "switches.h")]
    return {name: new for file in files for name, new in defines(file).items()}


@pytest.fixture(scope="module")
def forward(include: Path) -> dict[str, str]:
    return all_defines(include / FORWARD)


@pytest.fixture(scope="module")
def reverse(include: Path) -> dict[str, str]:
    return all_defines(include / REVERSE)


# ---- generation -------------------------------------------------------------------------------------------------


def test_committed_headers_are_up_to_date(include: Path) -> None:
    assert pending(include) == {}, "run `make headers`"


def test_output_does_not_depend_on_the_process(tmp_path: Path, include: Path) -> None:
    for seed in ("1", "2"):
        output = tmp_path / seed
        command = [sys.executable, "-m", "musa_port.headers", "--output", str(output)]
        subprocess.run(command, check=True, env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(MAPPINGS.parents[1])})
        for file in output.rglob("*.h"):
            assert file.read_bytes() == (include / file.relative_to(output)).read_bytes()


def test_check_finds_what_differs_and_writes_nothing(tmp_path: Path, include: Path) -> None:
    output = tmp_path / "include"
    shutil.copytree(include, output)
    assert CliRunner().invoke(main, ["--check", "--output", str(output)]).exit_code == 0

    edited, stale = output / "musa_compat" / "cuda.h", output / "musa_compat" / "gone.h"
    edited.write_text("edited", encoding="utf-8")
    stale.write_text(MARK, encoding="utf-8")
    result = CliRunner().invoke(main, ["--check", "--output", str(output)])
    assert result.exit_code == 1
    assert result.output.splitlines() == ["would change musa_compat/cuda.h", "would change musa_compat/gone.h"]
    assert edited.read_text(encoding="utf-8") == "edited"

    assert CliRunner().invoke(main, ["--output", str(output)]).exit_code == 0
    assert not stale.exists()
    assert pending(output) == {}


def test_generator_leaves_other_files_alone(tmp_path: Path) -> None:
    own = tmp_path / "musa_compat" / "own.h"
    own.parent.mkdir()
    own.write_text("/* mine */", encoding="utf-8")
    assert CliRunner().invoke(main, ["--output", str(tmp_path)]).exit_code == 0
    assert own.read_text(encoding="utf-8") == "/* mine */"


def test_wrong_directory_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, [])
    assert result.exit_code == 2
    assert "run this in the repository's root or pass --output DIR" in result.output


# ---- CUDA names on MUSA -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cuda", "musa"),
    [
        ("cudaMalloc", "musaMalloc"),
        ("cudaStream_t", "musaStream_t"),
        ("cudaErrorMemoryAllocation", "musaErrorMemoryAllocation"),
        ("cuLaunchKernel", "muLaunchKernel"),
        ("CUdeviceptr", "MUdeviceptr"),
        ("CUDA_SUCCESS", "MUSA_SUCCESS"),
        ("make_cuComplex", "make_muComplex"),
        ("nv_bfloat162", "__mt_bfloat162"),
        ("__nv_fp8_e4m3", "__mt_fp8_e4m3"),
        ("cublasSgemm", "mublasSgemm"),
        ("CUBLAS_STATUS_NOT_SUPPORTED", "MUBLAS_STATUS_NOT_IMPLEMENTED"),
        ("curandStatePhilox4_32_10_t", "murandStatePhilox4_32_10_t"),
        ("ncclCommCuDevice", "mcclCommMuDevice"),
        ("nvrtcCompileProgram", "mtrtcCompileProgram"),
        ("CUPTI_SUCCESS", "MUPTI_SUCCESS"),
    ],
)
def test_name(forward: dict[str, str], cuda: str, musa: str) -> None:
    assert forward[cuda] == musa


@pytest.mark.parametrize(
    "name",
    [
        *("cuda", "cu", "CUDA", "nccl", *TOOLKITS),  # bare words
        *("half", "__half", "float2", "dim3", "warpSize", "__shfl_down_sync"),  # the same on both sides
        *("CUBLAS_VERSION", "CUFFT_VERSION", "CUSOLVER_VER_MAJOR", "__NVCC__"),  # other scales, other meanings
        *("cuTensorMapEncodeTiled", "nvrtcGetPTX", "cudaGridDependencySynchronize"),  # only on request, or not at all
        *("cusolverDnCreateSyevjInfo", "ncclAlltoAll", "cuTensorMapReplaceAddress"),  # no counterpart
    ],
)
def test_name_is_left_alone(forward: dict[str, str], name: str) -> None:
    assert name not in forward


@pytest.mark.parametrize("area", AREAS)
def test_every_proven_name_is_there(area: str, forward: dict[str, str]) -> None:
    version = re.compile(r"CU(DART|BLAS|RAND|FFT|SPARSE|SOLVER|PTI)_(API_)?VER(SION|_)")
    proven = {
        row["cuda_name"]: row["musa_name"]
        for row in table(area)
        if row["confidence"] in ("high", "medium") and row["unsupported"] in ("", "partial", "stub")
    }
    expected = {c: m for c, m in proven.items() if m and c not in TOOLKITS and not version.match(c)}
    assert expected, f"{area}.csv holds no proven name"
    assert {cuda: forward.get(cuda) for cuda in expected} == expected


def test_names_cannot_meet_ordinary_code(forward: dict[str, str]) -> None:
    toolkit = re.compile(r"_*(make_)?(PFN_)?(cu|CU|nccl|NCCL|nv|NV|syevjInfo)")
    assert [name for name in forward if not toolkit.match(name)] == []
    assert [name for name in forward if len(name) < 5] == []


def test_every_proven_header_is_there(include: Path) -> None:
    left_out = {"cudnn.h", "cudnn_v8.h", "cuda_bf16.hpp"}
    for row in table("headers"):
        proven = row["confidence"] in ("high", "medium") and row["kind"] == "header"
        if proven and not row["cuda_name"].startswith("thrust/") and row["cuda_name"] not in left_out:
            path = include / "musa_compat" / row["cuda_name"]
            assert f"#include <{row['musa_name']}>" in path.read_text(encoding="utf-8")
            on_path = include / "musa_compat" / "cuda_on_musa" / row["cuda_name"]
            assert on_path.is_file() == (row["cuda_name"] != row["musa_name"])


def test_every_nvtx_name_is_there(include: Path) -> None:
    folder = include / "musa_compat" / "nvtx3"
    words = {word for file in folder.iterdir() for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}
    assert {row["cuda_name"].split("::")[-1] for row in table("nvtx")} <= words


# ---- MUSA names on CUDA -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("musa", "cuda"),
    [
        ("musaMalloc", "cudaMalloc"),
        ("muLaunchKernel", "cuLaunchKernel"),
        ("mcclAllReduce", "ncclAllReduce"),
        # several CUDA names have the MUSA name
        ("__mt_bfloat16", "__nv_bfloat16"),
        ("MUBLAS_TENSOR_OP_MATH", "CUBLAS_TENSOR_OP_MATH"),
        ("musaLaunchAttributeIgnore", "cudaLaunchAttributeIgnore"),
        (f"MU{VIRTUAL[2:]}_ADDRESS_MANAGEMENT_SUPPORTED", f"{VIRTUAL}_ADDRESS_MANAGEMENT_SUPPORTED"),
        # PyTorch
        ("MUSAGuard", "CUDAGuard"),
        ("getCurrentMUSAStream", "getCurrentCUDAStream"),
        ("C10_MUSA_KERNEL_LAUNCH_CHECK", "C10_CUDA_KERNEL_LAUNCH_CHECK"),
        ("C10_MUSA_CHECK", "C10_CUDA_CHECK"),
    ],
)
def test_inverse_name(reverse: dict[str, str], musa: str, cuda: str) -> None:
    assert reverse[musa] == cuda


@pytest.mark.parametrize(
    "name", ["__half", "atomicAdd", "musa", "USE_MUSA", "MUSA_VERSION", "MUBLAS_VERSION", "PrivateUse1"]
)
def test_inverse_name_is_left_alone(reverse: dict[str, str], name: str) -> None:
    assert name not in reverse


def test_each_way_and_back_is_the_same_name(forward: dict[str, str], reverse: dict[str, str]) -> None:
    apart = {cuda: reverse.get(musa) for cuda, musa in forward.items() if reverse.get(musa) != cuda}
    assert apart == {
        "CUBLAS_TF32_TENSOR_OP_MATH": "CUBLAS_TENSOR_OP_MATH",
        f"{VIRTUAL}_MEMORY_MANAGEMENT_SUPPORTED": f"{VIRTUAL}_ADDRESS_MANAGEMENT_SUPPORTED",
        "__nv_half": None,  # __half is a CUDA name too
        "nv_half": None,
        "nv_bfloat16": "__nv_bfloat16",
        "nv_bfloat162": "__nv_bfloat162",
    }


def test_headers_of_pytorch_have_both_spellings(include: Path) -> None:
    for path in ("torch_musa/csrc/aten/musa/MUSAContext.h", "ATen/musa/MUSAContext.h"):
        text = (include / "musa_compat" / "musa_on_cuda" / path).read_text(encoding="utf-8")
        assert "#include <ATen/cuda/CUDAContext.h>" in text
