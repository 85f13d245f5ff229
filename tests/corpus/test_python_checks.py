"""The checks of ported Python find planted faults. (These tests need no download.)"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from . import python_checks as checks
from .port import Port
from .python_names import renamed, same
from .python_pairs import Pairs, changed
from .python_places import kinds
from .python_source import PythonSource, text_of
from .python_strings import is_legal

BEFORE = {
    "model.py": '''"""Runs on "cuda"."""
import os

import torch
from torch.cuda.amp import autocast

os.environ["CUDA_VISIBLE_DEVICES"] = "0"


def run(x, device="cuda"):  # on "cuda"
    """The device is "cuda"."""
    torch.cuda.synchronize()
    print("cuda:0", {"cuda": 1})
    torch.cuda.nvtx.range_push("cuda is busy")
    with autocast():
        return x.to("cuda").cuda()
''',
    "late.py": """import typing

if typing.TYPE_CHECKING:
    import torch
    import torch_musa


def other():
    import torch_musa


def run():
    import torch

    return torch.ones(1, device="cuda")
""",
    "kernel.py": """from tilelang import PassConfigKey, jit
import tilelang.language as T


@jit(pass_configs={PassConfigKey.TL_PTXAS_REGISTER_USAGE_LEVEL: 10, PassConfigKey.TL_DISABLE_WGMMA: True})
def program():
    @T.prim_func
    def kernel(a: T.Tensor[(4,), "float32"]):
        T.pdl_sync()
        T.call_extern("f", a)
        p = T.alloc_fragment((64, 64), "float16")
        T.gemm(p, a, o)

    return kernel
