"""Methods and attributes: P7 (`.cuda()`), P8 (`.is_cuda`), P10 (version), P11 and P12 (backends), P14 (profiler)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Execute, Notices, Port, Rewrites

HEAD, MUSA = "import torch\n", "import torch\nimport torch_musa\n"

# ---- P7 ----------------------------------------------------------------------------------------------------------

CALLS = {
    "none": "y = x.cuda()\n",
    "number": "y = x.cuda(0)\n",
    "name": "y = x.cuda(rank)\n",
    "attribute": "y = x.cuda(args.gpu)\n",
    "item": "y = x.cuda(device_ids[0])\n",
    "call": "y = x.cuda(torch.device('cpu'))\n",
    "device-keyword": "y = x.cuda(device=rank)\n",
    "non-blocking": "y = x.cuda(non_blocking=True)\n",
    "both": "y = x.cuda(rank, non_blocking=True)\n",
    "both-keywords": "y = x.cuda(device=1, non_blocking=pin)\n",
    "chain": "y = Model().cuda().half().cuda(1).eval()\n",
    "statement": "model.cuda()\n",
    "self": "class M(torch.nn.Module):\n    def f(self):\n        self.net.cuda()\n",
    "literal": "y = (x + 1).cuda() * [a, b][0].cuda()\n",
    "lambda": "f = map(lambda t: t.cuda(), xs)\n",
    "comprehension": "y = [t.cuda(non_blocking=True) for t in xs if t.cuda() is not None]\n",
    "walrus": "if (y := x.cuda()) is None: pass\n",
    "tuple": "x, y = x.cuda(), y.cuda()\n",
    "format": 'print(f"cuda {x.cuda().sum():.3f}")\n',
    "over-lines": "y = (\n    x  # cuda\n    .cuda(  # cuda()\n        non_blocking=True,\n    )\n)\n",
    "continuation": "y = x \\\n    .cuda()\n",
    "async": "async def f():\n    return (await g()).cuda()\n",
    "star": "f(*[t.cuda() for t in xs], **k.cuda())\n",
    "load": "s = torch.load(p, map_location=lambda s, l: s.cuda())\n",
    "load-index": "s = torch.load(p, map_location=lambda s, l: s.cuda(rank))\n",
    "annotated": "y: torch.Tensor = x.cuda()\n",
    "return": "def f(x):\n    return x.cuda()\n",
}


def to_musa(text: str) -> str:
    """`.cuda` as a method becomes `.musa`; the texts and comments of these programs have no dot before the word."""
    return text.replace(".cuda", ".musa")


@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_method(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text, MUSA + to_musa(text), ["P7"])


@pytest.mark.parametrize(
    "head",
    ["from torch import nn\n", "import torch.nn as nn\n", "from torch.nn import Linear\n", "import os, torch as t\n"],
)
def test_files_that_import_torch_in_some_way(port: Port, execute: Execute, head: str) -> None:
    """And the result imports torch_musa before a tensor is moved."""
    result = port(f"{head}def f(x):\n    return x.cuda()\n")
    assert b".musa()" in result.data
    assert "torch_musa" in execute(result).imports


@pytest.mark.parametrize(
    "text",
    [
        "y = x.cuda(stream=s)\n",
        "y = x.cuda(memory_format=f)\n",
        "y = x.cuda(1, 2)\n",
        'y = x.cuda("kernel.ptx")\n',
    ],
)
def test_other_arguments_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n\ndef cuda(x):\n    return x\n\ny = cuda(x)\nz = cuda()\n",
        "x.cuda()\nmodel.cuda(0)\n",
        "import numpy\ny = x.cuda()\n",
        "import torch\n\nclass A:\n    def cuda(self):\n        return 1\n",
        "import torch\nx.cuda_stream()\nx.to_cuda()\nx.cuda_()\nx.barracuda()\n",
        "import torch\nfrom mylib import cuda\ncuda()\ncuda.init()\ncuda.Context(0)\n",
        "import torch\nimport mylib.cuda\nmylib.cuda.init()\n",
        "import torch\nx = config.cuda\nconfig.cuda = True\nif args.cuda: pass\n",
    ],
)
def test_other_methods_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


@pytest.mark.parametrize(
    "text",
    ["import torch\nimport numba.cuda\n@numba.cuda.jit\ndef k(a): ...\n",
     "import torch\nfrom numba import cuda\n@cuda.jit()\ndef k(a): ...\n",
     "import torch\nimport pycuda.driver as cuda\ncuda.init()\n",
     "import torch\nfrom cuda import cuda, cudart\ncuda.cuInit(0)\n",
     "import torch\nimport cupy as cp\ncp.cuda.Device(0).use()\n",
     "import torch\nimport cupy\nwith cupy.cuda.Device(0): pass\n"],
)  # fmt: skip
def test_other_packages_stay_and_are_errors(rewrites: Rewrites, text: str) -> None:
    result = rewrites(text)
    assert "error" in {finding.severity.value for finding in result.findings}


# ---- P8 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "if x.is_cuda: pass\n",
        "assert x.is_cuda and not y.is_cuda, 'is_cuda'\n",
        "ok = all(t.is_cuda for t in xs)\n",
        "ok = x.grad.is_cuda == y[0].is_cuda\n",
        "ok = next(model.parameters()).is_cuda\n",
        "f = lambda t: t.is_cuda\n",
        "print(f'is_cuda {x.is_cuda}')\n",
        "def f(x: torch.Tensor, cuda: bool) -> bool:\n    return x.is_cuda if cuda else False\n",
        "match x.is_cuda:\n    case True if y.is_cuda: pass\n",
    ],
)
def test_property(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text, MUSA + text.replace(".is_cuda", ".is_musa"), ["P8"], imported="any")


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nx.is_cuda = True\n",
        "import torch\ndel x.is_cuda\n",
        "import torch\nis_cuda = 1\nf(is_cuda, is_cuda=is_cuda)\n",
        "import torch\ndef is_cuda(x): return x\n",
        "import torch\nx.is_cuda_graph, x.is_cudagraph, x.this_is_cuda\n",
        "import torch\nx.is_cuda: bool = True\n",
        "import torch\nfor x.is_cuda in y: pass\n",
        "ok = x.is_cuda\n",
        "import numpy\nok = x.is_cuda\n",
    ],
)
def test_other_properties_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


@pytest.mark.parametrize("receiver", ["current_platform", "self.platform", "Platform"])
def test_platform_method_stays_and_is_reported(rewrites: Rewrites, receiver: str) -> None:
    assert rewrites(f"{HEAD}if {receiver}.is_cuda(): pass\n").findings


OWN = {
    "attribute": """\
