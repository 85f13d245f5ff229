"""Ports and round trips under nvcc: the same device code and the same symbols as the original."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from musa_port.headers.aliases import cuda_to_musa
from musa_port.headers.areas import AREAS, Area

pytestmark = pytest.mark.nvcc

Run = Callable[..., str]
FLAGS = ("-arch=sm_80", "-x", "cu")
#: The names that nvcc gives to what is in an unnamed namespace hold the file's name and a hash.
UNNAMED = re.compile(r"\d+_GLOBAL__N__[0-9a-f]{8}_\d+_\w+?_[cm]u_[0-9a-f]{8}(_\d+)?")


class Compiler:
    """nvcc with the flags of these tests."""

    def __init__(self, run: Run, nvcc: str, folder: Path) -> None:
        self._run, self._nvcc, self._folder = run, nvcc, folder

    def device_code(self, source: Path, *options: str) -> list[str]:
        """The PTX without comments, names of files and hashes."""
        output = self._folder / "code.ptx"
        self._run(self._nvcc, *FLAGS, *options, "-ptx", source, "-o", output)
        lines = output.read_text(encoding="utf-8").splitlines()
        return [UNNAMED.sub("unnamed", line) for line in lines if line and not line.startswith("//")]

    def symbols(self, source: Path, *options: str) -> list[str]:
        """The symbols of the object file, defined and undefined."""
        output = self._folder / "code.o"
        self._run(self._nvcc, *FLAGS, *options, "-c", source, "-o", output)
        lines = self._run("nm", output).splitlines()
        return sorted(UNNAMED.sub("unnamed", " ".join(line.split()[-2:])) for line in lines)


@pytest.fixture
def compiler(run: Run, nvcc: str, tmp_path: Path) -> Compiler:
    return Compiler(run, nvcc, tmp_path)


@pytest.fixture(scope="module")
def ported(run: Run, musa_port: Path, example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, ported."""
    output = tmp_path_factory.mktemp("ported") / "out"
    run(musa_port, example, "-o", output)
    return output


@pytest.fixture(scope="module")
def reverse(include: Path) -> str:
    return f"-I{include / 'musa_compat' / 'musa_on_cuda'}"


@pytest.fixture(params=["statistics", "formats", "main", "gemm"])
def name(request: pytest.FixtureRequest, nvcc: str, tmp_path: Path) -> str:
    """A source of the example; the one that calls cuBLAS where that is installed."""
    name = str(request.param)
    probe = tmp_path / "probe.cu"
    probe.write_text("#include <cublas_v2.h>\n", encoding="utf-8")
    if name == "gemm" and subprocess.run([nvcc, "-E", probe], capture_output=True, check=False).returncode:
        pytest.skip("cublas_v2.h is not installed")
    return name


def test_port_is_the_same_program(compiler: Compiler, example: Path, ported: Path, reverse: str, name: str) -> None:
    original, port = example / "src" / f"{name}.cu", ported / "src" / f"{name}.mu"
    assert "cuda" not in re.sub(r"CUDA_CHECK|//.*", "", port.read_text(encoding="utf-8"))
    assert compiler.device_code(port, reverse) == compiler.device_code(original)
    assert compiler.symbols(port, reverse) == compiler.symbols(original)


#: Names that cannot go there and back by macros alone: nv_bfloat16 comes back as __nv_bfloat16, and cublasCreate is a
#: macro of the CUDA toolkit itself. This SDK declares them.
V2 = "".join(f"#undef mublas{name}\n#define mublas{name} cublas{name}_v2\n" for name in ("Create", "Destroy", "Sgemm"))
SDK = {
    "musa_bf16.h": "#include <cuda_bf16.h>\nusing __mt_bfloat16 = __nv_bfloat16;\n",
    "mublas.h": f"#include <musa_compat/musa_on_cuda/mublas.h>\n{V2}",
}


def test_unported_source_is_the_same_program_after_a_round_trip(
    compiler: Compiler, example: Path, include: Path, reverse: str, name: str, tmp_path: Path
) -> None:
    """CUDA names -> our headers for MUSA -> an SDK made of our headers for CUDA -> the toolkit."""
    for header, text in SDK.items():
        (tmp_path / header).write_text(text, encoding="utf-8")
    source = tmp_path / "src"
    shutil.copytree(example / "src", source)
    for file in source.iterdir():
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r"#include <(cu\w+\.h)>", r"#include <musa_compat/\1>", text), encoding="utf-8")
    options = (f"-I{tmp_path}", reverse, f"-I{include}")
    original = example / "src" / f"{name}.cu"
    assert compiler.device_code(source / f"{name}.cu", *options) == compiler.device_code(original)
    assert compiler.symbols(source / f"{name}.cu", *options) == compiler.symbols(original)


