"""Host code around kernels: H18 and H20 (facts of the device), H22 to H26."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Finds, Port, Rewrites

TORCH = "# was written for cuda\nimport torch\nimport torch_musa\n"
PROPERTIES = "torch.cuda.get_device_properties(0)"

# ---- H18, H20 ----------------------------------------------------------------------------------------------------


def test_shared_memory(rewrites: Rewrites) -> None:
    """Programs ask for it in files without a kernel."""
    before = f"def size():\n    p = {PROPERTIES}\n    return p.shared_memory_per_multiprocessor // 2\n"
    after = "def size():\n    p = torch.musa.get_device_properties(0)\n    return 196608 // 2\n"
    rewrites(before, after, head=TORCH, arch=("mp_31",))
    rewrites(before, after, findings=["H18 warning"], head=TORCH)


def test_shared_memory_of_an_unknown_architecture_is_left(port: Port) -> None:
    result = port(f"n = {PROPERTIES}.shared_memory_per_multiprocessor\n", head=TORCH, arch=("mp_22",))
    assert b"shared_memory_per_multiprocessor" in result.data
    assert "P35" in {finding.rule for finding in result.findings}


@pytest.mark.parametrize(
    "text", ["n = config.shared_memory_per_multiprocessor\n", "shared_memory_per_multiprocessor = 1\n"]
)
def test_other_fields_of_that_name_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text, head=TORCH)


def test_multi_processors_keep_their_name(rewrites: Rewrites) -> None:
    before = f"n = {PROPERTIES}.multi_processor_count\n"
    rewrites(before, before.replace("cuda", "musa"), ["P1"], head=TORCH)


@pytest.mark.parametrize(
    "call", ["nvcc.get_target_compute_version(t)", "nvcc.parse_compute_version(v)", "nvcc.have_fp8(v)"]
)
def test_compute_versions(rewrites: Rewrites, call: str) -> None:
    before = f"from tilelang.contrib import nvcc\nx = {call}\n"
    after = f"from tilelang.contrib import mcc as nvcc\nx = {call}\n"
    rewrites(before, after, findings=["H20 warning"])


# ---- H22 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'assert "__syncthreads()" in source\n',
        "assert '__syncthreads();' not in kernel.get_kernel_source()\n",
        'assert source.count("__syncthreads()") == 2\n',
    ],
)
def test_expected_barriers(rewrites: Rewrites, text: str) -> None:
    rewrites(text, text.replace("__syncthreads()", "__syncthreads_lm()"), ["H22"])


@pytest.mark.parametrize("word", ["wgmma", "mma.sync", "tl::tma_load", "__align__(1024)", "uint4", "ldmatrix"])
def test_other_expectations_are_reported(finds: Finds, word: str) -> None:
    finds(f'x = 1\nassert "{word}" in source\n', "H22", "warning 2")


@pytest.mark.parametrize("text", ['x = "__syncthreads()"\n', '"""__syncthreads() in source"""\n', 'f("wgmma")\n'])
def test_other_texts_stay(finds: Finds, text: str) -> None:
    finds(text, "H22")


# ---- H23, H24 ----------------------------------------------------------------------------------------------------


def test_runtime_names(rewrites: Rewrites) -> None:
    before = (
        'f = tvm.get_global_func("__tvm_cuda_stream_create")\nd = "cuda.kernels_output_dir"\n'
        'n = attribute("cudaDevAttrMaxSharedMemoryPerBlockOptin")\n'
    )
    after = (
        'f = tvm.get_global_func("__tvm_musa_stream_create")\nd = "musa.kernels_output_dir"\n'
        'n = attribute("musaDevAttrMaxSharedMemoryPerBlockOptin")\n'
    )
    rewrites(before, after, ["H23"], ["H23 warning"])


@pytest.mark.parametrize("name", ["tilelang_callback_cuda_compile", "target.build.tilelang_cuda_without_compile"])
def test_functions_of_the_compiler(rewrites: Rewrites, name: str) -> None:
    rewrites(f'f = get("{name}")\n', f'f = get("{name.replace("cuda", "musa")}")\n', ["H23"], ["H23 warning"])


@pytest.mark.parametrize("text", ['x = "see __tvm_cuda_stream_create"\n', 'x = "cudaSomethingElse"\n'])
def test_other_names_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


def test_timing_by_graphs(rewrites: Rewrites) -> None:
    before = "t = profiler.do_bench(f, warmup=25, backend='cudagraph')\n"
    rewrites(before, before.replace("cudagraph", "event"), ["H24"], ["H24 warning"])


def test_captures(rewrites: Rewrites) -> None:
    before = "g = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    kernel(a)\n"
    result = rewrites(before, before.replace("CUDA", "MUSA").replace("cuda", "musa"))
    assert [finding.line - 5 for finding in result.findings if finding.rule == "H24"] == [1, 2]


@pytest.mark.parametrize("text", ["t = do_bench(f, backend='event')\n", "t = run(f, backend='cudagraph')\n"])
def test_other_timing_stays(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


# ---- H25, H26 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.zeros(4, dtype=torch.float8_e4m3fn)", "torch.zeros(4, dtype=torch.float32).to(torch.float8_e4m3fn)"),
        ("torch.full((2, 2), 1.0, device=d, dtype=torch.float8_e5m2)",
         "torch.full((2, 2), 1.0, device=d, dtype=torch.float32).to(torch.float8_e5m2)"),
        ("torch.ones_like(y, dtype=torch.float8_e4m3fn)[0]",
         "torch.ones_like(y, dtype=torch.float32).to(torch.float8_e4m3fn)[0]"),
    ],
)  # fmt: skip
def test_filled_fp8(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(f"x = {before}\n", f"x = {after}\n", ["H25"])


def test_filled_fp8_under_other_imports(rewrites: Rewrites) -> None:
    before = "from torch import zeros, float8_e4m3fn as e4m3\nx = zeros(4, dtype=e4m3)\n"
    after = "from torch import zeros, float8_e4m3fn as e4m3\nx = zeros(4, dtype=torch.float32).to(e4m3)\n"
    rewrites(before, after, ["H25"])


def test_fp8_without_tilelang_stays(finds: Finds) -> None:
    finds("x = torch.zeros(4, dtype=torch.float8_e4m3fn)\n", "H25", head=TORCH)


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.empty(4, dtype=torch.float8_e4m3fn)\n",
        "x = torch.zeros(4, dtype=torch.bfloat16)\n",
        "x = torch.zeros(4, dtype=dtype)  # float8\n",
        "x = other.zeros(4, dtype=torch.float8_e4m3fn)\n",
    ],
)
def test_other_tensors_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


FP8 = "x = torch.empty(4, dtype=torch.float8_e4m3fn)\ny = a.to(torch.float8_e5m2)\nz = x.view(torch.float8_e4m3fn)\n"


@pytest.mark.parametrize("use", ["w = x[0]", "y[i] = 1", "z[0]", "assert (x == 0).all()", "ok = a < z"])
def test_fp8_that_is_indexed_or_compared(finds: Finds, use: str) -> None:
    finds(f"{FP8}{use}\n", "H25", "warning 4")


@pytest.mark.parametrize("use", ["w = a[0]", "n = x.shape[0]", "x.float()[0]", "y.view(torch.uint8) == b", "x is None"])
def test_other_uses_of_fp8(finds: Finds, use: str) -> None:
    finds(f"{FP8}{use}\n", "H25")


def test_what_may_be_fp8_or_not(finds: Finds) -> None:
    finds("x = a.half()\nif f:\n    x = a.to(torch.float8_e5m2)\ny = x[0]\n", "H25")


def test_unsigned(finds: Finds) -> None:
    text = "x = y.to(torch.uint32)\nz = y.view(dtype=torch.uint16)\nt = torch.uint8\n"
    finds(text, "H26", "warning 1", "warning 2", head=TORCH)
    finds("t = {'e5m6': torch.uint32, torch.uint16: 1}\n", "H26", "warning 1")


@pytest.mark.parametrize(
    "text",
    [
        "ok = y.dtype == torch.uint32\n",
        "ok = y.dtype in (torch.uint16, torch.uint32)\n",
        "names = {torch.uint16: 'u16', 'u32': torch.uint32}\n",
    ],
)
def test_types_that_are_only_named(finds: Finds, text: str) -> None:
    finds(text, "H26", head=TORCH)