import torch
class A:
    def __init__(self):
        self.is_cuda = True
    def f(self):
        return self.is_cuda
result = A().f()
""",
    "property": """\
import torch
class A:
    @property
    def is_cuda(self):
        return True
result = A().is_cuda
""",
    "field": """\
import dataclasses
import torch
@dataclasses.dataclass
class A:
    is_cuda: bool = True
    device: int = 0
a = A(is_cuda=True)
result = a.is_cuda and dataclasses.asdict(a)["is_cuda"]
""",
    "method": """\
import torch
class A:
    def cuda(self):
        return self
    def f(self):
        return self.cuda()
result = A().f() is not None and A().cuda() is not None
""",
    "flag": """\
import torch
class A:
    def __init__(self):
        self.cuda = True
result = A().cuda
""",
    "enumeration": """\
import enum
import torch
class Kind(enum.Enum):
    CUDA = "cuda"
    CPU = "cpu"
result = Kind("cuda") is Kind.CUDA and Kind.CUDA.value == "cuda"
""",
    "option": """\
import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--cuda", action="store_true")
parser.add_argument("--use-cuda", dest="use_cuda", default=True)
args = parser.parse_args(["--cuda"])
result = args.cuda and args.use_cuda
""",
    "table": """\
import torch
def on_cuda(): return True
TABLE = {"cuda": on_cuda, "cpu": None}
result = TABLE["cuda"]() and "cuda" in TABLE and TABLE.get("cuda") is on_cuda
""",
    "parameter": """\
import torch
def f(cuda=True, use_cuda=False, is_cuda=True):
    return cuda and is_cuda
