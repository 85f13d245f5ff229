"""How musa-port decides about one name: the order of decisions, what it parses, and what each option changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from musa_port import FileStatus, Options, UsageError, port_sources

if TYPE_CHECKING:
    from tests.porter.conftest import Check, Text

TORCH = "#include <torch/extension.h>\n"
RUNTIME = "#include <cuda_runtime.h>\n"
PORTED_RUNTIME = "#include <musa_runtime.h>\n"


def ported(text: Text, path: str = "a.cu", **options: Any) -> str:
    data = text.encode() if isinstance(text, str) else text
    return port_sources({path: data}, Options(**options))[path].data.decode()


# ---- 1. kept text: regions, native files, branches that MUSA does not take --------------------------------------


@pytest.mark.parametrize(
    ("off", "on"),
    [
        ("// musa-port: off", "// musa-port: on"),
        ("/* musa-port: off */", "/* musa-port: on */"),
        ("//musa-port:off (hand-tuned)", "//musa-port:on"),
        ("// MUSIFY_EXCL_START", "// MUSIFY_EXCL_STOP"),
    ],
)
def test_region(check: Check, off: str, on: str) -> None:
    check(
        f'cudaFree(a);\n{off}\ncudaFree(b); asm("membar.gl;");\n#include <cuda.h>\n{on}\ncudaFree(c);\n',
        f'musaFree(a);\n{off}\ncudaFree(b); asm("membar.gl;");\n#include <cuda.h>\n{on}\nmusaFree(c);\n',
        ("C60 info 2",),
    )


@pytest.mark.parametrize("marker", ["// musa-port: ignore", "// MUSIFY_EXCL_LINE"])
def test_marked_line(check: Check, marker: str) -> None:
    check(
        f"cudaFree(a); {marker}\ncudaFree(b);\n",
        f"cudaFree(a); {marker}\nmusaFree(b);\n",
        ("C60 info 1",),
    )


def test_region_without_end(check: Check) -> None:
    check(
        "cudaFree(a);\n// musa-port: off\ncudaFree(b);\n",
        "musaFree(a);\n// musa-port: off\ncudaFree(b);\n",
        ("C60 info 2", "C61 warning 2"),
    )


def test_marker_in_a_string_is_text(check: Check) -> None:
    check('f("musa-port: off", cudaSuccess);\n', 'f("musa-port: off", musaSuccess);\n')


def test_names_declared_in_a_region_are_declared(check: Check) -> None:
    check("// musa-port: off\nvoid cudaMine();\n// musa-port: on\nvoid f() { cudaMine(); }\n", None, ("C60 info 1",))


def test_native_file_beside_cuda_files(check: Check) -> None:
    check(
        {"k.mu": "cudaStream_t s;\n", "a.cu": "cudaStream_t s;\n"},
        {"a.cu": "musaStream_t s;\n"},
        ("F1 info k.mu:1",),
    )


NESTED = """\
#ifdef USE_MUSA
#if defined(X)
musaStream_t s;
#endif
#else
#if __CUDA_ARCH__ >= 800
cudaStream_t s;
#else
cudaEvent_t s;
#endif
#endif
cudaGraph_t g;
"""


def test_nested_branches(check: Check) -> None:
    findings = ("C62 info 7", "C62 info 9")
    check(NESTED, NESTED.replace("cudaGraph_t", "musaGraph_t"), findings)


@pytest.mark.parametrize(
    "condition",
    [
        "!defined(USE_MUSA)",
        "defined(USE_CUDA) && !defined(USE_MUSA)",
        "!USE_MUSA",
        "!defined(__MUSA__)",
        "!defined(__MUSACC__) && X > 1",
        "!(defined(USE_MUSA))",
        "!(defined(USE_MUSA) || defined(X))",
    ],
)
def test_branch_that_musa_does_not_take(condition: str) -> None:
    text = f"#if {condition}\ncudaStream_t s;\n#else\ncudaEvent_t e;\n#endif\n"
    assert ported(text) == text.replace("cudaEvent_t", "musaEvent_t")


@pytest.mark.parametrize(
    "condition",
    [
        "defined(USE_MUSA)",
        "defined(X) || defined(USE_MUSA)",
        "!defined(X) || !defined(USE_MUSA)",
        "defined(X)",
        "0",
        "MY_USE_MUSA_NOT",
    ],
)
def test_branch_that_musa_may_take(condition: str) -> None:
    text = f"#if {condition}\ncudaStream_t s;\n#endif\n"
    assert ported(text) == text.replace("cudaStream_t", "musaStream_t")


def test_inactive_branches_are_ported(check: Check) -> None:
    check(
        "#if 0\ncudaStream_t s;\n#else\ncudaEvent_t e;\n#endif\n",
        "#if 0\nmusaStream_t s;\n#else\nmusaEvent_t e;\n#endif\n",
    )


# ---- 2. the user's map and --keep-names -------------------------------------------------------------------------


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.fixture
def json_map(tmp_path: Path) -> Path:
    return write(tmp_path / "map.json", '{"cudaMalloc": "myMalloc", "cudaFree": null, "acmeThing": "acmeOther"}')


def test_json_map(check: Check, json_map: Path) -> None:
    check(
        "cudaMalloc(p); cudaFree(p); acmeThing(p); cudaSuccess;\n",
        "myMalloc(p); cudaFree(p); acmeOther(p); musaSuccess;\n",
        options=Options(map_files=(json_map,)),
    )


def test_csv_map(check: Check, tmp_path: Path) -> None:
    path = write(tmp_path / "map.csv", "cuda_name,musa_name\ncudaMalloc,myMalloc\nacmeThing,acmeOther\n")
    check(
        "cudaMalloc(p); cudaFree(p); acmeThing(p);\n",
        "myMalloc(p); musaFree(p); acmeOther(p);\n",
        options=Options(map_files=(path,)),
    )


def test_later_map_wins(json_map: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.json", '{"cudaMalloc": "yourMalloc"}')
    assert ported("cudaMalloc(p); cudaFree(p);\n", map_files=(json_map, other)) == "yourMalloc(p); cudaFree(p);\n"


def test_map_comes_before_declarations(check: Check, json_map: Path) -> None:
    check(
        "void acmeThing(int);\nvoid f() { acmeThing(1); }\n",
        "void acmeOther(int);\nvoid f() { acmeOther(1); }\n",
        options=Options(map_files=(json_map,)),
    )


def test_map_does_not_reach_comments_and_strings(json_map: Path) -> None:
    text = '// cudaMalloc acmeThing\nf("acmeThing");\n'
    assert ported(text, map_files=(json_map,)) == text


def test_map_of_a_qualified_name_and_a_header(check: Check, tmp_path: Path) -> None:
    path = write(tmp_path / "map.json", '{"acme::cuda::f": "acme::musa::g", "acme_cuda.h": "acme_musa.h"}')
    check(
        "#include <acme_cuda.h>\nint x = acme::cuda::f(1);\n",
        "#include <acme_musa.h>\nint x = acme::musa::g(1);\n",
        options=Options(map_files=(path,)),
    )


def test_no_default_map(check: Check, json_map: Path) -> None:
    options = Options(map_files=(json_map,), default_map=False)
    check(
        RUNTIME + "cudaMalloc(p); cudaSuccess;\n",
        RUNTIME + "myMalloc(p); cudaSuccess;\n",
        ("C13 warning 1", "C7 info 2"),
        options,
    )


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("m.json", "{", ":1"),
        ("m.json", "[]", "m.json"),
        ("m.json", '{"cudaMalloc": 3}', "cudaMalloc"),
        ("m.json", '{"cudaMalloc": "not a name"}', "not a name"),
        ("m.csv", "a,b\nc,d\n", "cuda_name"),
        ("m.csv", "cuda_name,musa_name\ncudaMalloc,x,y\n", ":2"),
        ("m.csv", "cuda_name,musa_name,confidence\ncudaMalloc,x,sure\n", "sure"),
    ],
)
def test_malformed_map(tmp_path: Path, name: str, text: str, place: str) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(UsageError) as error:
        port_sources({"a.cu": b"int x;\n"}, Options(map_files=(path,)))
    assert str(path) in str(error.value)
    assert place in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_map(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json"):
        port_sources({"a.cu": b"int x;\n"}, Options(map_files=(tmp_path / "none.json",)))


def test_keep_names(check: Check) -> None:
    options = Options(keep_names=("cudaMalloc", "cudaMine"))
    check("cudaMalloc(p); cudaMine(p); cudaFree(p);\n", "cudaMalloc(p); cudaMine(p); musaFree(p);\n", options=options)


# ---- 3. names that the tree declares ----------------------------------------------------------------------------

#: What declares the name cudaMalloc, and a use of it.
DECLARATIONS = {
    "function": ("inline void cudaMalloc(int n) {}\n", "cudaMalloc(1)"),
    "function-with-prototype": ("void cudaMalloc(int);\nvoid cudaMalloc(int n) {}\n", "cudaMalloc(1)"),
    "function-template": ("template <typename T> T cudaMalloc(T n) { return n; }\n", "cudaMalloc<int>(1)"),
    "function-in-namespace": ("namespace acme { inline int cudaMalloc(int n) { return n; } }\n", "acme::cudaMalloc(1)"),
    "kernel": ("__global__ void cudaMalloc(int* p) { p[0] = 1; }\n", "&cudaMalloc"),
    "type": ("struct cudaMalloc { int x; };\n", "cudaMalloc{1}"),
    "class-template": ("template <typename T> class cudaMalloc {};\n", "cudaMalloc<int>()"),
    "alias": ("using cudaMalloc = int;\n", "cudaMalloc(1)"),
    "typedef": ("typedef int cudaMalloc;\n", "cudaMalloc(1)"),
    "variable": ("static int cudaMalloc = 1;\n", "cudaMalloc + 1"),
    "extern-variable": ("extern int cudaMalloc;\n", "cudaMalloc + 1"),
    "constant": ("constexpr int cudaMalloc = 1;\n", "cudaMalloc + 1"),
    "macro": ("#define cudaMalloc 1\n", "cudaMalloc"),
    "macro-with-arguments": ("#define cudaMalloc(p) mine(p, __LINE__)\n", "cudaMalloc(1)"),
    "enumerator": ("enum Kind { cudaMalloc, other };\n", "cudaMalloc"),
    "enum": ("enum class cudaMalloc { one };\n", "cudaMalloc::one"),
    "namespace": ("namespace cudaMalloc { int x; }\n", "cudaMalloc::x"),
}


@pytest.mark.parametrize(("declaration", "use"), DECLARATIONS.values(), ids=DECLARATIONS)
def test_declared_in_the_tree(check: Check, declaration: str, use: str) -> None:
    """A name that the project declares is the project's, in every file, whatever the tables say."""
    text = f'#include "mine.h"\nauto x = {use};\nauto y = cudaSuccess;\n'
    check({"mine.h": declaration, "use.cc": text}, {"use.cc": text.replace("cudaSuccess", "musaSuccess")})


