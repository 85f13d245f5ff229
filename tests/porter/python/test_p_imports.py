"""Imports: P2 (torch.cuda as a module), P3 (names from below it), P13 (nccl), P15 (extensions), P27 (pynvml)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Execute, Notices, Port, Rewrites

HEAD, MUSA = "import torch\n", "import torch\nimport torch_musa\n"

# ---- P2 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import torch.cuda as tc\ntc.synchronize()\nx = tc.Stream\n",
            "import torch_musa as tc\ntc.synchronize()\nx = tc.Stream\n",
        ),
        (
            "from torch import cuda\ncuda.empty_cache()\nif cuda.is_available(): pass\n",
            "import torch_musa as cuda\ncuda.empty_cache()\nif cuda.is_available(): pass\n",
        ),
        (
            "from torch import cuda as tc\ntc.empty_cache()\n",
            "import torch_musa as tc\ntc.empty_cache()\n",
        ),
        (
            "def f():\n    from torch import cuda\n    return cuda.device_count()\n",
            "def f():\n    import torch_musa as cuda\n    return cuda.device_count()\n",
        ),
        (
            "try:\n    import torch.cuda as tc\nexcept ImportError:\n    tc = None\n",
            "try:\n    import torch_musa as tc\nexcept ImportError:\n    tc = None\n",
        ),
        ("import torch.cuda.amp as amp\namp.autocast()\n", "import torch_musa.core.amp as amp\namp.autocast()\n"),
        ("import torch.cuda.nccl as n\nn.version()\n", "import torch_musa.core.mccl as n\nn.version()\n"),
        ("import torch.cuda.memory as m\n", "import torch_musa.core.memory as m\n"),
        ("import torch.cuda.streams as s\n", "import torch_musa.core.stream as s\n"),
        ("import torch.cuda.nccl\n", "import torch, torch_musa\n"),
    ],
)
def test_module(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, ["P2"])


RUNS = {
    "plain": "import torch.cuda\ntorch.cuda.synchronize()\n",
    "plain-after-torch": "import torch\nimport torch.cuda\ntorch.cuda.synchronize()\nx = torch.ones(1)\n",
    "plain-before-torch": "import torch.cuda\nimport torch\ntorch.cuda.synchronize()\nx = torch.ones(1)\n",
    "plain-uses-torch": "import torch.cuda\nx = torch.ones(1)\ntorch.cuda.synchronize()\n",
    "plain-amp": "import torch.cuda.amp\nwith torch.cuda.amp.autocast(): pass\ntorch.cuda.synchronize()\n",
    "several": "import os, torch.cuda, sys\ntorch.cuda.synchronize()\nos.getcwd(), sys.path\n",
    "several-as": "import os, torch.cuda as tc, sys\ntc.synchronize()\nos.getcwd(), sys.path\n",
    "with-nn": "from torch import cuda, nn\ncuda.synchronize()\nnn.Linear(1, 1)\n",
    "with-nn-around": "from torch import nn, cuda as c, autograd\nc.synchronize()\nnn.Linear, autograd.grad\n",
    "in-brackets": "from torch import (\n    nn,  # modules\n    cuda,  # cuda\n)\ncuda.synchronize()\nnn.Linear\n",
    "one-line": "import torch; import torch.cuda as tc; tc.synchronize()\n",
    "one-line-suite": "if True: from torch import cuda, nn\ncuda.synchronize()\nnn.Linear\n",
    "one-line-first": "from torch import nn, cuda; cuda.synchronize(); nn.Linear\n",
    "in-function": "def f():\n    from torch import nn, cuda\n    nn.Linear\n    cuda.synchronize()\nf()\n",
    "in-class": "class A:\n    from torch import cuda\n    cuda.synchronize()\n",
    "try": "try:\n    from torch import cuda, nn\nexcept ImportError:\n    pass\ncuda.synchronize()\n",
    "both-names": "import torch\nfrom torch import cuda\ntorch.cuda.empty_cache()\ncuda.synchronize()\n",
    "continued": "from torch import nn, \\\n    cuda\ncuda.synchronize()\n",
    "crlf": "from torch import cuda, nn\r\ncuda.synchronize()\r\nnn.Linear\r\n",
    "amp": "from torch.cuda import synchronize, amp\nsynchronize()\nwith amp.autocast(): pass\n",
    "amp-names": "from torch.cuda.amp import GradScaler as S, autocast\nS()\nwith autocast(): pass\n"
                 "from torch.cuda import synchronize\nsynchronize()\n",
    "amp-module": "from torch.cuda import amp as a\nwith a.autocast(): a.GradScaler()\n"
                  "from torch import cuda\ncuda.synchronize()\n",
    "in-brackets-amp": "from torch.cuda import (  # cuda\n    Stream,  # a stream\n    synchronize,\n)\n"
                       "synchronize()\nStream()\n",
    "moved-modules": "from torch.cuda.random import manual_seed\nfrom torch.cuda.streams import Stream, Event\n"
                     "from torch.cuda import synchronize as s\ns()\nStream()\nmanual_seed(0)\n",
    "module-alias": "import torch.cuda.amp as amp\nwith amp.autocast(): pass\nfrom torch import cuda\n"
                    "cuda.synchronize()\n",
    "modules-of-modules": "import torch.cuda as c\nc.synchronize()\n"
                          "import torch.cuda.nccl as n, torch.cuda.memory as m, torch.cuda.graphs as g\n"
                          "n.version(), m.memory_stats(), g.graph\n"
                          "import torch.cuda.amp.grad_scaler as s, torch.cuda.streams as t, torch.cuda.random as r\n"
                          "s.GradScaler(), t.Stream(), r.manual_seed(0)\n",
    "from-modules-of-modules": "from torch.cuda import synchronize as f\nf()\n"
                               "from torch.cuda.amp.grad_scaler import GradScaler\nGradScaler()\n"
                               "from torch.cuda.nccl import version\nversion()\n"
                               "from torch.cuda.memory import memory_stats\nmemory_stats()\n"
                               "from torch.cuda.graphs import graph\ngraph()\n"
                               "from torch.cuda import nccl, memory as m\nnccl.version(), m.memory_stats()\n",
    "plain-nccl": "import torch.cuda.nccl\ntorch.cuda.nccl.version()\ntorch.cuda.synchronize()\n",
}  # fmt: skip


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS)
def test_imports_still_run(port: Port, execute: Execute, text: str) -> None:
    """Every name that the program bound is bound afterwards, and the call ends in torch_musa."""
    calls = execute(port(text)).calls
    assert "torch_musa.synchronize" in calls


def test_renamed_class_is_imported_under_its_old_name_or_renamed(port: Port, execute: Execute) -> None:
    calls = execute(port("from torch.cuda import CUDAGraph, graph\ng = CUDAGraph()\nwith graph(g): pass\n")).calls
    assert calls == ["torch_musa.MUSAGraph", "torch_musa.graph"]


# ---- P3 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from torch.cuda import amp\n", "from torch_musa import amp\n"),
        ("from torch.cuda import amp as a\n", "from torch_musa import amp as a\n"),
        ("from torch.cuda.amp import autocast\n", "from torch_musa.core.amp import autocast\n"),
        (
            "from torch.cuda.amp import autocast, GradScaler\n",
            "from torch_musa.core.amp import autocast, GradScaler\n",
        ),
        (
            "from torch.cuda.amp import (\n    autocast as ac,\n    GradScaler,  # cuda\n)\n",
            "from torch_musa.core.amp import (\n    autocast as ac,\n    GradScaler,  # cuda\n)\n",
        ),
        ("from torch.cuda import Stream, Event as E\n", "from torch_musa import Stream, Event as E\n"),
        ("def f():\n\tfrom torch.cuda import Stream\n", "def f():\n\tfrom torch_musa import Stream\n"),
        (
            "try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    autocast = None\n",
            "try:\n    from torch_musa.core.amp import autocast\nexcept ImportError:\n    autocast = None\n",
        ),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch.cuda import Stream\n",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch_musa import Stream\n",
        ),
    ],
)
def test_names(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, ["P3"])


def test_names_without_a_counterpart_stay(port: Port, rewrites: Rewrites) -> None:
    result = rewrites("from torch.cuda import nvtx\n")
    assert "error" in {finding.severity.value for finding in result.findings}
    result = rewrites("from torch.cuda import frobnicate\nfrobnicate()\n")
    assert result.findings
    result = port("from torch.cuda import Stream, utilization\ns = Stream()\nu = utilization()\n")
    assert b"from torch.cuda import" in result.data
    assert b"utilization" in result.data
    assert "error" in {finding.severity.value for finding in result.findings}


@pytest.mark.parametrize(
    "text",
    ["from torch.cuda import *\nsynchronize()\n", "from torch.cuda.nccl import version\n",
     "from torch.cuda.memory import _snapshot\n", "from torch.cuda._utils import _get_device_index\n",
     "import torch.cuda.nccl as nccl\n", "import torch.cuda.comm\n",],
)  # fmt: skip
def test_imports_are_noticed(notices: Notices, text: str) -> None:
    notices(text, "torch.cuda")


@pytest.mark.parametrize(
    "text",
    [
        "from mylib.cuda import helper\nhelper()\n",
        "from mylib import cuda\ncuda.synchronize()\n",
        "import mylib.cuda\nmylib.cuda.synchronize()\n",
        "import mylib.cuda as cuda\ncuda.synchronize()\n",
        "from .cuda import synchronize\nsynchronize()\n",
        "from . import cuda\ncuda.synchronize()\n",
        "from .torch.cuda import amp\nfrom ..torch import cuda\n",
        "from torch_geometric.cuda import x\nimport torchvision.cuda\n",
        "import torch\nfrom mylib.cuda import amp\nfrom .torch.cuda import x\n",
        "import cuda_utils\nfrom cuda_utils import cuda\n",
        "import torch\nfrom torch.utils.cuda_thing import y\n",
    ],
)
def test_packages_of_the_project_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


# ---- P13 ---------------------------------------------------------------------------------------------------------

DIST = "import torch.distributed as dist\n"


@pytest.mark.parametrize(
    "text",
    [
        'dist.init_process_group("nccl")\n',
        "dist.init_process_group('nccl', rank=0, world_size=2)\n",
        'dist.init_process_group(backend="nccl", init_method="env://")\n',
        'g = dist.new_group(ranks, backend="nccl")\n',
        'dist.init_process_group(backend="cpu:gloo,cuda:nccl")\n',
        'dist.init_process_group("cuda:nccl,cpu:gloo")\n',
        'Trainer(backend="nccl")\n',
        'dist.init_process_group("nccl" if gpu else "gloo")\n',
        'dist.init_process_group(backend="nccl" if torch.cuda.is_available() else "gloo")\n',
        'dist.init_process_group(\n    "nccl",  # nccl\n    init_method="tcp://nccl",\n)\n',
    ],
)
def test_backends(rewrites: Rewrites, text: str) -> None:
    after = text.replace('"nccl', '"mccl').replace("'nccl", "'mccl").replace("cuda", "musa").replace(":nccl", ":mccl")
    result = rewrites(HEAD + DIST + text, MUSA + DIST + after)
    assert "P13" in {edit.rule for edit in result.edits}


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("from torch import distributed as dist\n", "dist.init_process_group"),
        ("from torch.distributed import init_process_group\n", "init_process_group"),
        ("import torch\n", "torch.distributed.init_process_group"),
        ("import torch.distributed\n", "torch.distributed.init_process_group"),
        ("from torch.distributed import init_process_group as start\n", "start"),
    ],
)
def test_backends_by_other_names(port: Port, execute: Execute, head: str, call: str) -> None:
    result = port(f'{head}{call}("nccl")\n{call}(backend="nccl")\n')
    assert result.data.decode().endswith(f'{call}("mccl")\n{call}(backend="mccl")\n')
    assert execute(result).has_musa


@pytest.mark.parametrize(
    "text",
    [
        'f("nccl")\n',
        'x = {"nccl": 1}["nccl"]\n',
        'print("nccl backend", "nccl")\n',
        'f(name="nccl", mode="nccl")\n',
        'open("nccl")\n',
        'dist.init_process_group("gloo")\nf(backend="nccl2")\nf(backend="my_nccl")\n',
        'from mylib import init_process_group\ninit_process_group("nccl")\n',
        'f(backend="inductor")  # nccl\n',
        'f(backend=f"{nccl}")\n',
    ],
)
def test_other_backends_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + DIST + text)


def test_backends_that_are_noticed(notices: Notices, rewrites: Rewrites) -> None:
    notices(HEAD + DIST + 'if dist.get_backend() == "nccl": pass\n', '"nccl"')
    notices(HEAD + DIST + "pg = dist.ProcessGroupNCCL(store, 0, 1)\n", "ProcessGroupNCCL")
    for text in ("ok = dist.is_nccl_available()\n", 'f = torch.compile(f, backend="cudagraphs")\n'):
        result = rewrites(HEAD + DIST + text)
        assert "error" in {finding.severity.value for finding in result.findings}


# ---- P15 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from torch.utils.cpp_extension import CUDAExtension\ne = CUDAExtension('cuda_ops', sources)\n",
            "from torch_musa.utils.musa_extension import MUSAExtension\ne = MUSAExtension('cuda_ops', sources)\n",
        ),
        (
            "from torch.utils.cpp_extension import BuildExtension, CUDAExtension\n"
            "setup(cmdclass={'build_ext': BuildExtension}, ext_modules=[CUDAExtension('a', s)])\n",
            "from torch_musa.utils.musa_extension import BuildExtension, MUSAExtension\n"
            "setup(cmdclass={'build_ext': BuildExtension}, ext_modules=[MUSAExtension('a', s)])\n",
        ),
        (
            "from torch.utils.cpp_extension import CUDA_HOME\nif CUDA_HOME is None: pass\n",
            "from torch_musa.utils.musa_extension import MUSA_HOME\nif MUSA_HOME is None: pass\n",
        ),
        (
            "from torch.utils.cpp_extension import load\nm = load('cuda_m', s, extra_cuda_cflags=['-O2'])\n",
            "from torch_musa.utils.musa_extension import load\nm = load('cuda_m', s, extra_musa_cflags=['-O2'])\n",
        ),
        (
            "from torch.utils.cpp_extension import load\nm = load(name='m', sources=s, with_cuda=True)\n",
            "from torch_musa.utils.musa_extension import load\nm = load(name='m', sources=s, with_musa=True)\n",
        ),
    ],
)
def test_extensions(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, imported="any")


EXTENSIONS = {
    "mixed": "from torch.utils.cpp_extension import CUDAExtension, CppExtension, BuildExtension\n"
             "CppExtension('a', [])\nCUDAExtension('b', [])\nBuildExtension.with_options(x=1)\n",
    "mixed-brackets": "from torch.utils.cpp_extension import (\n    CUDA_HOME,  # home\n    CUDAExtension as Ext,\n"
                      "    CppExtension,\n)\nCppExtension('a', [])\nExt('b', [], libraries=[CUDA_HOME])\n",
    "mixed-one-line": "import os; from torch.utils.cpp_extension import CUDAExtension, CppExtension; "
                      "CppExtension('a', []); CUDAExtension('b', [])\n",
    "mixed-suite": "if True: from torch.utils.cpp_extension import CppExtension, CUDAExtension\n"
                   "CppExtension('a', [])\nCUDAExtension('b', [])\n",
    "mixed-in-try": "try:\n    from torch.utils.cpp_extension import CppExtension, CUDAExtension\n"
                    "except ImportError:\n    raise\nCppExtension('a', [])\nCUDAExtension('b', [])\n",
    "mixed-in-function": "def f():\n    from torch.utils.cpp_extension import CppExtension, CUDAExtension\n"
                         "    return CppExtension('a', []), CUDAExtension('b', [])\nf()\n",
    "module": "from torch.utils import cpp_extension\ncpp_extension.CppExtension('a', [])\n"
              "cpp_extension.CUDAExtension('b', [])\n",
    "module-alias": "import torch.utils.cpp_extension as ext\next.CppExtension('a', [])\next.CUDAExtension('b', [])\n",
    "full-name": "import torch.utils.cpp_extension\ntorch.utils.cpp_extension.CppExtension('a', [])\n"
                 "torch.utils.cpp_extension.CUDAExtension('b', [])\n",
    "full-name-torch": "import torch\nfrom torch.utils.cpp_extension import CppExtension\nCppExtension('a', [])\n"
                       "torch.utils.cpp_extension.CUDAExtension('b', [])\n",
}  # fmt: skip


@pytest.mark.parametrize("text", EXTENSIONS.values(), ids=EXTENSIONS)
def test_extensions_still_run(port: Port, execute: Execute, text: str) -> None:
    """`CppExtension` stays with torch, `CUDAExtension` becomes torch_musa's, however they were imported."""
    calls = [call for call in execute(port(text)).calls if call.endswith("Extension")]
    assert sorted(calls) == ["torch.utils.cpp_extension.CppExtension", "torch_musa.utils.musa_extension.MUSAExtension"]