result = f(cuda=True, is_cuda=True)
""",
}


@pytest.mark.parametrize("text", OWN.values(), ids=OWN)
def test_names_of_the_project_still_fit(port: Port, execute: Execute, text: str) -> None:
    """Definition and use of a name both stay, so that the ported program still runs, or the reader is warned."""
    result = port(text)
    if not {"warning", "error"} & {finding.severity.value for finding in result.findings}:
        assert execute(result).names["result"] is True


# ---- P10 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("v = torch.version.cuda\n", False),
        ("if torch.version.cuda is None: pass\n", False),
        ("print(torch.version.cuda)\n", False),
        ('logger.info("%s", torch.version.cuda)\n', False),
        ("x = str(torch.version.cuda)\n", False),
        ("x = dict(version=torch.version.cuda)\n", False),
        ("x = table[torch.version.cuda]\n", False),
        ("if bool(torch.version.cuda): pass\n", False),
        ("assert torch.version.cuda\n", False),
        ("x = LooseVersion(torch.version.cuda)\n", True),
        ("x = parse_cuda_version(torch.version.cuda)\n", True),
        ("x = re.match(r'(.*)', torch.version.cuda)\n", True),
        ("x = str(torch.version.cuda).split('.')\n", True),
        ("x = torch.version.cuda[:2]\n", True),
        ("x = torch.version.cuda.startswith('12')\n", True),
        ("x = tuple(map(int, torch.version.cuda.split('.')))\n", True),
        ("print(f'cuda {torch.version.cuda}')\n", False),
        ('if torch.version.cuda >= "11.8": pass\n', True),
        ("if float(torch.version.cuda) >= 12.0: pass\n", True),
        ('v = torch.version.cuda.split(".")\n', True),
        ("v = [int(x) for x in torch.version.cuda.split('.')]\n", True),
        ('ok = packaging.version.parse(torch.version.cuda) >= packaging.version.parse("12.1")\n', True),
        ("ok = Version(torch.version.cuda) > Version('11')\n", True),
        ("ok = '12.1' <= torch.version.cuda\n", True),
        ("v = int(torch.version.cuda[:2])\n", True),
    ],
)
def test_version(rewrites: Rewrites, text: str, compared: bool) -> None:
    after = MUSA + text.replace("version.cuda", "version.musa")
    result = rewrites(HEAD + text, after, ["P10"], imported="any")
    assert ("P10" in {finding.rule for finding in result.findings}) == compared


def test_version_by_other_names(notices: Notices, rewrites: Rewrites) -> None:
    rewrites("import torch as t\nv = t.version.cuda\n", "import torch as t\nv = t.version.musa\n", imported="any")
    notices("from torch.version import cuda\nprint(cuda)\n", "cuda")
    rewrites("import torch\nv = mylib.version.cuda\nversion.cuda\n")


# ---- P11, P12 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["torch.backends.cuda.matmul.allow_tf32", "torch.backends.cudnn.allow_tf32"])
@pytest.mark.parametrize("form", ["{} = True\n", "old = {}\n", "if {}: pass\n", "{}, x = y, 1\n", "f({})\n"])
def test_tf32(rewrites: Rewrites, name: str, form: str) -> None:
    before, after = form.format(name), form.format("torch.backends.mudnn.allow_tf32")
    rewrites(HEAD + before, MUSA + after, ["P11"], ["P11"], imported="any")


@pytest.mark.parametrize(
    "text",
    [
        "torch.backends.cudnn.benchmark = True\n",
        "torch.backends.cudnn.deterministic = True\n",
        "torch.backends.cudnn.enabled = False\n",
        "with torch.backends.cuda.sdp_kernel(enable_flash=True): pass\n",
        "torch.backends.cuda.enable_flash_sdp(True)\n",
        "torch.backends.cuda.enable_mem_efficient_sdp(False)\n",
        "torch.backends.cuda.enable_math_sdp(True)\n",
        "ok = torch.backends.cuda.flash_sdp_enabled()\n",
        "old = torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic\n",
        "import torch.backends.cudnn as cudnn\ncudnn.benchmark = True\ncudnn.deterministic = True\n",
        "from torch.backends import cudnn\ncudnn.benchmark = True\n",
    ],
)
def test_harmless_switches_stay(rewrites: Rewrites, text: str) -> None:
    result = rewrites(HEAD + text)
    assert "error" not in {finding.severity.value for finding in result.findings}


@pytest.mark.parametrize(
    "text",
    [
        'torch.backends.cuda.preferred_linalg_library("magma")\n',
        "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False\n",
        "import torch.backends.cudnn as cudnn\ncudnn.allow_tf32 = True\n",
        "ok = torch.backends.cuda.is_built()\n",
        "v = torch.backends.cudnn.version()\n",
        "torch.backends.cuda.cufft_plan_cache.clear()\n",
    ],
)
def test_other_switches_are_noticed(notices: Notices, text: str) -> None:
    word = "cudnn.allow_tf32" if "allow_tf32" in text else "torch.backends.cud"
    notices(HEAD + text, word)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ok = torch.backends.cuda.is_built()\n", "ok = torch.musa.is_available()\n"),
        ("v = torch.backends.cudnn.version()\n", "v = torch.backends.mudnn.version()\n"),
    ],
)
def test_other_rows_of_the_table(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(HEAD + before, MUSA + after, imported="any")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = torch.get_autocast_gpu_dtype()\n", 'x = torch.get_autocast_dtype("musa")\n'),
        ("torch.set_autocast_gpu_dtype(x.dtype)\n", 'torch.set_autocast_dtype("musa", x.dtype)\n'),
        (
            "from torch import get_autocast_gpu_dtype as g\nx = g()\n",
            'from torch import get_autocast_gpu_dtype as g\nx = torch.get_autocast_dtype("musa")\n',
        ),
        ('on = torch.is_autocast_enabled("cuda")\n', 'on = torch.is_autocast_enabled("musa")\n'),
        ('torch.set_autocast_enabled("cuda", on)\n', 'torch.set_autocast_enabled("musa", on)\n'),
        ('torch.set_autocast_dtype("cuda", x)\n', 'torch.set_autocast_dtype("musa", x)\n'),
        ('x = torch.get_autocast_dtype("cuda")\n', 'x = torch.get_autocast_dtype("musa")\n'),
        ('ok = torch.amp.is_autocast_available("cuda")\n', 'ok = torch.amp.is_autocast_available("musa")\n'),
    ],
)
def test_autocast_for_cuda(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(HEAD + before, MUSA + after)


@pytest.mark.parametrize(
    "text",
    [
        "on = torch.is_autocast_enabled()\n",
        "torch.set_autocast_enabled(True)\n",
        "torch.set_autocast_cache_enabled(True)\n",
        'on = torch.is_autocast_enabled("cpu")\n',
        "x = mylib.get_autocast_gpu_dtype()\n",
    ],
)
def test_autocast_that_means_musa_already(rewrites: Rewrites, text: str) -> None:
    """Without a device, torch_musa makes these functions mean MUSA."""
    result = rewrites("import mylib\nimport torch\n" + text)
    assert result.findings == []


@pytest.mark.parametrize("use", ["f = torch.get_autocast_gpu_dtype\n", "torch.set_autocast_gpu_dtype(*args)\n"])
def test_autocast_that_cannot_be_changed(notices: Notices, use: str) -> None:
    notices("import torch\n" + use, "torch.")


# ---- P14 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from torch.profiler import profile, ProfilerActivity\n"
            "with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p: pass\n"
            'print(p.key_averages().table(sort_by="cuda_time_total", row_limit=10))\n',
            "from torch.profiler import profile, ProfilerActivity\n"
            "with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.MUSA]) as p: pass\n"
            'print(p.key_averages().table(sort_by="musa_time_total", row_limit=10))\n',
        ),
        (
            "import torch\na = torch.profiler.ProfilerActivity.CUDA\n",
            "import torch\na = torch.profiler.ProfilerActivity.MUSA\n",
        ),
        (
            "import torch.profiler as tp\na = {tp.ProfilerActivity.CUDA}\n",
            "import torch.profiler as tp\na = {tp.ProfilerActivity.MUSA}\n",
        ),
        (
            "from torch.profiler import ProfilerActivity as PA\na = PA.CUDA\n",
            "from torch.profiler import ProfilerActivity as PA\na = PA.MUSA\n",
        ),
    ],
)
def test_profiler(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, ["P14"], imported="any")


@pytest.mark.parametrize(
    "text",
    [
        "from mylib import ProfilerActivity\na = ProfilerActivity.CUDA\n",
        "import torch\nclass Kind: CUDA = 1\na = Kind.CUDA\n",
        'import torch\nprint("cuda_time_total")\nx = {"cuda_time_total": 1}\n',
        'import torch\nfrom torch.profiler import profile\np.table(sort_by="cpu_time_total")  # cuda_time_total\n',
    ],
)
def test_other_activities_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


@pytest.mark.parametrize(
    "text",
    [
        'p.key_averages().table(sort_by="self_cuda_time_total")\n',
        "with torch.autograd.profiler.profile(use_cuda=True) as p: pass\n",
        "t = event.cuda_time_total\n",
    ],
)
def test_profiler_spellings_are_noticed(notices: Notices, text: str) -> None:
    notices("import torch\nfrom torch.profiler import profile\n" + text, "cuda")