@pytest.mark.parametrize("name", ["cudaMine", "CUmine", "cublasMine"])
@pytest.mark.parametrize(("declaration", "use"), DECLARATIONS.values(), ids=DECLARATIONS)
def test_declared_names_of_no_table(check: Check, declaration: str, use: str, name: str) -> None:
    """Nor does the rename rule of a family touch it."""
    declaration, use = declaration.replace("cudaMalloc", name), use.replace("cudaMalloc", name)
    text = f'#include <cuda.h>\n#include <cuda_runtime.h>\n#include <cublas_v2.h>\n#include "mine.h"\nauto x = {use};\n'
    after = text.replace("cublas_v2", "mublas").replace("cuda.h", "musa.h").replace("cuda_runtime", "musa_runtime")
    check({"mine.h": declaration, "use.cc": text}, {"use.cc": after})


def test_prototype_of_an_api_function_is_the_api(check: Check) -> None:
    """Without a definition in the tree, the function comes from the toolkit; a name of no table is the project's."""
    check(
        {
            "p.h": 'extern "C" cudaError_t cudaFree(void*);\nint cudaMine(int);\n',
            "a.cc": RUNTIME + "void f() { cudaFree(p); cudaMine(1); }\n",
        },
        {
            "p.h": 'extern "C" musaError_t musaFree(void*);\nint cudaMine(int);\n',
            "a.cc": PORTED_RUNTIME + "void f() { musaFree(p); cudaMine(1); }\n",
        },
    )