@pytest.mark.parametrize(
    "text",
    [
        "from torch.utils.cpp_extension import CppExtension\nCppExtension('cuda', [])\n",
        "from mylib.cpp_extension import CUDAExtension, CUDA_HOME\nCUDAExtension('a', [])\n",
        "class CUDAExtension: ...\nCUDAExtension()\n",
        "import torch\nCUDA_HOME = 1\nprint(CUDA_HOME, 'CUDA_HOME')\n",
        "import json\nx = json.load(f)  # cuda\n",
    ],
)
def test_other_extensions_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


# ---- P27 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import pynvml\npynvml.nvmlInit()\n", "import pymtml as pynvml\npynvml.nvmlInit()\n"),
        ("import pynvml as nv\nnv.nvmlInit()\n", "import pymtml as nv\nnv.nvmlInit()\n"),
        ("def f():\n    import pynvml\n", "def f():\n    import pymtml as pynvml\n"),
        (
            "try:\n    import pynvml\nexcept ImportError:\n    pynvml = None\n",
            "try:\n    import pymtml as pynvml\nexcept ImportError:\n    pynvml = None\n",
        ),
        ("import os, pynvml, sys\n", "import os, pymtml as pynvml, sys\n"),
        ("from pynvml import nvmlInit\n", "from pymtml import nvmlInit\n"),
    ],
)
def test_pynvml(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, ["P27"], ["P27"])