""",
    "plain.py": "def f(x):\n    return 2 * x\n",
    "old.py": 'print "cuda"\n',
}
CHANGES = [
    ("model.py", "autocast\n", "autocast\nimport torch_musa\n"),
    ("model.py", "torch.cuda.amp", "torch_musa.core.amp"),
    ("model.py", "CUDA_VISIBLE_DEVICES", "MUSA_VISIBLE_DEVICES"),
    ("model.py", 'device="cuda"', 'device="musa"'),
    ("model.py", "torch.cuda.synchronize", "torch.musa.synchronize"),
    ("model.py", 'x.to("cuda").cuda()', 'x.to("musa").musa()'),
    ("kernel.py", "PassConfigKey.TL_PTXAS_REGISTER_USAGE_LEVEL: 10, ", ""),
    ("kernel.py", "        T.pdl_sync()\n", ""),
    ("kernel.py", "gemm(p,", "gemm(p_shared,"),
    (
        "kernel.py",
        "        T.gemm",
        "        p_shared = T.alloc_shared((64, 64), 'float16')\n        T.copy(p, p_shared)\n        T.gemm",
    ),
    ("late.py", 'device="cuda"', 'device="musa"'),
    ("late.py", "    import torch\n\n", "    import torch\n    import torch_musa\n\n"),
]
#: Lines of model.py with a string and a name that are left.
FINDINGS = (13, 14)


@pytest.fixture
def small(tmp_path: Path) -> Port:
    """A good port, made by hand."""
    port = Port(tmp_path / "source", tmp_path / "output", {"files": [entry(name) for name in BEFORE]})
    for root in (port.source, port.output):
        root.mkdir()
        for name, text in BEFORE.items():
            (root / name).write_text(text)
    for name, old, new in CHANGES:
        change(port, old, new, name)
    port.files["model.py"]["findings"] = [{"line": line} for line in FINDINGS]
    return port


def entry(name: str) -> dict[str, Any]:
    return {"path": name, "output_path": name, "language": "python", "status": "ported", "findings": []}


def change(port: Port, old: str, new: str, name: str = "model.py") -> None:
    path = port.output / name
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


def violations(port: Port) -> dict[str, list[str]]:
    """What each check says, of those that say something."""
    found = checks.files(port)
    every = (
        checks.changed_without_reason,
        checks.changed_texts,
        checks.changed_shapes,
        checks.changed_names,
        checks.changed_strings,
        checks.missing_imports,
        checks.silent_names,
        checks.silent_strings,
    )
    told = {check.__name__: list(check(found)) for check in every}
    return {name: lines for name, lines in told.items() if lines}


def test_a_good_port_passes(small: Port) -> None:
    assert violations(small) == {}
    assert [file.path for file in checks.files(small)] == ["model.py", "late.py", "kernel.py", "plain.py"]


def test_a_file_that_does_not_parse(small: Port) -> None:
    change(small, "return 2", "return return 2", "plain.py")
    assert list(checks.broken(checks.files(small))) == ["plain.py: does not parse any more"]


def test_a_file_without_cuda(small: Port) -> None:
    change(small, "2 * x", "2  * x", "plain.py")
    assert violations(small) == {"changed_without_reason": ["plain.py: changed"]}


def test_a_comment(small: Port) -> None:
    change(small, '# on "cuda"', '# on "musa"')
    assert violations(small) == {"changed_texts": ["model.py: comments changed"]}


@pytest.mark.parametrize("text", ['"""Runs on "{}"."""', '"""The device is "{}"."""'])
def test_a_docstring(small: Port, text: str) -> None:
    change(small, text.format("cuda"), text.format("musa"))
    assert violations(small).keys() == {"changed_texts", "changed_strings"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('print("cuda:0"', 'print("musa:0"', "'cuda:0' became 'musa:0'"),
        ('{"cuda": 1}', '{"musa": 1}', "'cuda' became 'musa'"),
        ('"cuda is busy"', '"musa is busy"', "'cuda is busy' became 'musa is busy'"),
        ('device="musa"', 'device="musa:0"', "'cuda' became 'musa:0' as device"),
        ('"MUSA_VISIBLE_DEVICES"', '"MUSA_DEVICES"', "'CUDA_VISIBLE_DEVICES' became 'MUSA_DEVICES' as environment"),
    ],
)
def test_a_string(small: Port, old: str, new: str, message: str) -> None:
    change(small, old, new)
    lines = violations(small)["changed_strings"]
    assert len(lines) == 1
    assert lines[0].endswith(message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("torch.musa.synchronize", "torch.musa.wait", "torch.cuda.synchronize became torch.musa.wait"),
        ("torch.musa.synchronize", "torch_musb.synchronize", "torch.cuda.synchronize became torch_musb.synchronize"),
        ('x.to("musa").musa()', 'x.to("musa").gpu()', "x.to('cuda').cuda became x.to('musa').gpu"),
        ("with autocast", "with musacast", "autocast became musacast"),
        ("from torch_musa.core.amp import autocast", "", "the import of torch.cuda.amp.autocast is gone"),
        ("amp import autocast", "amp import autocast as cast", "autocast is not imported any more"),
        ("import os\n", "import os, musa_runtime\n", "musa_runtime is imported"),
    ],
)
def test_a_name(small: Port, old: str, new: str, message: str) -> None:
    change(small, old, new)
    assert any(line.endswith(message) for line in violations(small)["changed_names"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def run(x, ", "def musa_run(x, "),
        ("    torch.musa.synchronize()\n", ""),
        ("    torch.musa.synchronize()\n", "    torch.musa.synchronize()\n    torch.musa.synchronize()\n"),
        ('"cuda": 1', '"cuda": 2'),
        ("print(", "print(1, "),
    ],
)
def test_a_statement(small: Port, old: str, new: str) -> None:
    change(small, old, new)
    assert "changed_shapes" in violations(small)


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ('"f"', '"g"', "changed_strings"),
        ('(4,), "float32"', '(4,), "float16"', "changed_strings"),
        ("def kernel(", "def musa_kernel(", "changed_shapes"),
        ('        T.call_extern("f", a)\n', "        pass\n", "changed_shapes"),
        ('"f", a)', '"f", a)\n        T.copy(a, a)', "changed_shapes"),
        ("p_shared = T.alloc_shared((64, 64)", "p_shared = T.alloc_shared((32, 64)", "changed_shapes"),
        ("copy(p, p_shared)", "copy(a, p_shared)", "changed_shapes"),
        ("gemm(p_shared, a", "gemm(p_shared, p_shared", "changed_names"),
        ("PassConfigKey.TL_DISABLE_WGMMA: True", "", "changed_shapes"),
        ("return kernel", "return None", "changed_shapes"),
    ],
)
def test_a_kernel(small: Port, old: str, new: str, check: str) -> None:
    change(small, old, new, "kernel.py")
    assert violations(small).keys() == {check}


@pytest.mark.parametrize(("name", "is_known"), [("musa", True), ("gpu", False)])
def test_a_method(small: Port, name: str, is_known: bool) -> None:
    """An override of torch's method goes along with its calls."""
    for root, method in ((small.source, "cuda"), (small.output, name)):
        path = root / "model.py"
        path.write_text(f"{path.read_text()}\n\nclass Net(Base):\n    def {method}(self): ...\n")
    assert violations(small).get("changed_names", []) == (
        [] if is_known else ["model.py:20: def cuda(self): ...: cuda became gpu"]
    )