@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("mine.h", {"exclude": ("mine.h",)}),
        ("mine.muh", {}),
        ("mine_generated.h", {}),
        ("build/mine.h", {}),
        ("third_party/other/mine.h", {"exclude": ("third_party/",)}),
    ],
)
def test_declared_in_a_skipped_file(path: str, options: dict[str, Any]) -> None:
    tree = {path: b"inline void cudaMalloc(int n) {}\n", "use.cc": b"void f() { cudaMalloc(1); }\n"}
    result = port_sources(tree, Options(**options))
    assert result[path].status is FileStatus.SKIPPED
    assert result["use.cc"].data == tree["use.cc"]


def test_replaced_library_declares_nothing() -> None:
    """A vendored NCCL declares the names of NCCL: they are the API."""
    tree = {"third_party/nccl/nccl.h": b"typedef struct ncclComm* ncclComm_t;\n", "use.cc": b"ncclComm_t c;\n"}
    assert port_sources(tree)["use.cc"].data == b"mcclComm_t c;\n"


def test_type_of_the_api_declared_again(check: Check) -> None:
    """`struct CUstream_st` is the API's own: a forward declaration does not make it the project's."""
    check("typedef struct CUstream_st* cudaStream_t;\n", "typedef struct MUstream_st* musaStream_t;\n")
    check("struct CUstream_st;\nCUstream_st* s;\n", "struct MUstream_st;\nMUstream_st* s;\n")


def test_local_names_of_one_file_do_not_reach_another(check: Check) -> None:
    check(
        {
            "f.cc": "void f(int cudaFree) { int cudaMalloc = cudaFree; }\n",
            "g.cc": "void g() { cudaFree(p); cudaMalloc(&p, 1); }\n",
        },
        {"g.cc": "void g() { musaFree(p); musaMalloc(&p, 1); }\n"},
    )


def test_declaration_inside_a_comment_or_string_is_none(check: Check) -> None:
    check(
        '// void cudaFree(int);\nf("void cudaFree(int);", cudaFree);\n',
        '// void cudaFree(int);\nf("void cudaFree(int);", musaFree);\n',
        ("C40 info 2",),
    )


def test_declared_in_broken_code(check: Check) -> None:
    check(
        {"mine.h": "void cudaMine(int);\n)(\nstruct {{\n", "a.cc": RUNTIME + "int y = cudaMine(1);\n"},
        {"a.cc": PORTED_RUNTIME + "int y = cudaMine(1);\n"},
        ("F9 info mine.h:2",),
    )


def test_family_words_are_names_of_the_project(check: Check) -> None:
    check("bool cuda = true; int cu = 1; enum Lib { nccl, CUDA };\nint f() { return cuda ? cu : nccl + CUDA; }\n")


# ---- 4. qualified names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("at::cuda::getCurrentCUDAStream()", "at::musa::getCurrentMUSAStream()"),
        ("::c10::cuda::CUDAGuard(0)", "::c10::musa::MUSAGuard(0)"),
        ("c10::cuda::getCurrentCUDAStream(0)", "c10::musa::getCurrentMUSAStream(0)"),
        ("at :: cuda :: CUDAEvent()", "at :: musa :: MUSAEvent()"),
        ("torch::kCUDA", "torch::kPrivateUse1"),
        ("at::kCUDA", "at::kPrivateUse1"),
        ("c10::DeviceType::CUDA", "c10::DeviceType::PrivateUse1"),
        ("torch::Device(at::DeviceType::CUDA, 0)", "torch::Device(at::DeviceType::PrivateUse1, 0)"),
        ("cutlass::half_t(0)", "mutlass::half_t(0)"),
        ("cutlass::gemm::GemmShape<1, 2, 3>()", "mutlass::gemm::GemmShape<1, 2, 3>()"),
        ("cute::make_shape(1, 2)", "mute::make_shape(1, 2)"),
        ("thrust::cuda::par.on(s)", "thrust::musa::par.on(s)"),
        ("thrust::device_vector<int>()", "thrust::device_vector<int>()"),
        ("cub::BlockReduce<int, 128>()", "cub::BlockReduce<int, 128>()"),
        (
            "cub::DeviceScan::ExclusiveSum(a, b, c, d, 1, cudaStreamPerThread)",
            "cub::DeviceScan::ExclusiveSum(a, b, c, d, 1, musaStreamPerThread)",
        ),
        ("cuda::std::numeric_limits<float>::max()", "musa::std::numeric_limits<float>::max()"),
        ("std::cuda::x", "std::cuda::x"),
        ("acme::cuda::x", "acme::cuda::x"),
        ("acme::at::cuda::x", "acme::at::cuda::x"),
        ("acme::cudaMalloc(1)", "acme::cudaMalloc(1)"),
        ("::cudaMalloc(&p, 1)", "::musaMalloc(&p, 1)"),
    ],
)
def test_qualified_name(before: str, after: str) -> None:
    assert ported(f"{TORCH}auto x = {before};\n") == f"{TORCH}auto x = {after};\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("using namespace at::cuda;", "using namespace at::musa;"),
        ("using namespace cute;", "using namespace mute;"),
        ("using at::cuda::CUDAStream;", "using at::musa::MUSAStream;"),
        ("namespace cc = c10::cuda;", "namespace cc = c10::musa;"),
        ("using cutlass::half_t;", "using mutlass::half_t;"),
        ("namespace cg = cooperative_groups;", "namespace cg = cooperative_groups;"),
    ],
)
def test_using(before: str, after: str) -> None:
    assert ported(f"{TORCH}{before}\n") == f"{TORCH}{after}\n"


