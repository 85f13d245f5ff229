"""The headers under an ordinary C++ compiler, with small stand-ins for the SDKs' headers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., str]
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def stub_includes(folder: Path, headers: list[Path], namespaces: str) -> None:
    """Write each SDK header that `headers` include; it only opens the namespaces that the SDK has."""
    for header in headers:
        for path in re.findall(r"^#include <(.+)>", header.read_text(encoding="utf-8"), re.M):
            stub = folder / path
            stub.parent.mkdir(parents=True, exist_ok=True)
            stub.write_text(f"#pragma once\n#ifdef __cplusplus\n{namespaces}\n#endif\n", encoding="utf-8")


def sdk_headers(include: Path, part: str) -> list[Path]:
    """The headers of one direction, without the shared ones below them and without NVTX (see test_nvtx.py)."""
    root = include / "musa_compat" / part
    inner = {root / "cuda_on_musa", root / "musa_on_cuda", root / "names", root / "nvtx3"}
    files = [file for file in sorted(root.rglob("*")) if file.is_file() and inner.isdisjoint(file.parents)]
    assert len(files) > 70
    return [file for file in files if not file.name.startswith("nvToolsExt")]


def one_by_one(run: Run, cxx: str, folder: Path, headers: list[Path], *options: str) -> None:
    """Compile each header twice in a source of its own, then all in one."""
    sources = []
    for number, header in enumerate([*headers, None]):
        source = folder / f"source{number}.cpp"
        included = headers if header is None else [header, header]
        source.write_text("".join(f'#include "{path}"\n' for path in included), encoding="utf-8")
        sources.append(source)
    run(cxx, "-std=c++17", *WARNINGS, "-fsyntax-only", *options, *sources)


def test_each_cuda_header_compiles_on_musa(run: Run, cxx: str, include: Path, tmp_path: Path) -> None:
    headers = sdk_headers(include, "")
    sdk = tmp_path / "sdk"
    stub_includes(sdk, headers, "namespace musa { namespace std {} } namespace thrust { namespace musa {} }")
    one_by_one(run, cxx, tmp_path, headers, f"-I{sdk}")


def test_each_musa_header_compiles_on_cuda(run: Run, cxx: str, include: Path, tmp_path: Path) -> None:
    headers = sdk_headers(include, "musa_on_cuda")
    sdk = tmp_path / "sdk"
    stub_includes(sdk, headers, "namespace cuda { namespace std {} } namespace thrust { namespace cuda {} }")
    one_by_one(run, cxx, tmp_path, headers, f"-I{sdk}")


def test_headers_are_c(run: Run, cxx: str, include: Path, tmp_path: Path) -> None:
    headers = [include / "musa_compat" / name for name in ("cuda_runtime_api.h", "cuda.h", "nccl.h", "nvToolsExt.h")]
    sdk = tmp_path / "sdk"
    stub_includes(sdk, headers, "")
    source = tmp_path / "source.c"
    included = "".join(f'#include "{path}"\n' for path in headers)
    source.write_text(f"{included}int main(void) {{ return 0; }}\n", encoding="utf-8")
    run(cxx, "-x", "c", "-std=c99", "-pedantic", *WARNINGS, "-fsyntax-only", f"-I{sdk}", source)


# ---- what the preprocessor makes of them ------------------------------------------------------------------------


@pytest.fixture
def expand(run: Run, cxx: str, include: Path, tmp_path: Path) -> Callable[..., list[str]]:
    """Preprocess a text with one of our headers and an SDK whose headers are empty; gives the lines after it."""

    def preprocess(header: str, text: str, *options: str) -> list[str]:
        sdk = tmp_path / "sdk"
        stub_includes(sdk, [include / "musa_compat" / header], "")
        source = tmp_path / "source.cpp"
        source.write_text(f"#include <musa_compat/{header}>\n//END\n{text}\n", encoding="utf-8")
        output = run(cxx, "-E", "-P", "-C", *options, f"-I{include}", f"-I{sdk}", source)
        return [line for line in output.split("//END\n")[1].splitlines() if line.strip()]

    return preprocess


Expand = Callable[..., list[str]]


def test_names_are_replaced_and_others_are_not(expand: Expand) -> None:
    text = 'cudaMalloc(p); my_cudaMalloc(p); s.half; "cudaMalloc"; cuda::f; CUBLAS;'
    assert expand("cuda_runtime.h", text) == ['musaMalloc(p); my_cudaMalloc(p); s.half; "cudaMalloc"; cuda::f; CUBLAS;']


def test_a_header_brings_its_area_and_what_that_needs(expand: Expand) -> None:
    text = "cudaStream_t cuComplex nv_bfloat16 cublasHandle_t cufftHandle"
    assert expand("cublas_v2.h", text) == ["musaStream_t muComplex __mt_bfloat16 mublasHandle_t cufftHandle"]


def test_names_with_another_meaning_are_there_on_request(expand: Expand) -> None:
    assert expand("nvrtc.h", "nvrtcGetPTX") == ["nvrtcGetPTX"]
    assert expand("nvrtc.h", "nvrtcGetPTX", "-DMUSA_COMPAT_SEMANTIC_NAMES") == ["mtrtcGetFatBin"]


@pytest.mark.parametrize(("musa", "cuda"), [(210, "750"), (220, "860"), (310, "900"), (320, "900")])
def test_architecture_on_musa(expand: Expand, musa: int, cuda: str) -> None:
    assert expand("cuda_runtime.h", "__CUDA_ARCH__", f"-D__MUSA_ARCH__={musa}") == [cuda]


@pytest.mark.parametrize(
    ("cuda", "musa"), [(600, "210"), (750, "210"), (800, "220"), (890, "220"), (900, "310"), (1000, "310")]
)
def test_architecture_on_cuda(expand: Expand, cuda: int, musa: str) -> None:
    assert expand("musa_on_cuda/musa_runtime.h", "__MUSA_ARCH__", f"-D__CUDA_ARCH__={cuda}") == [musa]


def test_architecture_is_for_device_code_only(expand: Expand) -> None:
    assert expand("cuda_runtime.h", "__CUDA_ARCH__") == ["__CUDA_ARCH__"]
    assert expand("musa_on_cuda/musa_runtime.h", "__MUSA_ARCH__") == ["__MUSA_ARCH__"]


def test_what_the_compiler_defines_wins(expand: Expand) -> None:
    options = ("-D__MUSA_ARCH__=220", "-D__CUDA_ARCH__=777")
    assert expand("cuda_runtime.h", "__CUDA_ARCH__", *options) == ["777"]


def test_versions_are_undefined_unless_asked_for(expand: Expand) -> None:
    versions = "CUDA_VERSION CUDART_VERSION __CUDACC_VER_MAJOR__ CUBLAS_VERSION"
    text = f"{versions}\n#if CUDA_VERSION >= 12080\nnew\n#else\nold\n#endif"
    assert expand("cublas_v2.h", text) == [versions, "old"]
    asked = expand("cublas_v2.h", text, "-DMUSA_COMPAT_CUDA_VERSION=12080")
    assert asked == ["12080 12080 (12080 / 1000) CUBLAS_VERSION", "new"]


def test_musa_version_on_cuda(expand: Expand) -> None:
    text = "#if MUSA_VERSION >= 50100 && __MUSACC_VER_MAJOR__ == 5\nnew\n#else\nold\n#endif"
    assert expand("musa_on_cuda/musa.h", text) == ["old"]
    assert expand("musa_on_cuda/musa.h", text, "-DMUSA_COMPAT_MUSA_VERSION=50100") == ["new"]


def test_compiler_macros_follow_the_compiler(expand: Expand) -> None:
    text = "#ifdef __CUDACC__\ndevice\n#else\nhost\n#endif"
    assert expand("cuda_runtime.h", text) == ["host"]
    assert expand("cuda_runtime.h", text, "-D__MUSACC__") == ["device"]


def test_switches_reach_the_sdk(expand: Expand, tmp_path: Path) -> None:
    (tmp_path / "sdk").mkdir()
    text = "#ifdef __MUSA_NO_HALF_OPERATORS__\noff\n#else\non\n#endif"
    assert expand("cuda_fp16.h", text) == ["on"]
    assert expand("cuda_fp16.h", text, "-D__CUDA_NO_HALF_OPERATORS__") == ["off"]


def test_guard_of_an_sdk_header_is_known_under_both_names(expand: Expand) -> None:
    text = "#ifdef __CUDA_FP16_H__\nhere\n#else\nnot\n#endif"
    assert expand("cuda_fp16.h", text) == ["not"]
    assert expand("cuda_fp16.h", text, "-D__MUSA_FP16_H__") == ["here"]


# ---- programs ---------------------------------------------------------------------------------------------------

#: A runtime on host memory, in the spelling of either SDK.
RUNTIME = """
#pragma once
#include <cstdlib>
#include <cstring>
enum {0}Error_t {{ {0}Success, {0}ErrorInvalidValue }};
enum {0}MemcpyKind {{ {0}MemcpyHostToDevice = 1, {0}MemcpyDeviceToHost }};
inline {0}Error_t {0}Malloc(void** p, size_t n) {{ *p = std::malloc(n); return {0}Success; }}
inline {0}Error_t {0}Free(void* p) {{ std::free(p); return p ? {0}Success : {0}ErrorInvalidValue; }}
inline {0}Error_t {0}Memcpy(void* d, const void* s, size_t n, {0}MemcpyKind) {{
    std::memcpy(d, s, n);
    return {0}Success;
}}
namespace {0} {{ namespace std {{ template <class T> struct limits {{ static T max() {{ return T(99); }} }}; }} }}
"""
PROGRAM = """
#include <{0}_runtime.h>
#include <{0}/std/limits>
#include <cstdio>
int main() {{
    int value = {0}::std::limits<int>::max(), back = 0;
    void* p = nullptr;
    {0}Error_t e = {0}Malloc(&p, sizeof value);
    if (e == {0}Success) e = {0}Memcpy(p, &value, sizeof value, {0}MemcpyHostToDevice);
    if (e == {0}Success) e = {0}Memcpy(&back, p, sizeof back, {0}MemcpyDeviceToHost);
    std::printf("%d %d %d %d\\n", e, back, {0}Free(p), {0}Free(nullptr));
}}
"""


@pytest.mark.parametrize(("code", "sdk", "path"), [("cuda", "musa", "cuda_on_musa"), ("musa", "cuda", "musa_on_cuda")])
def test_program_of_one_sdk_runs_on_the_other(
    run: Run, cxx: str, include: Path, tmp_path: Path, code: str, sdk: str, path: str
) -> None:
    (tmp_path / f"{sdk}_runtime.h").write_text(RUNTIME.format(sdk), encoding="utf-8")
    limits = tmp_path / sdk / "std" / "limits"
    limits.parent.mkdir(parents=True)
    limits.write_text(f"#include <{sdk}_runtime.h>\n", encoding="utf-8")
    source = tmp_path / "program.cpp"
    source.write_text(PROGRAM.format(code), encoding="utf-8")
    paths = (f"-I{include}/musa_compat/{path}", f"-I{tmp_path}")
    run(cxx, "-std=c++17", *WARNINGS, *paths, source, "-o", tmp_path / "program")
    assert run(tmp_path / "program") == "0 99 0 1\n"


#: PyTorch's C++ names, as far as the extension needs them.
TORCH = {
    "c10/cuda/CUDAGuard.h": """