def test_lines_that_a_finding_covers(small: Port) -> None:
    """A branch that is left for another one is named once, with its lines."""
    small.files["model.py"]["findings"] = [{"line": 12, "message": "lines 12 to 14 are left alone: x"}]
    change(small, "torch.musa.synchronize", "torch.cuda.synchronize")
    assert "silent_names" not in violations(small)


def test_a_missing_import(small: Port) -> None:
    change(small, "import torch_musa\n", "")
    change(small, "from torch_musa.core.amp import autocast", "from torch.cuda.amp import autocast")
    assert violations(small)["missing_imports"] == ["model.py: does not import torch_musa, and has 'musa'"]


def test_a_missing_import_in_a_function(small: Port) -> None:
    """Neither the one for type checkers nor the one of another function counts."""
    change(small, "    import torch\n    import torch_musa\n\n    return", "    import torch\n\n    return", "late.py")
    assert violations(small) == {"missing_imports": ["late.py: does not import torch_musa, and has 'musa'"]}


def test_names_that_were_missed(small: Port) -> None:
    change(small, "torch.musa.synchronize", "torch.cuda.synchronize")
    change(small, "from torch_musa.core.amp", "from torch.cuda.amp")
    lines = violations(small).pop("silent_names")
    assert {line.split(":")[1] for line in lines} == {"12", "5", "15"}


def test_a_name_that_is_left_needs_a_finding(small: Port) -> None:
    small.files["model.py"]["findings"] = [{"line": 13}]
    assert [line.rsplit(": ", 1)[1] for line in violations(small)["silent_names"]] == ["torch.cuda.nvtx.range_push"]


def test_a_device_that_is_left_needs_a_finding(small: Port) -> None:
    small.files["model.py"]["findings"] = [{"line": 14}]
    change(small, 'device="musa"', 'device="cuda"')
    lines = violations(small).pop("silent_strings")
    assert {line.split(":")[1] for line in lines} == {"10", "13"}
    assert not any("busy" in line for line in lines)


# ---- what a string is --------------------------------------------------------------------------------------------