def test_namespace_extended_by_the_project(check: Check) -> None:
    """A specialisation in somebody else's namespace follows it."""
    check(
        "namespace cutlass { template <> struct Traits<half_t> { using type = cutlass::half_t; }; }\n",
        "namespace mutlass { template <> struct Traits<half_t> { using type = mutlass::half_t; }; }\n",
    )


def test_project_copy_of_a_namespace_is_the_projects(check: Check) -> None:
    check("namespace acme { namespace cute { int f(int); } }\nint x = acme::cute::f(1);\n")


@pytest.mark.parametrize(
    "name", ["cuda::ptx::mbarrier_init(p, 1)", "thrust::cuda::par_nosync", "at::cuda::getCurrentCUDASolverDnHandle()"]
)
def test_qualified_name_without_counterpart(check: Check, name: str) -> None:
    check(f"auto x = {name};\n", None, ("C4 error 1",))


# ---- 5. members -------------------------------------------------------------------------------------------------


def test_members_that_tables_do_not_know_are_kept(check: Check) -> None:
    check("int f(T a, T* b) { return a.cudaMalloc + b->cudaFree(1) + a.cuda; }\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.is_cuda()", "x.is_privateuseone()"),
        ("x->is_cuda()", "x->is_privateuseone()"),
        ("x.device().is_cuda()", "x.device().is_privateuseone()"),
        ("x.cuda()", "x.to(at::kPrivateUse1)"),
        ("gen->philox_cuda_state(4)", "gen->philox_musa_state(4)"),
    ],
)
def test_method_of_a_tensor(check: Check, before: str, after: str) -> None:
    check(f"{TORCH}auto y = {before};\n", f"{TORCH}auto y = {after};\n", ("C2 info 2",))
    check(f"cudaStream_t s; auto y = {before};\n", f"musaStream_t s; auto y = {before};\n", ("C7 info 1",))


def test_method_of_a_tensor_in_a_macro(check: Check) -> None:
    check(
        TORCH + '#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")\n',
        TORCH + '#define CHECK_CUDA(x) TORCH_CHECK(x.is_privateuseone(), #x " must be a CUDA tensor")\n',
        ("C2 info 2",),
    )


def test_method_declared_by_the_project(check: Check) -> None:
    check(
        {
            "b.h": "struct Buffer { bool is_cuda() const; Buffer cuda(); };\n",
            "a.cc": TORCH + "void f(Buffer b) { b.cuda().is_cuda(); }\n",
        },
        None,
        ("C17 info a.cc:2", "C17 info a.cc:2"),
    )


# ---- 6. exact rows: confidence decides --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ("cudaMalloc(p);", "musaMalloc(p);", ()),  # high
        ("C10_CUDA_CHECK(x);", "C10_MUSA_CHECK(x);", ()),  # medium
        ("AT_CUDA_CHECK(x);", "AT_MUSA_CHECK(x);", ("C2 info 1",)),  # medium-low
        ("int x = CUDARTAPI_CDECL;", "int x = MUSARTAPI_CDECL;", ("C2 info 1",)),  # low
        ("NCCL_CONFIG_INITIALIZER;", "MCCL_CONFIG_INITIALIZER;", ("C3 warning 1",)),  # derived
        ("__vadd4(a, b);", "__vadd4(a, b);", ("C6 warning 1",)),  # unknown
        ("THCudaMalloc(s, n);", "THCudaMalloc(s, n);", ("C4 error 1",)),  # none
        ("nvtxRangePop();", "nvtxRangePop();", ("C4 error 1",)),  # none
        ("nvrtcGetPTX(p, s);", "mtrtcGetFatBin(p, s);", ("C5 warning 1",)),  # semantic
    ],
)
def test_confidence(check: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    check(before + "\n", after + "\n", findings)


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("high", "musaMalloc(p); C10_CUDA_CHECK(x); AT_CUDA_CHECK(x); CUDARTAPI_CDECL; NCCL_CONFIG_INITIALIZER;"),
        ("medium", "musaMalloc(p); C10_MUSA_CHECK(x); AT_CUDA_CHECK(x); CUDARTAPI_CDECL; NCCL_CONFIG_INITIALIZER;"),
        ("medium-low", "musaMalloc(p); C10_MUSA_CHECK(x); AT_MUSA_CHECK(x); CUDARTAPI_CDECL; NCCL_CONFIG_INITIALIZER;"),
        ("low", "musaMalloc(p); C10_MUSA_CHECK(x); AT_MUSA_CHECK(x); MUSARTAPI_CDECL; NCCL_CONFIG_INITIALIZER;"),
        ("derived", "musaMalloc(p); C10_MUSA_CHECK(x); AT_MUSA_CHECK(x); MUSARTAPI_CDECL; MCCL_CONFIG_INITIALIZER;"),
    ],
)
def test_min_confidence(level: str, expected: str) -> None:
    """What is below the level stays, and each name of it is a finding."""
    source = "cudaMalloc(p); C10_CUDA_CHECK(x); AT_CUDA_CHECK(x); CUDARTAPI_CDECL; NCCL_CONFIG_INITIALIZER;"
    result = port_sources({"a.cu": source.encode()}, Options(min_confidence=level))["a.cu"]
    assert result.data.decode() == expected
    left = {"C10_CUDA_CHECK", "AT_CUDA_CHECK", "CUDARTAPI_CDECL", "NCCL_CONFIG_INITIALIZER"} & set(_words(expected))
    assert {finding.name for finding in result.findings if not finding.changed} == left


