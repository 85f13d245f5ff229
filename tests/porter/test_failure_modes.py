"""What goes wrong when CUDA sources are ported as text, and the right result for each case.

Fifty failure modes, numbered. A case gives the sources, what they become and every finding, each as
`RULE severity line` (with the file in front of the line when there are several). What is not named must not change.
`check` also compares the record of edits with the bytes, and ports each output a second time (mode 50).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from musa_port import Finding, Options, Report, port_sources, port_tree

if TYPE_CHECKING:
    from tests.porter.conftest import Check, Sources


def case(name: str, before: Sources, after: Sources | None = None, *findings: str, **options: Any) -> Any:
    """One row; without `after`, nothing may change."""
    return pytest.param(before, after, findings, Options(**options), id=name)


ADDRESS = "// see https://docs.example.com/cuda/cudaMalloc.html\n"
LICENSE = """\
/*
 * Copyright (c) 2024, the authors of the cudaMalloc wrapper. Needs the CUDA toolkit (cuda_runtime.h, libcudart.so).
 */
"""
FIELD = "struct S { int cudaMalloc; };\n"
FIELD_USES = "int f(S s, S* q) { s.cudaMalloc = 1; return q->cudaMalloc + q[0].cudaMalloc; }\n"
NAMESPACE = "namespace acme { namespace cuda {\nvoid f(int);\n} }\n"
BRANCHES = "#ifdef USE_MUSA\nmusaStream_t s;\n#else\ncudaStream_t s;\n#endif\ncudaEvent_t e;\n"
KERNEL = 'R"(extern "C" __global__ void k(__nv_bfloat16* p) { p[0] = p[1]; })"'
REDUCE = "template <typename T> struct Reduce { template <int N> T Sum(T x); T s; };\n"

NAMES_IN_TEXT = [
    case("01-address-in-comment", ADDRESS),
    case("01-license", LICENSE),
    case(
        "01-comment-behind-code",
        "cudaFree(p);  // cudaFree, see cuda/cudaFree.html\n",
        "musaFree(p);  // cudaFree, see cuda/cudaFree.html\n",
    ),
    case("01-line-comment-continued", "// a line \\\ncudaMalloc(&p, 4);\nint x;\n"),
    case("02-block-comment", "/* cudaFree is called later */\n"),
    case(
        "02-block-comment-of-lines",
        "/* cudaFree\n   cudaMalloc */ cudaFree(p);\n",
        "/* cudaFree\n   cudaMalloc */ musaFree(p);\n",
    ),
    case("02-comment-in-an-expression", "f(/* cudaMalloc */ cudaSuccess);\n", "f(/* cudaMalloc */ musaSuccess);\n"),
    case("02-comments-option", "/* cudaFree is called later */\n", "/* musaFree is called later */\n", comments=True),
    case("03-string", 'const char* m = "call cudaMalloc(p) first";\n', None, "C40 info 1"),
    case(
        "03-raw-string",
        'const char* m = R"x(cudaMalloc "y)" )x"; cudaFree(p);\n',
        'const char* m = R"x(cudaMalloc "y)" )x"; musaFree(p);\n',
        "C40 info 1",
    ),
    case("03-wide-and-utf8", 'auto a = L"cudaFree"; auto b = u8"cudaMalloc";\n', None, "C40 info 1", "C40 info 1"),
    case(
        "03-string-with-quote",
        'f("\\"cudaFree\\" /*", cudaSuccess);\n',
        'f("\\"cudaFree\\" /*", musaSuccess);\n',
        "C40 info 1",
    ),
    case(
        "03-character", "char c = '\"'; cudaFree(p); char d = '\"';\n", "char c = '\"'; musaFree(p); char d = '\"';\n"
    ),
    case(
        "03-strings-option",
        'const char* m = "call cudaMalloc(p) first";\n',
        'const char* m = "call musaMalloc(p) first";\n',
        strings=True,
    ),
    case(
        "04-format-in-macro",
        '#define LOG(e) log("cudaError %s", cudaGetErrorString(e))\n',
        '#define LOG(e) log("cudaError %s", musaGetErrorString(e))\n',
        "C40 info 1",
    ),
    case(
        "04-format-in-call",
        'log("cudaError %s", cudaGetErrorString(cudaGetLastError()));\n',
        'log("cudaError %s", musaGetErrorString(musaGetLastError()));\n',
        "C40 info 1",
    ),
]

NAMES_OF_THE_PROJECT = [
    case("05-longer-name", "int cudaMalloc_count;\nvoid f() { cudaMalloc_count++; }\n"),
    case("06-prefix", "void f() { my_cudaFoo(); }\n", None, "C7 info 1"),
    case("06-prefix-declared", "void my_cudaFoo();\nbool use_cuda = true;\nvoid f() { if (use_cuda) my_cudaFoo(); }\n"),
    case("07-word", "int barracuda = 1;\nstruct Acute {};\n"),
    case("07-word-cute", "void Executes(int prosecuted);\nvoid g() { Executes(1); }\n"),
    case("08-field", FIELD + FIELD_USES),
    case("08-field-of-another-file", {"s.h": FIELD, "a.cu": '#include "s.h"\n' + FIELD_USES}),
    case(
        "08-method",
        {
            "pool.h": "class Pool { void cudaFree(void* p); };\n",
            "a.cu": "void f(Pool& pool, void* p) { pool.cudaFree(p); }\n",
        },
    ),
    case("08-method-definition", "class Pool { void cudaFree(void* p); };\nvoid Pool::cudaFree(void* p) {}\n"),
    case("09-namespace", NAMESPACE + "void g() { acme::cuda::f(1); }\n"),
    case("09-namespace-of-another-file", {"f.h": NAMESPACE, "a.cu": "void g() { acme::cuda::f(1); }\n"}),
    case("09-nested-namespace", "namespace acme::cuda {\nvoid f(int);\n}\nusing acme::cuda::f;\n"),
    case(
        "09-api-inside",
        "namespace acme::cuda {\ncudaError_t f(int);\n}\n",
        "namespace acme::cuda {\nmusaError_t f(int);\n}\n",
    ),
    case(
        "10-toolkit-namespace",
        "int m = cuda::std::numeric_limits<int>::max();\n",
        "int m = musa::std::numeric_limits<int>::max();\n",
    ),
    case(
        "10-toolkit-namespace-global",
        "#include <cuda/std/limits>\nint m = ::cuda::std::numeric_limits<int>::max();\n",
        "#include <musa/std/limits>\nint m = ::musa::std::numeric_limits<int>::max();\n",
    ),
    case(
        "10-toolkit-namespace-beside-a-project-namespace",
        {"f.h": NAMESPACE, "a.cu": "int m = cuda::std::numeric_limits<int>::max();\nvoid g() { acme::cuda::f(m); }\n"},
        {"a.cu": "int m = musa::std::numeric_limits<int>::max();\nvoid g() { acme::cuda::f(m); }\n"},
    ),
    case("11-using-without-headers", "using namespace cuda;\n", None, "C15 info 1"),
    case(
        "11-using-project-namespace",
        {
            "f.h": "#include <cuda/std/limits>\nnamespace cuda { void f(int); }\n",
            "a.cu": "#include <cuda/std/limits>\nusing namespace cuda;\n",
        },
        {
            "f.h": "#include <musa/std/limits>\nnamespace cuda { void f(int); }\n",
            "a.cu": "#include <musa/std/limits>\nusing namespace cuda;\n",
        },
        "C15 info a.cu:2",
    ),
    case(
        "11-using-toolkit-namespace",
        "#include <cuda/std/limits>\nusing namespace cuda;\n",
        "#include <musa/std/limits>\nusing namespace musa;\n",
        "C15 warning 2",
    ),
    case("42-project-class", "namespace acme { class CUDAGuard { CUDAGuard(); }; }\nacme::CUDAGuard g;\n"),
    case("42-other-case", "void f() { CudaMalloc(); }\n", None, "C7 info 1"),
    case("42-other-case-declared", "struct CudaMalloc {};\nCudaMalloc m;\n"),
    case(
        "42-exact-table-name",
        "#include <c10/cuda/CUDAGuard.h>\nc10::cuda::CUDAGuard g(0);\n",
        "#include <torch_musa/csrc/core/MUSAGuard.h>\nc10::musa::MUSAGuard g(0);\n",
    ),
    case("47-extern-c", 'extern "C" void my_cuda_init();\nvoid f() { my_cuda_init(); }\n'),
    case(
        "47-extern-c-of-another-file",
        {"init.c": "void my_cuda_init(void) {}\n", "a.cu": 'extern "C" {\nvoid my_cuda_init();\n}\n'},
    ),
    case("47-symbol-looked-up", 'extern "C" void my_cuda_init();\nvoid f(void* h) { dlsym(h, "my_cuda_init"); }\n'),
    case(
        "48-binding",
        'int fwd_cuda(int x);\nPYBIND11_MODULE(NAME, m) { m.def("fwd_cuda", &fwd_cuda, "forward (CUDA)"); }\n',
    ),
    case(
        "48-operator",
        'int fwd_cuda(int x);\nTORCH_LIBRARY(ns, m) { m.def("fwd_cuda(int x) -> int"); m.impl("fwd_cuda", &fwd_cuda); }'
        "\n",
    ),
]

MACROS = [
    case(
        "12-paste-known",
        {
            "call.h": "#define CALL(f) cuda##f\n",
            "a.cu": "void f(void* p) { CALL(Free)(p); CALL(DeviceSynchronize)(); }\n",
        },
        {"call.h": "#define CALL(f) musa##f\n"},
    ),
    case(
        "12-paste-unknown",
        {"call.h": "#define CALL(f) cuda##f\n", "a.cu": "void f(void* p) { CALL(Free)(p); CALL(_mine)(); }\n"},
        None,
        "C51 warning call.h:1",
    ),
    case("12-paste-unused", "#define CALL(f) cuda##f\n", None, "C51 warning 1"),
    case(
        "12-paste-both-ends",
        "#define TYPE(x) cuda##x##_t\nTYPE(Stream) s;\nTYPE(Event) e;\n",
        "#define TYPE(x) musa##x##_t\nTYPE(Stream) s;\nTYPE(Event) e;\n",
    ),
    case(
        "12-paste-project-name",
        "void cuda_mine();\n#define CALL(f) cuda_##f\nvoid f() { CALL(mine)(); }\n",
        None,
        "C51 warning 2",
    ),
    case(
        "13-stringised",
        "#define S(x) #x\nconst char* n = S(cudaFree);\n",
        "#define S(x) #x\nconst char* n = S(musaFree);\n",
        "C52 info 2",
    ),
    case(
        "13-stringised-in-another-file",
        {"s.h": "#define CHECK(x) check((x), #x)\n", "a.cu": "void f(void* p) { CHECK(cudaFree(p)); }\n"},
        {"a.cu": "void f(void* p) { CHECK(musaFree(p)); }\n"},
        "C52 info a.cu:1",
    ),
    case(
        "14-macro-body",
        "#define CK(x) do{cudaError_t e=(x);}while(0)\n",
        "#define CK(x) do{musaError_t e=(x);}while(0)\n",
    ),
    case(
        "14-macro-body-of-lines",
        "#define CK(x) \\\n  do { \\\n    cudaError_t e = (x); \\\n"
        "    if (e != cudaSuccess) fail(e); \\\n  } while (0)\n",
        "#define CK(x) \\\n  do { \\\n    musaError_t e = (x); \\\n"
        "    if (e != musaSuccess) fail(e); \\\n  } while (0)\n",
    ),
    case(
        "14-comment-in-macro-body",
        "#define GET(e) ((e) /* cudaError_t */ == cudaSuccess)\n",
        "#define GET(e) ((e) /* cudaError_t */ == musaSuccess)\n",
        "F9 info 1",  # the grammar does not know comments in macro bodies
    ),
    case("14-whole-macro-body", "#define STREAM cudaStream_t\nSTREAM s;\n", "#define STREAM musaStream_t\nSTREAM s;\n"),
    case(
        "15-project-macro",
        {"check.h": "#define CUDA_CHECK(x) ((x) == cudaSuccess)\n", "a.cu": "bool b = CUDA_CHECK(cudaFree(p));\n"},
        {"check.h": "#define CUDA_CHECK(x) ((x) == musaSuccess)\n", "a.cu": "bool b = CUDA_CHECK(musaFree(p));\n"},
    ),
    case(
        "15-project-macro-renamed",
        {"check.h": "#define CUDA_CHECK(x) ((x) == cudaSuccess)\n", "a.cu": "bool b = CUDA_CHECK(cudaFree(p));\n"},
        {"check.h": "#define MUSA_CHECK(x) ((x) == musaSuccess)\n", "a.cu": "bool b = MUSA_CHECK(musaFree(p));\n"},
        rename_project_names=True,
    ),
    case("16-alias", "#define cudaFree musaFree\n", None, "C50 info 1"),
    case(
        "16-alias-used",
        {"alias.h": "#define cudaFree musaFree\n", "a.cu": '#include "alias.h"\nvoid f(void* p) { cudaFree(p); }\n'},
        {"a.cu": '#include "alias.h"\nvoid f(void* p) { musaFree(p); }\n'},
        "C50 info alias.h:1",
    ),
    case("16-alias-to-itself", "#define cudaFree cudaFree\n", None, "C50 info 1"),
    case("16-alias-with-arguments", "#define cudaFree(p) musaFree(p)\n", None, "C50 info 1"),
    case("16-alias-types", "typedef musaStream_t cudaStream_t;\nusing cudaEvent_t = musaEvent_t;\n"),
    case("41-continued-name", "void f(void* p) {\n  cuda\\\nMalloc(&p, 4);\n}\n", None, "C53 warning 2"),
]

INCLUDES_AND_GUARDS = [
    case(
        "17-include-guard",
        "#ifndef MY_CUDA_RUNTIME_H\n#define MY_CUDA_RUNTIME_H\nint x;\n#endif  // MY_CUDA_RUNTIME_H\n",
    ),
    case("17-include-guard-with-api-prefix", "#ifndef CUDA_UTILS_H_\n#define CUDA_UTILS_H_\nint x;\n#endif\n"),
    case(
        "18-sdk-guard",
        "#ifdef __CUDA_FP16_H__\nint x;\n#endif\n",
        "#ifdef __MUSA_FP16_H__\nint x;\n#endif\n",
        "C2 info 1",
    ),
    case("18-compiler-guard", "#if defined(__CUDACC__)\nint x;\n#endif\n", "#if defined(__MUSACC__)\nint x;\n#endif\n"),
    case("19-project-header", {"cuda_runtime.h": "int x;\n", "a.cu": '#include "cuda_runtime.h"\n'}),
    case(
        "19-project-header-in-another-folder",
        {
            "include/cuda_runtime.h": "int x;\n",
            "src/a.cu": '#include "cuda_runtime.h"\n#include "../include/cuda_runtime.h"\n',
        },
    ),
    case("19-sdk-header-in-quotes", '#include "cuda_runtime.h"\n', '#include "musa_runtime.h"\n'),
    case("20-longer-header", {"my_cuda_runtime.h": "int x;\n", "a.cu": '#include "my_cuda_runtime.h"\n'}),
    case("20-longer-header-not-here", '#include "my_cuda_runtime.h"\n', None, "C13 warning 1"),
    case("21-renamed", {"util.cuh": "int x;\n", "a.cu": '#include "util.cuh"\n'}, {"a.cu": '#include "util.muh"\n'}),
    case("21-kept", {"util.cuh": "int x;\n", "a.cu": '#include "util.cuh"\n'}, rename_ext=False),
    case(
        "21-renamed-in-folders",
        {
            "inc/p/util.cuh": "int x;\n",
            "src/a.cc": '#include "../inc/p/util.cuh"\n#include <p/util.cuh>\n#include "p/util.cuh"\n',
        },
        {"src/a.cc": '#include "../inc/p/util.muh"\n#include <p/util.muh>\n#include "p/util.muh"\n'},
    ),
    case("21-source-included", {"k.cu": "int x;\n", "a.cpp": '#include "k.cu"\n'}, {"a.cpp": '#include "k.mu"\n'}),
    case("21-not-in-the-tree", '#include "other.cuh"\n'),
    case("21-excluded", {"util.cuh": "int x;\n", "a.cu": '#include "util.cuh"\n'}, exclude=("util.cuh",)),
    case("22-cub-header", "#include <cub/cub.cuh>\n#include <thrust/device_vector.h>\n"),
    case(
        "22-cub-on-the-line",
        "int f(int cub) { return cub/2; } /* cub/ */ cudaStream_t s = cudaStreamPerThread;\n",
        "int f(int cub) { return cub/2; } /* cub/ */ musaStream_t s = musaStreamPerThread;\n",
    ),
    case("25-defined", "#ifdef __CUDA_ARCH__\nint x;\n#endif\n", "#ifdef __MUSA_ARCH__\nint x;\n#endif\n"),
    case("25-not-defined", "#ifndef __CUDA_ARCH__\nint x;\n#endif\n", "#ifndef __MUSA_ARCH__\nint x;\n#endif\n"),
    case(
        "25-defined-operator",
        "#if !defined(__CUDA_ARCH__) && !defined __CUDA_ARCH__\nint x;\n#endif\n",
        "#if !defined(__MUSA_ARCH__) && !defined __MUSA_ARCH__\nint x;\n#endif\n",
    ),
    case("27-hip", "#if !defined(__HIP_PLATFORM_AMD__)\nint x;\n#endif\n", None, "C22 info 1"),
    case(
        "27-hip-around-code",
        "#if !defined(__HIP_PLATFORM_AMD__)\ncudaStream_t s;\n#endif\n",
        "#if !defined(__HIP_PLATFORM_AMD__)\nmusaStream_t s;\n#endif\n",
        "C22 info 1",
    ),
    case("28-musa-branch", BRANCHES, BRANCHES.replace("cudaEvent_t", "musaEvent_t"), "C62 info 4"),
    case(
        "28-negated",
        "#ifndef USE_MUSA\ncudaStream_t s;\n#else\nmusaStream_t s;\n#endif\n",
        None,
        "C62 info 2",
    ),
    case(
        "28-elif",
        "#if defined(USE_ROCM)\nint r;\n#elif defined(USE_MUSA)\nmusaStream_t s;\n#else\ncudaStream_t s;\n#endif\n",
        None,
        "C22 info 1",
        "C62 info 6",
    ),
    case(
        "28-header-and-source",
        {"s.h": BRANCHES, "a.cu": "cudaStream_t t;\n"},
        {"s.h": BRANCHES.replace("cudaEvent_t", "musaEvent_t"), "a.cu": "musaStream_t t;\n"},
        "C62 info s.h:4",
    ),
]


def condition(name: str, before: str, after: str | None, *findings: str, **options: Any) -> Any:
    """A case about the condition of an #if."""
    return case(
        name, f"#if {before}\nint x;\n#endif\n", after and f"#if {after}\nint x;\n#endif\n", *findings, **options
    )