def kinds_of(text: str) -> set[str]:
    """The kinds of the string in a source that contains cuda, CUDA, nccl or nvcc."""
    source = PythonSource(f"import torch, os\nimport torch.distributed as dist\n{text}\n".encode())
    words = ("cuda", "CUDA", "nccl", "nvcc", ".cu")
    found = [node for node in ast.walk(source.module) if any(word in (text_of(node) or "") for word in words)]
    return kinds(source, found[0])


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("device", 'f(device="cuda")'),
        ("device", 'f(map_location={"cpu": "cuda:0"})'),
        ("device", 'torch.device("cuda" if x else "cpu")'),
        ("device", 'x.to(f"cuda:{i}")'),
        ("device", 'torch.cuda.set_device("cuda:1")'),
        ("device", 'f(execution_device="cuda")'),
        ("device", 'f(device_map={"": "cuda:0"})'),
        ("device", 'torch.device("cuda:%d" % i)'),
        ("device", 'my_dev = "cuda:{}".format(i)'),
        ("device", 'device = "cuda:" + str(i)'),
        ("device", 'self.device = os.environ.get("DEV", "cuda")'),
        ("device", 'x.device.type == "cuda"'),
        ("device", 'x.device.type in ("cpu", "cuda")'),
        ("device", '"cuda" in str(device)'),
        ("device", 'str(device).startswith("cuda")'),
        ("device", 'def f(device="cuda"): pass'),
        ("device", 'def f(*, dev: str = "cuda"): pass'),
        ("device", 'for device in ("cpu", "cuda"): pass'),
        ("device", 'p.add_argument("--device", default="cuda", choices=["cpu", "mps"])'),
        ("device", 'config = {"device": "cuda"}'),
        ("device", 'def get_device():\n    return "cuda"'),
        ("backend", 'dist.init_process_group("nccl")'),
        ("backend", 'f(backend="cpu:gloo,cuda:nccl")'),
        ("backend", 'dist.get_backend() == "nccl"'),
        ("environment", 'os.environ["CUDA_VISIBLE_DEVICES"]'),
        ("environment", 'os.getenv("CUDA_HOME")'),
        ("environment", 'os.environ.pop("CUDA_HOME", None)'),
        ("environment", 'run(env={"CUDA_HOME": x})'),
        ("environment", 'if "CUDA_HOME" not in os.environ: pass'),
        ("flag", 'CUDAExtension(extra_compile_args={"nvcc": []})'),
        ("flag", 'CUDAExtension(extra_compile_args={"x": ["-DUSE_CUDA"]})'),
        ("library", 'ctypes.CDLL("libcudart.so")'),
        ("library", 'find_loaded_library("libcudart")'),
        ("function", 'getattr(lib, "cudaFree")'),
        ("column", 'f(sort_by="cuda_time_total")'),
        ("name", 'mock.patch("torch.cuda.is_available")'),
        ("dispatch", 'lib.impl("f", f, "CUDA")'),
        ("source", 'CUDAExtension(sources=["a.cu"])'),
        ("kernel", 'load_inline(cuda_sources="__global__ void cuda() {}")'),
        ("target", 'tilelang.compile(f, target="cuda")'),
        ("target", 'if target.kind.name == "cuda": pass'),
        ("target", 'Target({"kind": "cuda"})'),
        ("program", 'shutil.which("nvcc")'),
        ("program", 'subprocess.run(["nvcc", "--version"])'),
        ("folder", 'root / "bin" / "nvcc"'),
        ("source", 'folder / "kernel.cu"'),
        ("flag", 'flags = ["-DUSE_CUDA"]\nCUDAExtension(extra_compile_args={"nvcc": flags})'),
        ("flag", 'flags.append("-DUSE_CUDA")\nCUDAExtension(extra_compile_args={"nvcc": ["-O3"] + flags})'),
        ("kernel", 'TEXT = "__global__ void cuda() {}"\nload_inline(cuda_sources=TEXT)'),
        ("function", 'lib = ctypes.CDLL(x)\ntable = [Function("cudaFree", [])]'),
    ],
)
def test_kinds(kind: str, text: str) -> None:
    assert kind in kinds_of(text)


@pytest.mark.parametrize(
    "text",
    [
        '"cuda"',
        'print("cuda")',
        'torch.cuda.nvtx.range_push("cuda")',
        'f(device_map={"cuda": 1})',
        'x = "cuda"',
        'f(name="cuda")',
        'x == "cuda"',
        'd["cuda"]',
        'device = {"cuda": 1}',
        'device = f("cuda")',
        'device = x if y == "cuda" else z',
        'device = names["cuda"]',
        'raise ValueError("cuda")',
        'assert x.device, "cuda"',
        'mylib.device("cuda")',
        'f(device=g("cuda"))',
        'print("kernel.cu")',
        'names = ["cuda"]\ntorch.device(names)',
        'table = [Entry("cudaFree", [])]',
        'x["CUDA_HOME"]',
        '("a" + "cuda") == device',
        'def f(x="cuda", device=None): pass',
        'p.add_argument("--device", help="cuda")',
    ],
)
def test_text_is_of_no_kind(text: str) -> None:
    assert kinds_of(text) == set()


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("device", "cuda", "musa"),
        ("device", "cuda:1", "musa:1"),
        ("device", "cuda:", "musa:"),
        ("backend", "nccl", "mccl"),
        ("backend", "cpu:gloo,cuda:nccl", "cpu:gloo,musa:mccl"),
        ("environment", "CUDA_VISIBLE_DEVICES", "MUSA_VISIBLE_DEVICES"),
        ("column", "self_cuda_time_total", "self_musa_time_total"),
        ("name", "torch.cuda.is_available", "torch.musa.is_available"),
        ("function", "cudaFree", "musaFree"),
        ("library", "libcudart.so", "libmusart.so"),
        ("library", "cudart", "musart"),
        ("library", "libcudart", "libmusart"),
        ("dispatch", "CUDA", "PrivateUse1"),
        ("source", "a.cu", "a.mu"),
        ("target", "cuda -arch=sm_90", "musa -arch=mp_31"),
        ("flag", "nvcc", "mcc"),
        ("program", "nvcc", "mcc"),
        ("target", "sm_80", "mp_22"),
        ("folder", "bin/nvcc", "bin/mcc"),
        ("kernel", 'f("cuda"); cudaFree(0);', 'f("cuda"); musaFree(0);'),
    ],
)
def test_legal_changes(kind: str, old: str, new: str) -> None:
    assert is_legal(kind, old, new)
    assert not is_legal(kind, old, new + "x(1)")
    assert not is_legal(kind, f"bar{old}", new)