def test_other_pynvml_stays(rewrites: Rewrites) -> None:
    rewrites("from mylib import pynvml\nimport mylib.pynvml\nx = 'import pynvml'\npynvml_x = 1\n")


# ---- P31 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "import pycuda.autoinit\n",
        "from pycuda.compiler import SourceModule\n",
        "from pycuda import gpuarray\n",
        "import cupyx.scipy.sparse\n",
        "from cupy.cuda import Device\n",
        "from numba import cuda\n",
        "from numba.cuda import jit\n",
        "from cuda import nvrtc\n",
        "import cuda.bindings.driver as d\n",
        "import cudf\n",
        "from tensorrt import Builder\n",
        "import torch_tensorrt\n",
        "import nvidia.dali\n",
        "import cutlass.cute as cute  # cuda\n",
    ],
)
def test_packages_for_cuda_only(rewrites: Rewrites, text: str) -> None:
    """Also where the file has no other word of CUDA."""
    rewrites(text, findings=["P31 error"])


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("import nvtx  # cuda\nnvtx.mark()\n", "nvtx.py"),
        ("from rmm.pool import x  # cuda\n", "rmm/__init__.py"),
    ],
)
def test_packages_of_the_project(port: Port, text: str, path: str) -> None:
    assert port(text, tree={path: "", "rmm/pool.py": ""} if "/" in path else {path: ""}).findings == []


def test_packages_with_other_names(port: Port) -> None:
    assert port("import cupy_like  # cuda\nfrom .cudf import x\nimport mycuda.core\n").findings == []