THRESHOLDS = {600: 210, 610: 210, 700: 210, 750: 210, 800: 220, 860: 220, 870: 220, 890: 220, 900: 310}

CONDITIONS = [
    *(
        condition(f"23-arch-{cuda}", f"__CUDA_ARCH__ >= {cuda}", f"__MUSA_ARCH__ >= {musa}", "C20 warning 1")
        for cuda, musa in THRESHOLDS.items()
    ),
    condition(
        "23-arch-and-defined",
        "defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800)",
        "defined(__MUSA_ARCH__) && (__MUSA_ARCH__ < 220)",
        "C20 warning 1",
    ),
    condition(
        "23-arch-twice",
        "__CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 900",
        "__MUSA_ARCH__ >= 220 && __MUSA_ARCH__ < 310",
        "C20 warning 1",
        "C20 warning 1",
    ),
    case(
        "23-arch-in-elif",
        "#if __CUDA_ARCH__ >= 900 // sm_90\nint a;\n#elif (__CUDA_ARCH__ >= 700)\nint b;\n#endif\n",
        "#if __MUSA_ARCH__ >= 310 // sm_90\nint a;\n#elif (__MUSA_ARCH__ >= 210)\nint b;\n#endif\n",
        "C20 warning 1",
        "C20 warning 3",
    ),
    case(
        "23-arch-in-macro-body",
        "#define HAS_BF16 (__CUDA_ARCH__ >= 800)\n",
        "#define HAS_BF16 (__MUSA_ARCH__ >= 220)\n",
        "C20 warning 1",
    ),
    condition("24-equal", "__CUDA_ARCH__ == 750", "__MUSA_ARCH__ == 750", "C20 warning 1"),
    condition("24-not-equal", "__CUDA_ARCH__ != 800", "__MUSA_ARCH__ != 800", "C20 warning 1"),
    condition("24-equal-mirrored", "750 == __CUDA_ARCH__", "750 == __MUSA_ARCH__", "C20 warning 1"),
    condition("24-mirrored", "750 <= __CUDA_ARCH__", "210 <= __MUSA_ARCH__", "C20 warning 1"),
    condition("24-mirrored-strict", "700 < __CUDA_ARCH__", "210 < __MUSA_ARCH__", "C20 warning 1"),
    condition("24-greater", "__CUDA_ARCH__ > 700", "__MUSA_ARCH__ > 210", "C20 warning 1"),
    condition("24-less-or-equal", "__CUDA_ARCH__<=890", "__MUSA_ARCH__<=220", "C20 warning 1"),
    condition("24-above-the-table", "__CUDA_ARCH__ >= 1000", "__MUSA_ARCH__ >= 1000", "C20 warning 1"),
    condition(
        "26-version", "CUDA_VERSION >= 12080", "(!defined(MUSA_VERSION) && CUDA_VERSION >= 12080)", "C21 warning 1"
    ),
    condition(
        "26-version-in-or",
        "defined(USE_ROCM) || CUDA_VERSION >= 11000",
        "defined(USE_ROCM) || (!defined(MUSA_VERSION) && CUDA_VERSION >= 11000)",
        "C21 warning 1",
        "C22 info 1",
    ),
    condition(
        "26-version-and-defined",
        "defined(CUDA_VERSION) && CUDA_VERSION >= 11000",
        "defined(CUDA_VERSION) && (!defined(MUSA_VERSION) && CUDA_VERSION >= 11000)",
        "C21 warning 1",
    ),
    condition(
        "26-version-mirrored",
        "11000 <= CUDA_VERSION",
        "(!defined(MUSA_VERSION) && 11000 <= CUDA_VERSION)",
        "C21 warning 1",
    ),
    condition(
        "26-version-given",
        "CUDA_VERSION >= 12080",
        "1 /* CUDA_VERSION >= 12080 */",
        "C21 warning 1",
        cuda_version=12080,
    ),
    condition(
        "26-version-given-too-low",
        "CUDA_VERSION >= 12080 && defined(X)",
        "0 /* CUDA_VERSION >= 12080 */ && defined(X)",
        "C21 warning 1",
        cuda_version=11080,
    ),
    case("26-version-in-code", "bool b = CUDA_VERSION >= 12080;\n", None, "C21 error 1"),
]

