"""Declarations bind where they can be seen; guards are rewritten only where the whole comparison is understood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from musa_port import Options, port_sources

Check = Callable[..., Any]
RUNTIME = "#include <cuda_runtime.h>\n"
PORTED_RUNTIME = "#include <musa_runtime.h>\n"


def ported(text: str, **options: Any) -> str:
    return port_sources({"a.cu": text.encode()}, Options(**options))["a.cu"].data.decode()


# ---- scopes -----------------------------------------------------------------------------------------------------


def test_function_in_a_namespace_that_the_file_does_not_open(check: Check) -> None:
    util = "namespace w { inline int cudaMemset(void*, int, unsigned long) { return 0; } }\n"
    use = "void f(void* p) { ::cudaMemset(p, 0, 1); cudaMemset(p, 0, 1); w::cudaMemset(p, 0, 1); }\n"
    expected = "void f(void* p) { ::musaMemset(p, 0, 1); musaMemset(p, 0, 1); w::cudaMemset(p, 0, 1); }\n"
    check({"util.h": util, "k.cu": use}, {"k.cu": expected})


@pytest.mark.parametrize("opening", ["using namespace w;", "using w::cudaMemset;", "namespace w { int x; }"])
def test_function_in_a_namespace_that_the_file_opens(check: Check, opening: str) -> None:
    util = "namespace w { inline int cudaMemset(void*, int, unsigned long) { return 0; } }\n"
    use = f"{opening}\nvoid f(void* p) {{ cudaMemset(p, 0, 1); }}\n"
    check({"util.h": util, "k.cu": use}, None, ("C17 info k.cu:2",))


def test_global_qualifier_means_the_api(check: Check) -> None:
    check(
        "void t() { auto cudaFree = [](int) {}; cudaFree(1); ::cudaFree(p); }\n",
        "void t() { auto cudaFree = [](int) {}; cudaFree(1); ::musaFree(p); }\n",
    )


@pytest.mark.parametrize(
    "local", ["void t() { auto cudaFree = [](int) {}; cudaFree(1); }", "void t(int cudaFree) { use(cudaFree); }"]
)
def test_local_names_end_with_their_function(check: Check, local: str) -> None:
    check(f"{local}\nvoid k(void* p) {{ cudaFree(p); }}\n", f"{local}\nvoid k(void* p) {{ musaFree(p); }}\n")


def test_letters_outside_ascii_belong_to_names(check: Check) -> None:
    text = "int cudaFree次数 = 0; int größecudaFree = 1;\nvoid k(void* p) { cudaFree(p); }\n"
    check(text, text.replace("cudaFree(p)", "musaFree(p)"))


def test_declaration_in_a_namespace_keeps_its_name_like_its_uses(check: Check) -> None:
    mock = "namespace mock { cudaError_t cudaMalloc(void** p, unsigned long n); }\n"
    check(
        {"mock.h": mock, "b.cu": "void f(void* p) { mock::cudaMalloc(&p, 1); }\n"},
        {"mock.h": mock.replace("cudaError_t", "musaError_t")},
    )


# ---- version guards ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "condition",
    [
        "(CUDA_VERSION) >= 12000",
        "CUDA_VERSION >= 12 * 1000",
        "-CUDA_VERSION < 0",
        "CUDA_VERSION / 1000 >= 12",
        "(CUDA_VERSION + 0) >= 11000",
        "12 * 1000 <= CUDA_VERSION",
    ],
)
@pytest.mark.parametrize("assumed", [None, 12080])
def test_version_in_an_expression_is_left(check: Check, condition: str, assumed: int | None) -> None:
    """Half of an expression must not be taken for the whole."""
    check(f"#if {condition}\n#endif\n", None, ("C21 error 1",), Options(cuda_version=assumed))


def test_version_as_the_value_of_another_macro_is_left(check: Check) -> None:
    check("#define V CUDA_VERSION\n#if V >= 12000\n#endif\n", None, ("C21 error 1",))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "defined(CUDA_VERSION) && CUDA_VERSION >= 11080",
            "1 /* defined(CUDA_VERSION) */ && 1 /* CUDA_VERSION >= 11080 */",
        ),
        (
            "!defined(CUDA_VERSION) || CUDA_VERSION < 11080",
            "!1 /* defined(CUDA_VERSION) */ || 0 /* CUDA_VERSION < 11080 */",
        ),
        (
            "defined CUDA_VERSION && 12090 <= CUDA_VERSION",
            "1 /* defined CUDA_VERSION */ && 0 /* 12090 <= CUDA_VERSION */",
        ),
        ("CUDA_VERSION >= 12080u", "1 /* CUDA_VERSION >= 12080u */"),
    ],
)
def test_assumed_version_decides_the_definition_too(before: str, after: str) -> None:
    assert ported(f"#if {before}\n#endif\n", cuda_version=12080) == f"#if {after}\n#endif\n"


def test_reverse_brings_the_version_test_back() -> None:
    text = b"#if defined(USE_X) || CUDA_VERSION >= 12080\n#endif\n"
    there = port_sources({"a.h": text})["a.h"].data
    assert there != text
    assert port_sources({"a.h": there}, Options(reverse=True))["a.h"].data == text


# ---- architecture guards ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["8 * 100", "(700 + 100)", "800 - 1"])
def test_arch_compared_with_an_expression_keeps_it(check: Check, number: str) -> None:
    check(f"#if __CUDA_ARCH__ >= {number}\n#endif\n", f"#if __MUSA_ARCH__ >= {number}\n#endif\n", ("C20 warning 1",))


@pytest.mark.parametrize(("number", "mapped"), [("0x320", "220"), ("800u", "220"), ("900L", "310"), ("0", "0")])
def test_arch_compared_with_other_literals(number: str, mapped: str) -> None:
    assert ported(f"#if __CUDA_ARCH__ >= {number}\n#endif\n").startswith(f"#if __MUSA_ARCH__ >= {mapped}")


# ---- warp size, host assembler, kernel text ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["#define WARP_SIZE 32", "#define FULL_MASK 0xffffffffu", "constexpr int kWarpSize = 32;"]
)
def test_warp_constant_in_a_header_of_its_own(check: Check, line: str) -> None:
    check({"a.h": f"#pragma once\n{line}\n"}, None, ("C32 warning 2",))


def test_host_assembler_is_no_ptx(check: Check) -> None:
    text = '__global__ void k() {}\nvoid host() { __asm__("pause"); asm volatile("cpuid" :::); }\n'
    for ptx in ("report", "stub"):
        check(text, None, (), Options(ptx=ptx))


def test_kernel_text_in_an_ordinary_string() -> None:
    text = 'nvrtcCreateProgram(&p, "#include <cuda_fp16.h>\\n__global__ void k(){ __nv_bfloat16 x; }", 0, 0, 0, 0);\n'
    expected = text.replace("nvrtc", "mtrtc").replace("cuda_fp16", "musa_fp16").replace("__nv_", "__mt_")
    assert ported(text) == expected


def test_names_after_an_escape(check: Check) -> None:
    assert ported('f("x\\ncudaMalloc\\tcudaFree");\n', strings=True) == 'f("x\\nmusaMalloc\\tmusaFree");\n'


def test_pragmas_of_the_compiler_are_left() -> None:
    text = RUNTIME + "#pragma nv_diag_suppress 177\nint x;\n"
    assert ported(text) == text.replace("cuda_runtime", "musa_runtime")