def _words(text: str) -> list[str]:
    return "".join(char if char.isalnum() or char == "_" else " " for char in text).split()


# ---- 7. family rules --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "ported_header", "before", "after"),
    [
        ("cuda_runtime.h", "musa_runtime.h", "cudaBrandNew(1)", "musaBrandNew(1)"),
        ("cuda.h", "musa.h", "cuBrandNew(1)", "muBrandNew(1)"),
        ("cublas_v2.h", "mublas.h", "cublasBrandNew(1)", "mublasBrandNew(1)"),
        ("nccl.h", "mccl.h", "ncclBrandNew(1)", "mcclBrandNew(1)"),
        ("cuda_runtime.h", "musa_runtime.h", "cudaGetCUDAThing(1)", "musaGetMUSAThing(1)"),
    ],
)
def test_family_rule(check: Check, header: str, ported_header: str, before: str, after: str) -> None:
    check(
        {"a.cc": f"#include <{header}>\nint x = {before};\n"},
        {"a.cc": f"#include <{ported_header}>\nint x = {after};\n"},
        ("C3 warning 2",),
    )


@pytest.mark.parametrize("name", ["cudaBrandNew", "cuBrandNew", "cublasBrandNew", "ncclBrandNew"])
def test_no_family_rule_without_a_header(name: str) -> None:
    text = f"int x = {name}(1);\n"
    assert ported(text, path="a.cc") == text


def test_no_family_rule_with_the_header_of_another_family(check: Check) -> None:
    check(
        {"a.cc": "#include <nccl.h>\nint x = cublasBrandNew(1);\n"},
        {"a.cc": "#include <mccl.h>\nint x = cublasBrandNew(1);\n"},
        ("C7 info 2",),
    )


def test_family_rule_needs_the_shape_of_an_api_name(check: Check) -> None:
    check(
        {"a.cc": RUNTIME + "int x = cuda_mine + cudamine + mycudaMine;\n"},
        {"a.cc": PORTED_RUNTIME + "int x = cuda_mine + cudamine + mycudaMine;\n"},
        ("C7 info 2",) * 3,
    )


# ---- 8. what is only listed -------------------------------------------------------------------------------------


def test_look_at_name_is_listed_once(check: Check) -> None:
    results = check("void f() { other_cuda_init(); other_cuda_init(); }\n", None, ("C7 info 1",))
    assert results["a.cu"].findings[0].name == "other_cuda_init"


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("auto g = cooperative_groups::this_grid();", "warning"),
        ("namespace cg = cooperative_groups; auto c = cg::this_cluster();", "error"),
        ("warpgroup_arrive();", "error"),
    ],
)
def test_hardware_feature(check: Check, text: str, severity: str) -> None:
    check(text + "\n", None, (f"C8 {severity} 1",))


# ---- what is parsed ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("k<<<g, b, 0, cudaStreamPerThread>>>(p);", "k<<<g, b, 0, musaStreamPerThread>>>(p);"),
        ("#pragma unroll", "#pragma unroll"),
        ("#define F(x, ...) f(cudaSuccess, ##__VA_ARGS__)", "#define F(x, ...) f(musaSuccess, ##__VA_ARGS__)"),
        ("#undef cudaFree", "#undef musaFree"),
        ("#ifdef cudaFree\n#endif", "#ifdef musaFree\n#endif"),
        ("#error cudaFree is not there", "#error cudaFree is not there"),
        ('#line 3 "cudaFree.cu"', '#line 3 "cudaFree.cu"'),
        ("int x = 1'000'000 + cudaSuccess;", "int x = 1'000'000 + musaSuccess;"),
        ('auto s = R"cuda(cudaFree)cuda";', 'auto s = R"cuda(cudaFree)cuda";'),
        ("[[deprecated]] cudaError_t f();", "[[deprecated]] musaError_t f();"),
        ("std::vector<cudaStream_t> v{cudaStreamLegacy};", "std::vector<musaStream_t> v{musaStreamLegacy};"),
        ("auto f() -> cudaError_t { return g(); }", "auto f() -> musaError_t { return g(); }"),
        ("auto f() const noexcept -> cudaStream_t*;", "auto f() const noexcept -> musaStream_t*;"),
        (
            "auto f = [](cudaStream_t s) -> cudaError_t { return cudaSuccess; };",
            "auto f = [](musaStream_t s) -> musaError_t { return musaSuccess; };",
        ),
        (
            "f(reinterpret_cast<CUdeviceptr>(p), sizeof(cudaIpcMemHandle_t));",
            "f(reinterpret_cast<MUdeviceptr>(p), sizeof(musaIpcMemHandle_t));",
        ),
        (
            "switch (e) { case cudaErrorInvalidValue: goto done; default: break; }",
            "switch (e) { case musaErrorInvalidValue: goto done; default: break; }",
        ),
        (
            "template <cudaMemcpyKind K = cudaMemcpyDefault> void f();",
            "template <musaMemcpyKind K = musaMemcpyDefault> void f();",
        ),
        ("struct cudaDeviceProp p;", "struct musaDeviceProp p;"),
        ("friend class X; operator cudaStream_t() const;", "friend class X; operator musaStream_t() const;"),
        ("T s = {.stream = cudaStreamLegacy, .cudaFree = 1};", "T s = {.stream = musaStreamLegacy, .cudaFree = 1};"),
        (
            "#if defined(X) && \\\n    defined(__CUDACC__)\n#endif",
            "#if defined(X) && \\\n    defined(__MUSACC__)\n#endif",
        ),
    ],
)
def test_parsing(before: str, after: str) -> None:
    assert ported(before + "\n") == after + "\n"