HARDWARE = [
    case("29-ptx", 'void f() { asm volatile("membar.gl;"); }\n', None, "C30 error 1"),
    case(
        "29-ptx-beside-api",
        'void f(void* p) {\n  asm volatile("membar.gl;" ::: "memory");\n  cudaFree(p);\n}\n',
        'void f(void* p) {\n  asm volatile("membar.gl;" ::: "memory");\n  musaFree(p);\n}\n',
        "C30 error 2",
    ),
    case(
        "29-ptx-with-result",
        'int f() { int x; __asm__ __volatile__("mov.u32 %0, %laneid;" : "=r"(x)); return x; }\n',
        None,
        "C30 error 1",
    ),
    case("29-ptx-in-macro", '#define FENCE() asm volatile("membar.gl;")\n', None, "C30 error 1"),
    case("29-no-instruction", 'void f() { asm volatile("" ::: "memory"); asm(""); }\n'),
    case(
        "29-stub",
        'void f() {\n  asm volatile("membar.gl;");\n}\n',
        "void f() {\n  __trap() /* musa-port: PTX membar.gl */;\n}\n",
        "C31 error 2",
        ptx="stub",
    ),
    case("29-stub-no-instruction", 'void f() { asm volatile("" ::: "memory"); }\n', ptx="stub"),
    case("30-native", {"a.mu": 'void f() { asm volatile("..."); cudaFree(p); }\n'}, None, "F1 info 1"),
    case("30-native-header", {"a.muh": "#include <cuda_runtime.h>\n"}, None, "F1 info 1"),
    case("31-lane", "__device__ int f() { return threadIdx.x & 31; }\n", None, "C32 warning 1"),
    case("31-mask", "__device__ int f(int x) { return __shfl_sync(0xffffffff, x, 0); }\n", None, "C32 warning 1"),
    case(
        "31-loop",
        "__device__ float f(float x) {\n"
        "  for (int i = 16; i > 0; i >>= 1) x += __shfl_xor_sync(m, x, i);\n  return x;\n}\n",
        None,
        "C32 warning 2",
    ),
    case(
        "31-by-function",
        "__device__ int f(int x) {\n  int lane = threadIdx.x & 31;\n  int warp = threadIdx.x >> 5;\n"
        "  return __shfl_sync(0xffffffffu, x, lane) + warp;\n}\n__device__ int g() {\n  return threadIdx.x % 32;\n}\n",
        None,
        "C32 warning 2",
        "C32 warning 7",
    ),
    case("31-other-mask", "int f(int rgb) { return rgb & 0xff; }\n"),
    case("32-compound-type", "nv_bfloat162 x;\n", "__mt_bfloat162 x;\n"),
    case(
        "32-both-spellings",
        "nv_bfloat16 x; __nv_bfloat16 y; __half z;\n",
        "__mt_bfloat16 x; __mt_bfloat16 y; __half z;\n",
    ),
    case("33-optional-guard", "c10::cuda::OptionalCUDAGuard g;\n", "c10::musa::OptionalMUSAGuard g;\n"),
    case(
        "33-optional-guard-of-at",
        "const at::cuda::OptionalCUDAGuard guard(device_of(x));\n",
        "const at::musa::OptionalMUSAGuard guard(device_of(x));\n",
    ),
    case("34-cutlass", "cutlass::half_t h;\n", "mutlass::half_t h;\n"),
    case("34-nccl", "ncclComm_t c;\n", "mcclComm_t c;\n"),
    case(
        "35-dependent",
        REDUCE + "template <typename T> __device__ T f(T x, T tmp) {\n  using WarpReduce = Reduce<T>;\n"
        "  return WarpReduce(tmp).Sum<4>(x);\n}\n",
        REDUCE + "template <typename T> __device__ T f(T x, T tmp) {\n  using WarpReduce = Reduce<T>;\n"
        "  return WarpReduce(tmp).template Sum<4>(x);\n}\n",
        "C54 info 4",
    ),
    case(
        "35-unknown-type",
        "template <typename T> __device__ T f(T x) {\n  auto r = make<T>();\n  return r.Sum<4>(x);\n}\n",
        None,
        "C54 info 3",
    ),
    case(
        "35-has-the-keyword",
        REDUCE
        + "template <typename T> __device__ T f(T x) {\n  using R = Reduce<T>;\n  return R().template Sum<4>(x);\n}\n",
    ),
    case("35-not-dependent", REDUCE + "__device__ float f(float x) {\n  Reduce<float> r;\n  return r.Sum<4>(x);\n}\n"),
    case("35-comparison", REDUCE + "template <typename T> __device__ bool f(Reduce<T> r, int n) { return r.s < n; }\n"),
    case(
        "36-restrict-array",
        "struct A { const void* __restrict__ p[8]; };\nvoid f(A a) { A b; b = a; }\n",
        None,
        "C55 info 1",
    ),
    case("36-restrict-pointer", "struct A { const void* __restrict__ p; };\n"),
]

