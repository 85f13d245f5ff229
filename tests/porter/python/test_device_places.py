"""Places that take a device: functions of torch.cuda, keywords, mappings, tuples, results, options, other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Rewrites

HEAD, MUSA = "import torch\n", "import torch\nimport torch_musa\n"


def everywhere(text: str) -> str:
    return text.replace("cuda", "musa")


# ---- functions of torch.cuda -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'torch.cuda.set_device("cuda:1")\n',
        'torch.cuda.synchronize("cuda:0")\n',
        'torch.cuda.synchronize(device="cuda")\n',
        'with torch.cuda.device("cuda:1"): pass\n',
        's = torch.cuda.Stream(device="cuda")\n',
        's = torch.cuda.Stream("cuda:0", priority=-1)\n',
        's = torch.cuda.ExternalStream(handle, "cuda:0")\n',
        's = torch.cuda.current_stream("cuda:0").query()\n',
        's = torch.cuda.default_stream("cuda")\n',
        'n = torch.cuda.memory_allocated("cuda") + torch.cuda.memory.memory_stats("cuda")["a"]\n',
        'n = torch.cuda.mem_get_info(f"cuda:{i}")\n',
        'torch.cuda.set_rng_state(state, "cuda:0")\n',
        'ok = torch.cuda.can_device_access_peer("cuda:0", "cuda:1")\n',
        'torch.cuda.set_per_process_memory_fraction(0.5, "cuda:0")\n',
        'torch.cuda.set_device("cuda" + f":{i}")\n',
        'torch.cuda.set_device("cuda:%d" % i)\n',
        'torch.cuda.set_device("cuda:1" if ok else "cuda:0")\n',
        'torch.cuda.memory_summary(device="cuda", abbreviated=True)\n',
    ],
)
def test_functions_of_torch_cuda(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text, MUSA + everywhere(text))


@pytest.mark.parametrize("name", ["get_device_properties", "get_device_name", "get_device_capability"])
def test_questions_about_a_device(rewrites: Rewrites, name: str) -> None:
    result = rewrites(f'{HEAD}p = torch.cuda.{name}("cuda:0")\n', f'{MUSA}p = torch.musa.{name}("musa:0")\n')
    assert {finding.rule for finding in result.findings} == {"P1"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'from torch.cuda import set_device as sd\nsd("cuda:1")\n',
            'from torch_musa import set_device as sd\nsd("musa:1")\n',
        ),
        ('import torch.cuda as tc\ntc.set_device("cuda:1")\n', 'import torch_musa as tc\ntc.set_device("musa:1")\n'),
        (
            'import torch\nc = torch.cuda\nc.synchronize("cuda")\n',
            'import torch\nc = torch.musa\nc.synchronize("musa")\n',
        ),
        ('from torch import cuda\ncuda.synchronize("cuda")\n', 'import torch_musa as cuda\ncuda.synchronize("musa")\n'),
        (
            'import torch\nkind = "cuda:1"\ntorch.cuda.set_device(kind)\n',
            'import torch\nkind = "musa:1"\ntorch.musa.set_device(kind)\n',
        ),
    ],
)
def test_functions_of_torch_cuda_by_other_names(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, imported="any")


@pytest.mark.parametrize(
    "text",
    [
        'torch.cuda.clock_rate("cuda:0")\n',
        'torch.cuda.clock_rate(device="cuda:0")\n',
        'torch.cuda.memory._snapshot("cuda")\n',
        'torch.cuda.nvtx.range_push("cuda")\n',
    ],
)
def test_functions_that_stay_keep_their_arguments(rewrites: Rewrites, text: str) -> None:
    result = rewrites(HEAD + text)
    assert "error" in {finding.severity.value for finding in result.findings}


def test_kept_functions_keep_their_arguments(rewrites: Rewrites) -> None:
    rewrites(f'{HEAD}torch.cuda.set_device("cuda:1")\n', keep_names=("set_device",))


def test_functions_of_other_packages_stay(rewrites: Rewrites) -> None:
    rewrites(HEAD + 'import mylib\nmylib.cuda.set_device("cuda:1")\nset_device("cuda:1")\n')


# ---- keywords and mappings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'f(device_map="cuda")\n',
        'f(device_map={"": "cuda:0"})\n',
        'f(device_map={"a.b": 0, "c": "cuda"})\n',
        "f(device_map={name: 'cuda:0' for name in names})\n",
        'f(torch_device="cuda", execution_device="cuda:0", offload_device="cuda")\n',
        'f(devices=["cuda:0", "cuda:1"], device_ids=["cuda:0"])\n',
        'kw = {"device_map": "cuda", "execution_device": "cuda:1"}\n',
        'kw = {"device_map": {"": "cuda:1"}}\n',
        'device_map = {"a": "cuda:0", "b": "cpu"}\n',
        'device_map["lm_head"] = "cuda:0"\n',
        'def f(device_map="cuda", execution_device="cuda:0"): ...\n',
    ],
)
def test_keywords_and_mappings(rewrites: Rewrites, text: str) -> None:
    assert rewrites(HEAD + text, MUSA + everywhere(text)).findings == []


def test_relocation_changes_both_sides(rewrites: Rewrites) -> None:
    text = 's = torch.load(p, map_location={"cuda:0": "cuda:1"})\nt = torch.load(p, {"cuda": "cpu"})\n'
    rewrites(HEAD + text, MUSA + everywhere(text))


def test_keys_of_a_device_map_are_modules(rewrites: Rewrites) -> None:
    rewrites(HEAD + 'f(device_map={"cuda": "cuda:0"})\n', MUSA + 'f(device_map={"cuda": "musa:0"})\n')


# ---- tuples, results, conditions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'device, dtype = "cuda", torch.float16\n',
        'dtype, self.device = torch.float16, "cuda:0"\n',
        '[device, n] = ["cuda", 1]\n',
        '(n, device), m = (1, "cuda:1"), 2\n',
        'def get_device():\n    return "cuda", 0\n',
        'def pick():\n    return ("cuda" if torch.cuda.is_available() else "cpu"), torch.float16\n',
        'def pick():\n    return "cuda" if torch.cuda.is_available() else "cpu"\n',
        'def pick():\n    if torch.cuda.is_available():\n        return "cuda"\n    return "cpu"\n',
        'x = "cuda" if torch.cuda.is_available() else "cpu"\n',
        'x = "cuda:0" if torch.cuda.is_available() else "mps" if mps else "cpu"\n',
        'def pick():\n    return "cuda", 0\ndevice, n = pick()\n',
        'for device, dtype in [("cuda", torch.half), ("cpu", torch.float)]: pass\n',
        'kind = "cuda" if ok else "cpu"\nt.to(kind)\nif kind == "cuda": pass\n',
        'def put(t, where="cuda"):\n    return t.to(where)\nput(t, "cuda:1")\n',
        'class A:\n    def __init__(self): self.where = "cuda"\n    def f(self, t): return t.to(self.where)\n',
        'name = f"cuda:{i}"\nt = torch.ones(2, device=name)\n',
    ],
)
def test_values_that_become_devices(rewrites: Rewrites, text: str) -> None:
    assert rewrites(HEAD + text, MUSA + everywhere(text)).findings == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('name, device = "cuda", "cuda"\n', 'name, device = "cuda", "musa"\n'),
        ('def pick():\n    return "cuda", 0\nname, device = pick()\n', None),
        ('def pick():\n    return "cuda", 0\n', None),
        ('def backend():\n    if fast:\n        return "cuda"\n    return "cpu"\n', None),
        ('x = "cuda" if fast else "cpu"\n', None),
        (
            'suffix = "cuda" if torch.cuda.is_available() else "cpu"\n',
            'suffix = "cuda" if torch.musa.is_available() else "cpu"\n',
        ),
        (
            'print("cuda" if torch.cuda.is_available() else "cpu")\n',
            'print("cuda" if torch.musa.is_available() else "cpu")\n',
        ),
        (
            'class A:\n    def f(self):\n        self.flag = "cuda"\n        d = self.flag\n        g(device=d)\n',
            None,
        ),
        ('kind = "cuda"\nopen(kind)\nif kind == "cuda": pass\n', None),
    ],
)
def test_values_that_may_be_something_else_stay(rewrites: Rewrites, before: str, after: str | None) -> None:
    rewrites(HEAD + before, MUSA + after if after else None)


# ---- options, tests, annotations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'p.add_argument("--device", choices=["cpu", "cuda"], default="cuda")\n',
        'p.add_argument("--dev", default="cuda")\n',
        'p.add_argument("--gpu", dest="device", default="cuda")\n',
        '@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cuda")\ndef f(device): ...\n',
        'def f(device: str = typer.Option("cuda", "--device")): ...\n',
        'def f(device: Annotated[str, typer.Option("--device")] = "cuda"): ...\n',
        'class C:\n    device: str = "cuda"\n    devices: list = field(default_factory=lambda: ["cuda"])\n',
        'class C:\n    device: str = field(default="cuda")\n    other_device: str = Field("cuda", description="x")\n',
        'def f(device: Literal["cpu", "cuda"] = "cuda"): ...\n',
        'def f(device: Optional[Literal["cpu", "cuda"]] = None): ...\n',
        'def f(device: typing.Literal["cuda"] | None): ...\n',
        'Device = Literal["cpu", "cuda"]\n',
        '@pytest.mark.parametrize("device", ["cpu", "cuda"])\ndef t(device): ...\n',
        '@pytest.mark.parametrize("device,dtype", [("cuda", torch.half), ("cpu", torch.float)])\ndef t(): ...\n',
        '@pytest.mark.parametrize(("device", "n"), [("cuda", 1), pytest.param("cuda:0", 2, marks=m)])\ndef t(): ...\n',
        '@pytest.mark.parametrize(argnames="device", argvalues=["cpu", "cuda"])\ndef t(device): ...\n',
        '@pytest.mark.parametrize("n,device", itertools.product([1], ["cpu", "cuda"]))\ndef t(n, device): ...\n',
        '@pytest.mark.parametrize("device", DEVICES)\ndef t(device): ...\nDEVICES = ["cpu", "cuda"]\n',
        '@pytest.fixture(params=["cpu", "cuda"])\ndef device(request): ...\n',
    ],
)
def test_choices(rewrites: Rewrites, text: str) -> None:
    assert rewrites(HEAD + text, MUSA + everywhere(text)).findings == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '@pytest.mark.parametrize("device", [pytest.param("cuda", id="cuda")])\ndef t(device): ...\n',
            '@pytest.mark.parametrize("device", [pytest.param("musa", id="cuda")])\ndef t(device): ...\n',
        ),
        (
            '@pytest.mark.parametrize("name,device", [("cuda", "cuda")])\ndef t(name, device): ...\n',
            '@pytest.mark.parametrize("name,device", [("cuda", "musa")])\ndef t(name, device): ...\n',
        ),
        ('@pytest.mark.parametrize("name", ["cpu", "cuda"])\ndef t(name): ...\n', None),
        ('@pytest.fixture(params=["cpu", "cuda"])\ndef engine(request): ...\n', None),
        ('def f(mode: Literal["cuda", "triton"]): ...\n', None),
        ('p.add_argument("--target", choices=["cpu", "cuda"], default="cuda")\n', None),
        ('class C:\n    name: str = field(default="cuda")\n', None),
    ],
)
def test_choices_of_something_else_stay(rewrites: Rewrites, before: str, after: str | None) -> None:
    rewrites(HEAD + before, MUSA + after if after else None)