def test_syntax_error(check: Check) -> None:
    """Names are ported by token where the grammar gives up; comments and strings are still told apart."""
    check(
        'void f( { cudaFree(p)); } } // cudaFree\n"cudaMalloc" MACRO(cudaSuccess\n',
        'void f( { musaFree(p)); } } // cudaFree\n"cudaMalloc" MACRO(musaSuccess\n',
        ("C40 info 2", "F9 info 1"),
    )


@pytest.mark.parametrize(
    "text",
    [
        '"unterminated cudaFree\n',
        "/* unterminated cudaFree\n",
        'R"x(unterminated cudaFree\n',
        "#define\n#if\n#include\n#endif\n",
        ")]}>;\n",
        "\\",
    ],
)
def test_broken_tokens_change_nothing(text: str) -> None:
    assert ported(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"cudaFree(p);\r\n// a\r\ncudaFree(q);\r\n", b"musaFree(p);\r\n// a\r\nmusaFree(q);\r\n"),
        (b"#define X \\\r\n  cudaFree(p)\r\n", b"#define X \\\r\n  musaFree(p)\r\n"),
        (b'#include "util.cuh"\r\n#include <cuda.h>\r\n', b'#include "util.cuh"\r\n#include <musa.h>\r\n'),
        (b"cudaFree(p);\r\ncudaFree(q);\ncudaFree(r);\r", b"musaFree(p);\r\nmusaFree(q);\nmusaFree(r);\r"),
        (b"cudaFree(p); // no newline", b"musaFree(p); // no newline"),
        (b"cudaFree", b"musaFree"),
        (b"", b""),
        (b"\xef\xbb\xbf#include <cuda.h>\n", b"\xef\xbb\xbf#include <musa.h>\n"),
        (b"\tcudaFree(p);  \n\n\n\x0c\n", b"\tmusaFree(p);  \n\n\n\x0c\n"),
        (
            "// 显存 cudaMalloc\ncudaMalloc(&p, 4); // 释放\n".encode(),
            "// 显存 cudaMalloc\nmusaMalloc(&p, 4); // 释放\n".encode(),
        ),
        ("// 显存\ncudaFree(p);\n".encode("gbk"), "// 显存\nmusaFree(p);\n".encode("gbk")),
        (b"\xff\xfec\0u\0d\0a\0", b"\xff\xfec\0u\0d\0a\0"),
    ],
)
def test_bytes(before: bytes, after: bytes) -> None:
    assert port_sources({"a.cu": before})["a.cu"].data == after


def test_columns_count_code_points(check: Check) -> None:
    result = check("/* é显 */ cudaFree(p);\n", "/* é显 */ musaFree(p);\n")["a.cu"]
    assert [(edit.line, edit.column, edit.old) for edit in result.edits] == [(1, 10, "cudaFree")]


# ---- includes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ("#include <cuda_fp16.h>", "#include <musa_fp16.h>", ()),
        ("#  include   <cuda.h>  // cuda.h", "#  include   <musa.h>  // cuda.h", ()),
        ("#include <cublas_v2.h>", "#include <mublas.h>", ()),
        ("#include <cutlass/gemm/device/gemm.h>", "#include <mutlass/gemm/device/gemm.h>", ()),
        ("#include <cute/tensor.hpp>", "#include <mute/tensor.hpp>", ()),
        ("#include <cub/block/block_reduce.cuh>", "#include <cub/block/block_reduce.cuh>", ()),
        ("#include <c10/cuda/CUDAGuard.h>", "#include <torch_musa/csrc/core/MUSAGuard.h>", ()),
        ("#include <ATen/cuda/CUDAContext.h>", "#include <torch_musa/csrc/aten/musa/MUSAContext.h>", ()),
        ("#include <cuda_pipeline.h>", "#include <musa_pipeline.h>", ("C2 info 1",)),
        ("#include <cusparseLt.h>", "#include <cusparseLt.h>", ("C11 error 1",)),
        ("#include <acme/cuda_tools.h>", "#include <acme/cuda_tools.h>", ("C13 warning 1",)),
        ("#include <vector>", "#include <vector>", ()),
        ("/* a */ #include <cuda.h>", "/* a */ #include <musa.h>", ()),
        ("#include <cudnn.h>", "#include <mudnn.h>", ("C10 warning 1",)),
        ("#include <mma.h>", "#include <mma.h>", ("C10 info 1",)),
        ("#if __has_include(<cuda_fp8.h>)\n#endif", "#if __has_include(<musa_fp8.h>)\n#endif", ("F9 info 1",)),
        ('#if __has_include("cuda_fp8.h")\n#endif', '#if __has_include("musa_fp8.h")\n#endif', ("F9 info 1",)),
    ],
)
def test_include(check: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    check(before + "\n", after + "\n", findings)


def test_has_include_of_a_renamed_file(check: Check) -> None:
    check(
        {"util.cuh": "int x;\n", "a.cc": '#if __has_include("util.cuh")\n#include "util.cuh"\n#endif\n'},
        {"a.cc": '#if __has_include("util.muh")\n#include "util.muh"\n#endif\n'},
        ("F9 info a.cc:1",),
    )


def test_include_in_both_forms_beside_a_project_header(check: Check) -> None:
    """The quoted form finds the project's file; the other one is searched in the include path first."""
    tree = {"cuda_runtime.h": "int x;\n", "a.cc": '#include "cuda_runtime.h"\n#include <cuda_runtime_api.h>\n'}
    check(tree, {"a.cc": '#include "cuda_runtime.h"\n#include <musa_runtime_api.h>\n'})


# ---- options ----------------------------------------------------------------------------------------------------

CUDA = """\
#include <cuda_runtime.h>
#if __CUDA_ARCH__ >= 800
__nv_bfloat16 x;
#endif
// cudaFree
void f(cudaStream_t s) { cudaStreamSynchronize(s); cublasCreate(&h); c10::cuda::CUDAGuard g(0); cutlass::half_t a; }
"""


def test_comments_option(check: Check) -> None:
    """API names move; prose, licences and addresses do not."""
    check(
        "// The CUDA version: cudaFree(p), CUDA_HOME, cuda\n// https://x.example/cudaFree.html\n/* cudaMalloc */\n",
        "// The CUDA version: musaFree(p), CUDA_HOME, cuda\n// https://x.example/cudaFree.html\n/* musaMalloc */\n",
        options=Options(comments=True),
    )


def test_strings_option(check: Check) -> None:
    check(
        "f(\"cudaFree(p) of the CUDA runtime, https://x.example/cudaFree.html\", 'c');\n",
        "f(\"musaFree(p) of the CUDA runtime, https://x.example/cudaFree.html\", 'c');\n",
        options=Options(strings=True),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("musaMalloc(&p, 1);", "cudaMalloc(&p, 1);"),
        ("#include <musa_runtime.h>", "#include <cuda_runtime.h>"),
        ("__mt_bfloat16 x;", "__nv_bfloat16 x;"),
        ("mutlass::half_t x;", "cutlass::half_t x;"),
        ("c10::musa::MUSAGuard g(0);", "c10::cuda::CUDAGuard g(0);"),
        ('const char* s = "musaMalloc";', 'const char* s = "musaMalloc";'),
        ("cudaMalloc(&p, 1);", "cudaMalloc(&p, 1);"),
        ("#if __MUSA_ARCH__ >= 310\n#endif", "#if __CUDA_ARCH__ >= 900\n#endif"),
        ("#ifdef USE_MUSA\nint x;\n#endif", "#ifdef USE_MUSA\nint x;\n#endif"),
        ("int x = CUB_USE_COOPERATIVE_GROUPS;", "int x = CUB_USE_COOPERATIVE_GROUPS;"),
    ],
)
def test_reverse(before: str, after: str) -> None:
    assert ported(before + "\n", path="a.mu", reverse=True) == after + "\n"