FILES = [
    case(
        "37-generated-line",
        {"k.cu": "// This file was generated by gen.py, do not edit\ncudaStream_t s;\n", "a.cc": "cudaStream_t s;\n"},
        {"a.cc": "musaStream_t s;\n"},
        "F2 warning k.cu:1",
    ),
    case(
        "37-generated-name",
        {"k_generated.h": "cudaStream_t s;\n", "a.cc": '#include "k_generated.h"\ncudaEvent_t e;\n'},
        {"a.cc": '#include "k_generated.h"\nmusaEvent_t e;\n'},
        "F2 warning k_generated.h:1",
    ),
    case(
        "37-build-folder",
        {"build/k.cu": "cudaStream_t s;\n", "builder/k.cc": "cudaStream_t s;\n"},
        {"builder/k.cc": "musaStream_t s;\n"},
        "F2 warning build/k.cu:1",
    ),
    case(
        "37-generated-python",
        {"a.py": "# DO NOT EDIT. Generated by x.py\nimport torch\ntorch.cuda.synchronize()\n"},
        None,
        "F2 warning 1",
    ),
    case(
        "37-generated-makefile",
        {"Makefile": "# Generated by configure\nCC = nvcc -lcuda\n", "b.mk": "# Generated by x\nCC = current\n"},
        None,
        "F2 warning Makefile:1",
    ),
    case(
        "37-include-of-generated",
        {"k_generated.cuh": "int x;\n", "a.cc": '#include "k_generated.cuh"\n'},
        None,
        "F2 warning k_generated.cuh:1",
    ),
    case(
        "38-vendored",
        {"third_party/cutlass/include/cutlass/x.h": "cudaStream_t s;\n", "third_party/fmt/x.h": "cudaStream_t s;\n"},
        {"third_party/fmt/x.h": "musaStream_t s;\n"},
        "F3 warning third_party/cutlass/include/cutlass/x.h:1",
    ),
    *(
        case(f"38-vendored-{library}", {f"third_party/{library}/x.h": "cudaStream_t s;\n"}, None, "F3 warning 1")
        for library in ("cub", "thrust", "nccl")
    ),
    case("40-latin-1", b"// caf\xe9 cudaFree\ncudaFree(p); // \xe9\n", b"// caf\xe9 cudaFree\nmusaFree(p); // \xe9\n"),
    case("40-latin-1-in-string", b'f("\xe9\xe8", cudaSuccess);\n', b'f("\xe9\xe8", musaSuccess);\n'),
    case("40-binary", b"cudaFree(p);\0\x01\x02cudaFree(p);\n", None, "F5 info 1"),
    case(
        "49-other-languages",
        {
            "solve.F90": "use cudafor\ni = cudaMalloc(p, 4)\n",
            "build.rs": 'println!("cargo:rustc-link-lib=cudart");\n',
            "gpu.go": '// #include <cuda_runtime.h>\nimport "C"\nvar e = C.cudaFree(p)\n',
            "plain.go": "package main\n",
            "a.cc": "cudaStream_t s;\n",
        },
        {"a.cc": "musaStream_t s;\n"},
        "F7 warning build.rs:1",
        "F7 warning gpu.go:1",
        "F7 warning solve.F90:1",
    ),
]