# ---- the means ---------------------------------------------------------------------------------------------------


def test_names_of_the_tables() -> None:
    assert renamed("torch.cuda.Stream.priority_range") == "torch.musa.Stream.priority_range"
    assert renamed("torch.utils.cpp_extension.CUDAExtension") == "torch_musa.utils.musa_extension.MUSAExtension"
    assert renamed("tilelang.contrib.nvcc.have_fp8") == "tilelang.contrib.mcc.have_fp8"
    assert [renamed(name) for name in ("torch.cuda.nvtx.mark", "torch.cuda.not_there", "mylib.cuda")] == [None] * 3
    assert same("torch_musa.core.amp.autocast", "torch.musa.amp.autocast")
    assert not same("torch_musa.core.amp.autocast", "torch.cuda.amp.autocast")


def test_names_mean_what_was_imported() -> None:
    source = PythonSource(
        b"import torch.distributed as dist\nimport torch.nn\nfrom torch import cuda as c\ns = c.Stream\n"
    )
    assert source.meanings("dist.new_group") == {"torch.distributed.new_group"}
    assert source.meanings("torch.cuda") == {"torch.cuda"}
    assert source.meanings("s.query") == {"torch.cuda.Stream.query"}
    assert source.meanings("unknown.cuda") == set()


def test_pairs_ignore_imports() -> None:
    before = PythonSource(b'import a\nx = f(a.b.c, "1", k=2)\n')
    after = PythonSource(b'import c\nfrom d import (e)\nx = f(a.b.d, "2", j=2)\n')
    pairs = Pairs(before, after)
    assert pairs.mismatches == []
    assert [ast.unparse(pair.new) for pair in changed(pairs.names)] == ["a.b.d"]
    assert [pair.new.value for pair in changed(pairs.strings)] == ["2"]
    assert [pair.new.arg for pair in changed(pairs.keywords)] == ["j"]


@pytest.mark.parametrize("after", ["x = g(1)", "x = f(2)", "x = f(1, 2)", "x = f(1); y", "x: int = f(1)", "x = f(1.0)"])
def test_pairs_see_other_shapes(after: str) -> None:
    pairs = Pairs(PythonSource(b"x = f(1)"), PythonSource(after.encode()))
    assert pairs.mismatches or list(changed(pairs.names))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["nvcc", "-Xcompiler", "-Wall", "-o", "a"], ["mcc", "-Wall", "-o", "a"], True),
        (["-gencode", "arch=compute_90", "-O3"], ["--offload-arch=mp_31", "-O3"], True),
        (["-O3", "a", "b"], ["-O3", "a"], False),
        (["-O3", "a"], ["-O3", "b"], False),
        (["a", "-O3"], ["b", "-O3"], False),
        (["a"], ["a", "b"], False),
    ],
)
def test_lists_of_flags(old: list[str], new: list[str], expected: bool) -> None:
    assert checks.is_flag_list(list(map(repr, old)), list(map(repr, new))) is expected


def test_lines_of_a_statement() -> None:
    source = PythonSource(b"@d(1)\ndef f(\n    a=2,\n):\n    g(\n        3\n    )\n")
    numbers = {node.value: node for node in ast.walk(source.module) if isinstance(node, ast.Constant)}
    assert [list(source.lines(numbers[number])) for number in (1, 2, 3)] == [[1, 2, 3, 4], [1, 2, 3, 4], [5, 6, 7]]