def test_reverse_renames_files_and_keeps_native_ones() -> None:
    tree = {"a.mu": b'#include "b.muh"\nmusaFree(p);\n', "b.muh": b"int x;\n", "c.cu": b"musaFree(p);\n"}
    results = port_sources(tree, Options(reverse=True))
    assert {result.output_path: result.data for result in results.values()} == {
        "a.cu": b'#include "b.cuh"\ncudaFree(p);\n',
        "b.cuh": b"int x;\n",
        "c.cu": b"musaFree(p);\n",
    }


def test_round_trip() -> None:
    forth = port_sources({"a.cu": CUDA.encode()})["a.cu"]
    assert forth.output_path == "a.mu"
    assert b"cuda" not in forth.data.replace(b"// cudaFree", b"")
    back = port_sources({"a.mu": forth.data}, Options(reverse=True))["a.mu"]
    assert (back.output_path, back.data.decode()) == ("a.cu", CUDA)


PROJECT = {
    "check.h": "#define CUDA_CHECK(x) check(x)\nstruct CudaTimer { void start(); };\nvoid launch_cuda(int);\n",
    "a.cu": "void f() { CUDA_CHECK(cudaFree(p)); CudaTimer t; launch_cuda(1); }\n",
}


def test_rename_project_names(check: Check) -> None:
    check(
        PROJECT,
        {
            "check.h": "#define MUSA_CHECK(x) check(x)\nstruct MusaTimer { void start(); };\nvoid launch_musa(int);\n",
            "a.cu": "void f() { MUSA_CHECK(musaFree(p)); MusaTimer t; launch_musa(1); }\n",
        },
        options=Options(rename_project_names=True),
    )


def test_rename_project_names_avoids_a_collision() -> None:
    """MUSA_CHECK is taken, so CUDA_CHECK stays with all its uses, and a finding says so."""
    tree = {**PROJECT, "other.h": "#define MUSA_CHECK(x) other(x)\n"}
    results = port_sources({path: text.encode() for path, text in tree.items()}, Options(rename_project_names=True))
    assert results["check.h"].data.decode().startswith("#define CUDA_CHECK(x) check(x)\nstruct MusaTimer")
    assert results["a.cu"].data.decode() == "void f() { CUDA_CHECK(musaFree(p)); MusaTimer t; launch_musa(1); }\n"
    findings = [finding for result in results.values() for finding in result.findings if finding.name == "CUDA_CHECK"]
    assert {finding.rule for finding in findings} == {"C9"}
    assert not any(finding.changed for finding in findings)


def test_build_flags(check: Check) -> None:
    text = "#if defined(USE_CUDA) || WITH_CUDA\nint x;\n#endif\n"
    check(text, None, ("C16 info 1", "C16 info 1"))
    assert ported(text, rename_project_names=True) == text.replace("_CUDA", "_MUSA")


def test_guards_report(check: Check) -> None:
    check(
        "#if __CUDA_ARCH__ >= 800\n#endif\n#if CUDA_VERSION >= 12080\n#endif\ncudaStream_t s;\n",
        "#if __CUDA_ARCH__ >= 800\n#endif\n#if CUDA_VERSION >= 12080\n#endif\nmusaStream_t s;\n",
        ("C20 warning 1", "C21 warning 3"),
        Options(guards="report"),
    )