LOOKED_UP = [
    case("43-message", 'throw std::runtime_error("CUDA_HOME not set");\n'),
    case("43-getenv", 'const char* h = std::getenv("CUDA_HOME");\n', 'const char* h = std::getenv("MUSA_HOME");\n'),
    case(
        "43-setenv",
        'setenv("CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", 1);\n',
        'setenv("MUSA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", 1);\n',
        "C41 info 1",
    ),
    case("44-dlsym", 'void* f = dlsym(h, "cuInit");\n', 'void* f = dlsym(h, "muInit");\n'),
    case("44-get-proc-address", 'auto f = GetProcAddress(h, "cuInit");\n', 'auto f = GetProcAddress(h, "muInit");\n'),
    case(
        "44-only-there",
        'void* f = dlsym(h, "cuInit");\nif (!f) fail("cuInit is missing");\n',
        'void* f = dlsym(h, "muInit");\nif (!f) fail("cuInit is missing");\n',
        "C40 info 2",
    ),
    case(
        "45-dlopen",
        'void* h = dlopen("libcuda.so.1", RTLD_LAZY);\n',
        'void* h = dlopen("libmusa.so.1", RTLD_LAZY);\n',
        "C43 info 1",
    ),
    case("45-message", 'puts("libcuda.so.1 was not found");\n'),
    case(
        "46-literal",
        f'nvrtcCreateProgram(&p, {KERNEL}, "k.cu", 0, 0, 0);\n',
        f'mtrtcCreateProgram(&p, {KERNEL.replace("__nv_bfloat16", "__mt_bfloat16")}, "k.cu", 0, 0, 0);\n',
    ),
    case(
        "46-variable",
        f"const char* text = {KERNEL};\nvoid f() {{ nvrtcCreateProgram(&p, text, 0, 0, 0, 0); }}\n",
        f"const char* text = {KERNEL.replace('__nv_bfloat16', '__mt_bfloat16')};\n"
        "void f() { mtrtcCreateProgram(&p, text, 0, 0, 0, 0); }\n",
    ),
    case("46-elsewhere", f"const char* text = {KERNEL};\n", None, "C40 info 1", "C44 warning 1"),
]