def test_round_trip_without_touching_the_source(compiler: Compiler, example: Path, include: Path, reverse: str) -> None:
    source = example / "src" / "statistics.cu"
    options = (reverse, f"-I{include}", "-include", "musa_compat/cuda_runtime.h")
    assert compiler.symbols(source, *options) == compiler.symbols(source)


DRIVER = """
#include <{0}cuda.h>
#include <cstdio>
int main() {{
    CUdevice device;
    CUcontext context = nullptr;
    char name[80];
    CUresult status = cuInit(0);
    if (status == CUDA_SUCCESS) status = cuDeviceGet(&device, 0);
    if (status == CUDA_SUCCESS) status = cuDeviceGetName(name, 80, device);
    int major = 0;
    cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    cuCtxGetCurrent(&context);
    const char* text = "";
    cuGetErrorString(status, &text);
    std::puts(text);
}}
"""


def test_driver_round_trip(compiler: Compiler, include: Path, reverse: str, tmp_path: Path) -> None:
    original, forward = tmp_path / "original.cu", tmp_path / "forward.cu"
    original.write_text(DRIVER.format(""), encoding="utf-8")
    forward.write_text(DRIVER.format("musa_compat/"), encoding="utf-8")
    symbols = compiler.symbols(forward, reverse, f"-I{include}")
    assert "U cuDeviceGetName" in symbols
    assert symbols == compiler.symbols(original)


@pytest.mark.parametrize(("arch", "value"), [("sm_75", 210), ("sm_80", 220), ("sm_89", 220), ("sm_90", 310)])
def test_architecture_value(compiler: Compiler, reverse: str, tmp_path: Path, arch: str, value: int) -> None:
    source = tmp_path / "arch.cu"
    kernel = "__global__ void k(int* p) {\n#ifdef __MUSA_ARCH__\n*p = __MUSA_ARCH__;\n#endif\n}\n"
    source.write_text(f"#include <musa_runtime.h>\n{kernel}", encoding="utf-8")
    code = compiler.device_code(source, reverse, f"-arch={arch}")
    assert re.findall(r"\b(\d{3});", "\n".join(code)) == [str(value)]


# ---- the tables against the toolkit -----------------------------------------------------------------------------


def words(files: Iterable[Path]) -> set[str]:
    return {word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8", errors="replace"))}


@pytest.fixture(scope="module")
def toolkit_words(cuda_include: Path) -> set[str]:
    return words(file for file in cuda_include.rglob("*.h*") if file.is_file() and "cccl" not in file.parts)


#: Names that MUSA took over and that CUDA 13 removed.
REMOVED = frozenset({"CUFFT_INCOMPLETE_PARAMETER_LIST", "CUFFT_LICENSE_ERROR", "CUFFT_PARSE_ERROR"})


@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.name)
def test_toolkit_has_the_names(area: Area, cuda_include: Path, toolkit_words: set[str]) -> None:
    """Proven names are real. A few were removed by one toolkit or added by another."""
    if not any(area.owns(file.name) for file in cuda_include.iterdir()):
        pytest.skip(f"this CUDA toolkit has no headers of {area.name}")
    proven = {row.cuda for row in area.rows() if row.confidence in ("high", "medium")}
    names = [alias.old for alias in cuda_to_musa(area) if alias.old in proven and not alias.tested]
    missing = [name for name in names if name not in toolkit_words | REMOVED]
    assert len(missing) <= max(1, len(names) // 50), missing


# ---- the torch extension ----------------------------------------------------------------------------------------


@pytest.fixture
def torch_options(nvcc: str, example: Path) -> list[str]:
    """Options to compile a torch extension."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if torch.version.cuda is None:
        pytest.skip("this PyTorch was built without CUDA")
    root = Path(torch.__file__).parent / "include"
    options = ["-std=c++20", f"-I{root}", f"-I{root / 'torch' / 'csrc' / 'api' / 'include'}"]
    source = example / "torch_extension" / "scale.cu"
    probe = subprocess.run([nvcc, *options, "-E", source], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"PyTorch's headers need more than this CUDA toolkit: {probe.stderr.splitlines()[0]}")
    return options


def test_ported_torch_extension_is_the_same_program(
    compiler: Compiler, example: Path, ported: Path, reverse: str, torch_options: list[str]
) -> None:
    original, port = example / "torch_extension" / "scale.cu", ported / "torch_extension" / "scale.mu"
    ours = compiler.symbols(port, reverse, *torch_options, "-DMUSA_COMPAT_PRIVATEUSE1_IS_CUDA")
    assert ours == compiler.symbols(original, *torch_options)