def test_arch_map(check: Check, tmp_path: Path) -> None:
    path = write(tmp_path / "arch.csv", "cuda,musa\n700,220\n800,310\n900,\n")
    check(
        "#if __CUDA_ARCH__ >= 700\n#elif __CUDA_ARCH__ >= 890\n#elif __CUDA_ARCH__ >= 900\n#endif\n",
        "#if __MUSA_ARCH__ >= 220\n#elif __MUSA_ARCH__ >= 310\n#elif __MUSA_ARCH__ >= 900\n#endif\n",
        ("C20 warning 1", "C20 warning 2", "C20 warning 3"),
        Options(arch_map=path),
    )


@pytest.mark.parametrize(("text", "place"), [("700,220,1\n", ":1"), ("700,220\nx,y\n", ":2"), ("", "arch.csv")])
def test_malformed_arch_map(tmp_path: Path, text: str, place: str) -> None:
    path = write(tmp_path / "arch.csv", text)
    with pytest.raises(UsageError) as error:
        port_sources({"a.cu": b"int x;\n"}, Options(arch_map=path))
    assert place in str(error.value)


@pytest.mark.parametrize(
    ("operator", "number", "version", "value"),
    [
        (">=", 12080, 12080, 1),
        (">=", 12080, 12040, 0),
        (">", 12080, 12080, 0),
        ("<", 12080, 12040, 1),
        ("<=", 12080, 12080, 1),
        ("==", 12080, 12080, 1),
        ("!=", 12080, 12080, 0),
    ],
)
def test_cuda_version(operator: str, number: int, version: int, value: int) -> None:
    text = ported(f"#if CUDA_VERSION {operator} {number}\n#endif\n", cuda_version=version)
    assert text == f"#if {value} /* CUDA_VERSION {operator} {number} */\n#endif\n"


def test_dispatch_key(check: Check) -> None:
    check(
        TORCH + 'TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("op", &op); }\nTORCH_LIBRARY_IMPL(ns, AutogradCUDA, m) {}\n'
        "TORCH_LIBRARY_IMPL(ns, CPU, m) {}\n",
        TORCH + 'TORCH_LIBRARY_IMPL(ns, PrivateUse1, m) { m.impl("op", &op); }\n'
        "TORCH_LIBRARY_IMPL(ns, AutogradPrivateUse1, m) {}\nTORCH_LIBRARY_IMPL(ns, CPU, m) {}\n",
    )


def test_only_other_languages_leaves_sources_alone() -> None:
    result = port_sources({"a.cu": b"cudaFree(p);\n"}, Options(only=frozenset({"python"})))["a.cu"]
    assert (result.status, result.data, result.output_path) == (FileStatus.SKIPPED, b"cudaFree(p);\n", "a.cu")


def test_include_option_selects() -> None:
    tree = {"a.cc": b"cudaFree(p);\n", "b.cc": b"cudaFree(p);\n", "build/c.cc": b"cudaFree(p);\n"}
    results = port_sources(tree, Options(include=("a.cc", "build/")))
    assert [path for path, result in results.items() if result.data == b"musaFree(p);\n"] == ["a.cc", "build/c.cc"]


def test_exclude_option_wins() -> None:
    tree = {"a.cc": b"cudaFree(p);\n", "sub/b.cc": b"cudaFree(p);\n"}
    results = port_sources(tree, Options(include=("*.cc",), exclude=("sub/",)))
    assert results["sub/b.cc"].data == b"cudaFree(p);\n"
    assert results["a.cc"].data == b"musaFree(p);\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.cu", "a.mu"),
        ("a.cuh", "a.muh"),
        ("a.b.cu", "a.b.mu"),
        ("a.h", "a.h"),
        ("cuda/cuda_kernel.cc", "cuda/cuda_kernel.cc"),
        ("thrust/x.cuh", "thrust/x.cuh"),
    ],
)
def test_output_path(path: str, expected: str) -> None:
    assert port_sources({path: b"int x;\n"})[path].output_path == expected


def test_output_path_that_exists() -> None:
    """a.cu may not replace the project's own a.mu."""
    tree = {"a.cu": b"cudaFree(p);\n", "a.mu": b"musaFree(q);\n"}
    results = port_sources(tree)
    paths = [result.output_path for result in results.values()]
    assert len(set(paths)) == len(paths)
    assert results["a.mu"].data == b"musaFree(q);\n"
    assert results["a.cu"].data == b"musaFree(p);\n"


# ---- members that tensors have too ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        # torch comes in through a header of the project
        (
            '#include "mine.h"\nvoid f(at::Tensor t) { t.is_cuda(); }\n',
            '#include "mine.h"\nvoid f(at::Tensor t) { t.is_privateuseone(); }\n',
            ("C2 info 2",),
        ),
        (
            "bool g(const torch::Tensor& t) { return t.device().is_cuda(); }\n",
            "bool g(const torch::Tensor& t) { return t.device().is_privateuseone(); }\n",
            ("C2 info 1",),
        ),
        # nothing tells what it is
        ("bool g(const Tensor& t) { return t.is_cuda(); }\n", None, ("C7 info 1",)),
        ("// at::Tensor\nbool g(const Tensor& t) { return t.is_cuda(); }\n", None, ("C7 info 2",)),
        # the project has such a member
        ("struct T { bool is_cuda(); };\nbool g(T t) { return t.is_cuda(); }\n", None, ()),
        (
            "struct T { bool is_cuda(); };\nbool g(T t, at::Tensor u) { return t.is_cuda(); }\n",
            None,
            ("C17 info 2",),
        ),
        ("int g(T t) { return t.is_cuda; }\n", None, ()),
    ],
)
def test_members_of_tensors(check: Check, before: str, after: str | None, findings: tuple[str, ...]) -> None:
    check({"a.cpp": before}, {"a.cpp": after or before}, findings)