ALL = [
    *NAMES_IN_TEXT,
    *NAMES_OF_THE_PROJECT,
    *MACROS,
    *INCLUDES_AND_GUARDS,
    *CONDITIONS,
    *HARDWARE,
    *FILES,
    *LOOKED_UP,
]


@pytest.mark.parametrize(("before", "after", "findings", "options"), ALL)
def test_failure_mode(
    check: Check, before: Sources, after: Sources | None, findings: tuple[str, ...], options: Options
) -> None:
    check(before, after, findings, options)


def test_every_mode_has_a_case() -> None:
    on_disk = {39, 50}
    assert {int(case.id[:2]) for case in ALL} | on_disk == set(range(1, 51))


# ---- what a finding says ----------------------------------------------------------------------------------------


def only_finding(source: str, **options: Any) -> Finding:
    (finding,) = port_sources({"a.cu": source.encode()}, Options(**options))["a.cu"].findings
    return finding


def test_29_ptx_names_the_family_and_the_builtin() -> None:
    finding = only_finding('__device__ void sync() {\n  asm volatile("membar.gl;");\n}\n')
    assert "membar" in finding.message
    assert "__threadfence" in finding.advice
    assert (finding.line, finding.column, finding.function) == (2, 3, "sync")
    assert not finding.changed


