"""The NVTX headers do nothing, as NVTX itself does when no tool is attached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., str]

PROGRAM = """
#include <cstdio>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>

struct my_domain { static constexpr char const* name{"mine"}; };
struct my_message { static constexpr char const* message{"text"}; };
int twice(int n) { NVTX3_FUNC_RANGE(); return 2 * n; }
int thrice(int n) { NVTX3_FUNC_RANGE_IN(my_domain); return 3 * n; }

int main() {
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = "event";
    event.colorType = NVTX_COLOR_ARGB;
    nvtxDomainHandle_t domain = nvtxDomainCreateA("domain");
    nvtxNameOsThreadA(1, "thread");
    nvtxMark("mark");
    nvtxMarkEx(&event);
    int calls = 0;
    std::printf("%d ", nvtxRangePush((++calls, "range")));
    std::printf("%d ", nvtxRangePop());
    nvtxRangeId_t range = nvtxRangeStartA("range");
    std::printf("%d ", static_cast<int>(range));
    nvtxRangeEnd(range);
    std::printf("%d ", nvtxDomainRangePushEx(domain, &event));
    std::printf("%d ", nvtxDomainRangePop(domain));
    nvtxDomainDestroy(domain);
    nvtx3::scoped_range one{"one"};
    nvtx3::scoped_range_in<my_domain> two{nvtx3::event_attributes{"two", nvtx3::rgb{1, 2, 3}, nvtx3::payload{3}}};
    nvtx3::mark("mark");
    nvtx3::mark_in<my_domain>(nvtx3::registered_string_in<my_domain>::get<my_message>(), nvtx3::category{1});
    auto handle = nvtx3::start_range("range");
    nvtx3::end_range(handle);
    std::printf("%d %d %d\\n", calls, twice(1), thrice(1));
}
"""
EXPECTED = "-2 -2 0 -2 -2 1 2 3\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "program.cpp"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


@pytest.mark.parametrize("standard", ["c++11", "c++17", "c++20"])
def test_program(run: Run, cxx: str, include: Path, source: Path, standard: str) -> None:
    path = include / "musa_compat" / "cuda_on_musa"
    program = source.with_suffix("")
    run(cxx, f"-std={standard}", "-Wall", "-Wextra", "-Werror", f"-I{path}", source, "-o", program)
    assert run(program) == EXPECTED


@pytest.mark.nvcc
def test_nvidias_headers_give_the_same(run: Run, cxx: str, cuda_include: Path, source: Path) -> None:
    if not (cuda_include / "nvtx3" / "nvtx3.hpp").is_file():
        pytest.skip("this CUDA toolkit has no nvtx3.hpp")
    program = source.with_suffix("")
    run(cxx, "-std=c++17", f"-I{cuda_include}", source, "-o", program, "-ldl")
    assert run(program) == EXPECTED


@pytest.mark.parametrize(
    ("header", "sdk", "types", "code"),
    [
        ("CudaRt", "musa_runtime_api", "musaStream_t musaEvent_t", "cudaStream_t s = 0; nvtxNameCudaStreamA(s, 0);"),
        ("Cuda", "musa", "MUdevice MUcontext MUstream MUevent", "CUdevice d = 0; nvtxNameCuDeviceA(d, 0);"),
    ],
)
def test_names_for_objects_take_musas_types(
    run: Run, cxx: str, include: Path, tmp_path: Path, header: str, sdk: str, types: str, code: str
) -> None:
    (tmp_path / f"{sdk}.h").write_text("".join(f"typedef void* {name};\n" for name in types.split()), encoding="utf-8")
    source = tmp_path / "program.cpp"
    source.write_text(f"#include <nvToolsExt{header}.h>\nint main() {{ {code} }}\n", encoding="utf-8")
    path = include / "musa_compat" / "cuda_on_musa"
    run(cxx, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{path}", f"-I{tmp_path}", source)