#pragma once
#include <ATen/ATen.h>
namespace c10 { namespace cuda {
struct CUDAGuard { explicit CUDAGuard(Device d) : device(d) {} Device device; };
struct CUDAStream { int id() const { return 7; } };
inline CUDAStream getCurrentCUDAStream() { return {}; }
} }
#define C10_CUDA_CHECK(x) ((x) + 1)
""",
    "ATen/ATen.h": """
#pragma once
namespace c10 { enum class DeviceType { CPU, CUDA, PrivateUse1 };
using Device = DeviceType; constexpr Device kCUDA = Device::CUDA, kPrivateUse1 = Device::PrivateUse1; }
namespace at { using c10::kCUDA; using c10::kPrivateUse1; using c10::DeviceType;
struct Tensor { bool is_cuda() const { return true; } bool is_privateuseone() const { return false; } }; }
""",
    "ATen/cuda/CUDAContext.h": """
#pragma once
#include <c10/cuda/CUDAGuard.h>
namespace at { namespace cuda { using c10::cuda::CUDAStream; using c10::cuda::getCurrentCUDAStream; } }
""",
    "torch/library.h": """
#pragma once
#define LIBRARY_IMPL(key) library_impl(#key)
#define TORCH_LIBRARY_IMPL(key) LIBRARY_IMPL(key)
inline const char* library_impl(const char* key) { return key; }
""",
}
EXTENSION = """
#include <torch_musa/csrc/aten/musa/MUSAContext.h>
#include <torch_musa/csrc/core/MUSAGuard.h>
#include <torch/library.h>
#include <cstdio>
int main() {
    const c10::musa::MUSAGuard guard(at::kPrivateUse1);
    const at::musa::MUSAStream stream = at::musa::getCurrentMUSAStream();
    std::printf("%d %d %d ", stream.id(), C10_MUSA_CHECK(1), guard.device == at::kCUDA);
    std::printf("%d %s\\n", at::Tensor().is_privateuseone(), TORCH_LIBRARY_IMPL(PrivateUse1));
}
"""


@pytest.mark.parametrize(
    ("options", "expected"), [((), "7 2 0 0 PrivateUse1\n"), (("-DMUSA_COMPAT_PRIVATEUSE1_IS_CUDA",), "7 2 1 1 CUDA\n")]
)
def test_ported_torch_extension_on_cuda(
    run: Run, cxx: str, include: Path, tmp_path: Path, options: tuple[str, ...], expected: str
) -> None:
    for header, text in TORCH.items():
        (tmp_path / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / header).write_text(text, encoding="utf-8")
    source = tmp_path / "extension.cpp"
    source.write_text(EXTENSION, encoding="utf-8")
    path = include / "musa_compat" / "musa_on_cuda"
    run(cxx, "-std=c++17", *WARNINGS, *options, f"-I{path}", f"-I{tmp_path}", source, "-o", tmp_path / "extension")
    assert run(tmp_path / "extension") == expected