def test_29_stub_replaces_the_statement_with_its_operands() -> None:
    source = b'int f() { int x; asm("mov.u32 %0, %laneid;" : "=r"(x)); return x; }\n'
    text = port_sources({"a.cu": source}, Options(ptx="stub"))["a.cu"].data.decode()
    assert re.fullmatch(r"int f\(\) \{ int x; __trap\(\) /\* musa-port: PTX mov[^*]*\*/; return x; \}\n", text)


def test_29_ptx_without_counterpart_says_so() -> None:
    finding = only_finding('__device__ void f() { asm("setmaxnreg.inc.sync.aligned.u32 240;"); }\n')
    assert "setmaxnreg" in finding.message
    assert "__" not in finding.advice


def test_23_arch_guard_shows_both_sides() -> None:
    finding = only_finding("#if __CUDA_ARCH__ >= 800\n#endif\n")
    assert "800" in finding.message
    assert "220" in finding.message
    assert (finding.old, finding.new) == ("__CUDA_ARCH__ >= 800", "__MUSA_ARCH__ >= 220")
    assert finding.changed


def test_38_vendored_names_the_replacement() -> None:
    path = "third_party/cutlass/x.h"
    (finding,) = port_sources({path: b"int x;\n"})[path].findings
    assert "mutlass" in (finding.message + finding.advice).lower()


def test_31_warp_finding_names_the_function() -> None:
    assert only_finding("__device__ int lane_of() { return threadIdx.x & 31; }\n").function == "lane_of"


# ---- links and whole trees on disk ------------------------------------------------------------------------------


def statuses(report: Report) -> dict[str, str]:
    return {file.path: file.status.value for file in report.files}


def test_39_links(tmp_path: Path) -> None:
    """A link out of the tree is left out and listed; one inside stays a link, to the file's new name."""
    (tmp_path / "elsewhere.cuh").write_text("cudaStream_t s;\n")
    source, output = tmp_path / "src", tmp_path / "out"
    source.mkdir()
    (source / "a.cuh").write_text("cudaStream_t s;\n")
    (source / "inside.cuh").symlink_to("a.cuh")
    (source / "outside.cuh").symlink_to("../elsewhere.cuh")
    (source / "absolute.cuh").symlink_to(tmp_path / "elsewhere.cuh")
    (source / "folder").symlink_to(tmp_path)
    report = port_tree(source, output)
    assert sorted(path.name for path in output.iterdir()) == ["a.muh", "inside.muh"]
    assert (output / "a.muh").read_text() == "musaStream_t s;\n"
    assert (output / "inside.muh").readlink() == Path("a.muh")
    assert statuses(report) == {
        "a.cuh": "ported",
        "absolute.cuh": "left-out",
        "folder": "left-out",
        "inside.cuh": "copied",
        "outside.cuh": "left-out",
    }
    remarks = {(finding.rule, finding.severity.value, finding.path) for finding in report.findings()}
    assert remarks == {("F4", "warning", path) for path in ("absolute.cuh", "folder", "outside.cuh")}
    assert (tmp_path / "elsewhere.cuh").read_text() == "cudaStream_t s;\n"


def test_39_link_through_a_link_out_of_the_tree(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.cuh").write_text("cudaStream_t s;\n")
    source, output = tmp_path / "src", tmp_path / "out"
    source.mkdir()
    (source / "a.cu").write_text("cudaStream_t s;\n")
    (source / "folder").symlink_to("../elsewhere")
    (source / "b.cuh").symlink_to("folder/b.cuh")
    report = port_tree(source, output)
    assert [path.name for path in output.iterdir()] == ["a.mu"]
    assert statuses(report) == {"a.cu": "ported", "b.cuh": "left-out", "folder": "left-out"}


TREE = {
    "inc/util.cuh": "#pragma once\n#include <cuda_runtime.h>\n#define CALL(f) cuda##f\n#define CK(x) check((x), #x)\n",
    "inc/alias.h": "#define cudaFree musaFree\n",
    "src/a.cu": '#include "../inc/util.cuh"\n#include <ATen/cuda/CUDAContext.h>\n#if CUDA_VERSION >= 12080\n'
    '#if 750 <= __CUDA_ARCH__\nvoid f(void* p) { CK(CALL(Free)(p)); asm volatile("membar.gl;"); }\n#endif\n#endif\n',
    "src/b.cc": "auto s = at::cuda::getCurrentCUDAStream();\n"
    'void* f = dlsym(h, "cuInit"); auto e = getenv("CUDA_HOME");\n',
    "third_party/cub/x.cuh": "cudaStream_t s;\n",
    "notes.md": "cudaMalloc\n",
}


@pytest.mark.parametrize("rename", [True, False], ids=["renamed", "kept"])
@pytest.mark.parametrize(
    "options",
    [{}, {"cuda_version": 12080, "ptx": "stub", "strings": True, "comments": True, "rename_project_names": True}],
)
def test_50_second_run_changes_no_byte(tmp_path: Path, rename: bool, options: dict[str, Any]) -> None:
    for path, text in TREE.items():
        (tmp_path / "0" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "0" / path).write_text(text)
    for run in range(2):
        port_tree(tmp_path / str(run), tmp_path / str(run + 1), Options(rename_ext=rename, **options))
    first, second = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "1", tmp_path / "2")
    )
    assert len(first) == len(TREE)
    assert first != {Path(path): text.encode() for path, text in TREE.items()}
    assert second == first
