"""Device strings: P4 (keywords), P5 (first arguments), P6 (strings put together), P9 (comparisons), P23 (types)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Notices, Port, Rewrites

HEAD, MUSA = "import torch\n", "import torch\nimport torch_musa\n"
KEYWORDS = "device device_type map_location pin_memory_device device_types dst_device target_device".split()


def changed(name: str, before: str, after: str | None = None) -> Any:
    """What follows `import torch`; without `after`, it is what `before` becomes with musa for cuda everywhere."""
    return pytest.param(before, before.replace("cuda", "musa") if after is None else after, id=name)


# ---- P4 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''", 'r"', "u'", "R'"])
@pytest.mark.parametrize("keyword", KEYWORDS)
@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:17"])
def test_keywords(rewrites: Rewrites, keyword: str, device: str, quote: str) -> None:
    end = quote.lstrip("rRu")
    before = f"x = f(1, {keyword}={quote}{device}{end})  # {keyword}={device}\n"
    after = before.replace(quote + "cuda", quote + "musa", 1)
    rewrites(HEAD + before, MUSA + after, ["P4"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        changed("tensor", 'x = torch.tensor([1, 2], dtype=torch.int32, device="cuda")\n'),
        changed("strided", 'x = torch.empty_strided((2, 3), (3, 1), device="cuda:1", dtype=torch.half)\n'),
        changed("load", 's = torch.load(path, map_location="cuda:0", weights_only=True)\n'),
        changed("like", "y = torch.zeros_like(x, device='cuda')\n"),
        changed("autocast", 'with torch.autocast(device_type="cuda", dtype=torch.float16):\n    pass\n'),
        changed("loader", "d = DataLoader(ds, pin_memory=True, pin_memory_device='cuda')\n"),
        changed("operator", '@torch.library.custom_op("my::cuda_op", mutates_args=(), device_types="cuda")\n'
                            "def f(x: torch.Tensor) -> torch.Tensor: ...\n",
                '@torch.library.custom_op("my::cuda_op", mutates_args=(), device_types="musa")\n'
                "def f(x: torch.Tensor) -> torch.Tensor: ...\n"),
        changed("generator", 'g = torch.Generator(device="cuda").manual_seed(0)\n'),
        changed("project", 'm = mylib.build("cuda", device="cuda")\n', 'm = mylib.build("cuda", device="musa")\n'),
        changed("spaces", "x = torch.ones(3, device = 'cuda' )\n"),
        changed("over-lines", "x = torch.ones(\n    3,\n    device=(\n        'cuda'  # the device\n    ),\n)\n"),
        changed("nested", 'f(g(h(device="cuda"), device="cuda:2"), [k(device="cuda")])\n'),
        changed("lambda", 'f = lambda n: torch.ones(n, device="cuda")\n'),
        changed("default-value", 'def f(x=torch.ones(1, device="cuda")): ...\n'),
        changed("decorator", '@parametrize(device="cuda")\ndef f(): ...\n'),
        changed("comprehension", 'x = [torch.ones(i, device="cuda:0") for i in range(3)]\n'),
        changed("in-a-format", "print(f\"cuda {torch.ones(1, device='cuda')}\")\n",
                "print(f\"cuda {torch.ones(1, device='musa')}\")\n"),
        changed("conditional", 'x = torch.ones(1, device="cuda" if gpu else "cpu")\n'),
        changed("conditional-on-availability",
                'x = f(device="cuda:0" if torch.cuda.is_available() else "cpu")\n'),
        changed("await", 'async def f():\n    return await g(device="cuda")\n'),
    ],
)  # fmt: skip
def test_calls_with_keywords(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(HEAD + before, MUSA + after)


@pytest.mark.parametrize(
    "keyword", "backend platform name mode arch label extra kind key devices_name my_device_label Device".split()
)
def test_other_keywords_stay(rewrites: Rewrites, keyword: str) -> None:
    rewrites(f'{HEAD}x = f({keyword}="cuda")\ny = f({keyword}="cuda:0")\n')


@pytest.mark.parametrize(
    "value",
    ['"cuda_results"', '"barracuda"', '"CUDA"', '"cuda "', '" cuda"', '"cuda:"', '"cuda:x"', '"cuda:0,1"', '"cuda:-1"',
     '"/data/cuda"', '"cuda.pt"', 'b"cuda"', '"cpu"', "cuda", "cuda_device", "'mps'", '"cuda\\n"', '"my cuda:0"'],
)  # fmt: skip
def test_other_values_stay(rewrites: Rewrites, value: str) -> None:
    rewrites(f"{HEAD}x = f(device={value})\ny = f({value})\n")


def test_escapes_and_joined_strings_are_safe(port: Port) -> None:
    """Spellings nobody writes: whatever becomes of them, the string is a device afterwards or what it was."""
    for value in (r'"cu\x64a"', '"cu" "da"', '("cuda" ":0")', r'"\143uda"', 'f"cuda"', "f\"{'cuda'}\""):
        result = port(f"{HEAD}x = f(device={value})\n").data.decode()
        text = result.split("device=")[1].strip()[:-1]
        assert eval(text) in (eval(value), eval(value).replace("cuda", "musa"))


# ---- P5 ----------------------------------------------------------------------------------------------------------

FIRST = {
    "torch.device": 'd = torch.device("cuda")\n',
    "torch.device-index": "d = torch.device('cuda:3')\n",
    "torch.device-two": "d = torch.device('cuda', rank)\n",
    "torch.device-conditional": 'd = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n',
    "torch.device-conditional-index": 'd = torch.device("cuda:0" if x else "cpu")\n',
    "torch.device-with": 'with torch.device("cuda"):\n    pass\n',
    "to": 'y = x.to("cuda")\n',
    "to-index": "y = x.to('cuda:1')\n",
    "to-more": 'y = x.to("cuda", torch.float16, non_blocking=True)\n',
    "to-chain": 'y = f(x).view(-1).to("cuda").half()\n',
    "to-model": 'class M(torch.nn.Module):\n    def g(self):\n        return self.net.to("cuda")\n',
    "to-conditional": 'y = x.to("cuda" if gpu else "cpu")\n',
    "to-item": 'y = {k: v.to("cuda") for k, v in batch.items()}\n',
    "to-bracket": 'y = (\n    x\n    .to("cuda")\n)\n',
    "type": 'y = x.type("cuda")\n',
    "autocast": 'with torch.autocast("cuda", dtype=torch.bfloat16, enabled=False):\n    pass\n',
    "autocast-decorator": '@torch.autocast("cuda")\ndef f(): ...\n',
    "default-device": 'torch.set_default_device("cuda")\n',
    "default-device-index": "torch.set_default_device('cuda:1')\n",
    "generator": 'g = torch.Generator("cuda")\n',
    "grad-scaler": 's = torch.amp.GradScaler("cuda", enabled=True)\n',
    "amp-autocast": 'with torch.amp.autocast("cuda"):\n    pass\n',
}


@pytest.mark.parametrize("text", FIRST.values(), ids=FIRST)
def test_first_arguments(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text, MUSA + text.replace("cuda", "musa"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'from torch.distributed.device_mesh import init_device_mesh\nm = init_device_mesh("cuda", (2, 4))\n',
            'from torch.distributed.device_mesh import init_device_mesh\nm = init_device_mesh("musa", (2, 4))\n',
        ),
        (
            'import torch.distributed as dist\nm = dist.init_device_mesh("cuda", (8,), mesh_dim_names=("cuda",))\n',
            'import torch.distributed as dist\nm = dist.init_device_mesh("musa", (8,), mesh_dim_names=("cuda",))\n',
        ),
        (
            'from torch import device, autocast\nd = device("cuda")\nwith autocast("cuda"): pass\n',
            'from torch import device, autocast\nd = device("musa")\nwith autocast("musa"): pass\n',
        ),
        (
            'from torch.amp import GradScaler as Scaler\ns = Scaler("cuda")\n',
            'from torch.amp import GradScaler as Scaler\ns = Scaler("musa")\n',
        ),
        (
            'import torch as t\nd = t.device("cuda"), t.Generator("cuda:0")\n',
            'import torch as t\nd = t.device("musa"), t.Generator("musa:0")\n',
        ),
    ],
)
def test_first_arguments_by_other_names(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, ["P5"], imported="any")


@pytest.mark.parametrize(
    "text",
    [
        'x = f("cuda")\n',
        'x = y.add("cuda")\n',
        'x = y.to(torch.float16, "cuda")\n',
        'x = torch.device("cpu", "cuda")\n',
        'x = torch.manual_seed("cuda")\n',
        'print("cuda", "cuda:0")\n',
        'logger.info("cuda")\n',
        'raise ValueError("cuda")\n',
        'assert x, "cuda"\n',
        'x = y.type("cuda_type")\n',
        'x = y.to("cuda_float")\n',
        'x = y.to("barracuda")\n',
        'x = torch.tensor("cuda")\n',
        'x = y.startswith("cuda")\n',
        'x = open("cuda")\n',
        'x = y.to_("cuda")\n',
        'x = to("cuda")\n',
        'x = y["cuda"].to(z)\n',
    ],
)
def test_other_positions_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


@pytest.mark.parametrize(
    "text",
    [
        'from mylib import device\nimport torch\nd = device("cuda")\n',
        'import torch\ndef device(x): return x\nd = device("cuda")\n',
        'import torch\ndef f(torch): return torch.device("cuda")\n',
        'import torch, mylib\nd = mylib.device("cuda")\n',
        'import torch, mylib\nwith mylib.autocast("cuda"): pass\n',
        'import torch\nclass Generator: ...\ng = Generator("cuda")\n',
        'import torch\nfrom mylib import init_device_mesh\nm = init_device_mesh("cuda", (1,))\n',
    ],
)
def test_functions_of_the_project_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


@pytest.mark.parametrize(
    "text",
    [
        'def f(x, device="cuda"): ...\n',
        'def f(x, *, device: str = "cuda:0"): ...\n',
        'd = torch.device(type="cuda", index=0)\n',
        'x = f(device_types=["cpu", "cuda"])\n',
        'x = torch.load(p, map_location={"cpu": "cuda:0"})\n',
        'kw = {"device": "cuda"}\n',
        'class Config:\n    device: str = "cuda"\n',
        'x = f(device=os.environ.get("DEVICE", "cuda"))\n',
        'torch.random.fork_rng(devices=[0], device_type=x or "cuda")\n',
        'match device.type:\n    case "cuda": pass\n',
        'if device.type in ("cuda", "mps"): pass\n',
        'd = getattr(args, "device", "cuda")\n',
        'DEVICE = "cuda"\n',
        'if x == "cuda": pass\n',
    ],
)
def test_nothing_stays_unsaid(notices: Notices, text: str) -> None:
    """Places of a device that the contract does not name: changed, or reported."""
    notices(HEAD + text, '"cuda')


# ---- P6 ----------------------------------------------------------------------------------------------------------

TOGETHER = {
    "format": 'f"cuda:{i}"',
    "format-single": "f'cuda:{rank % n}'",
    "format-raw": 'rf"cuda:{i}"',
    "format-triple": 'f"""cuda:{i}"""',
    "format-spec": 'f"cuda:{i:d}"',
    "format-nested-quotes": "f\"cuda:{d['i']}\"",
    "percent": '"cuda:%d" % i',
    "percent-tuple": '"cuda:%d" % (i,)',
    "percent-s": "'cuda:%s' % i",
    "method": '"cuda:{}".format(i)',
    "method-number": '"cuda:{0}".format(i)',
    "method-name": "'cuda:{rank}'.format(rank=i)",
    "plus": '"cuda:" + str(i)',
    "plus-plus": '"cuda" + ":" + str(i)',
    "plus-conditional": '"cuda" + (f":{i}" if i else "")',
}
PLACES = {
    "torch.device": "x = torch.device({})\n",
    "to": "x = y.to({})\n",
    "to-more": "x = y.to({}, torch.half)\n",
    "keyword": "x = torch.ones(2, device={})\n",
    "map-location": "x = torch.load(p, map_location={})\n",
    "name": "device = {}\n",
    "name-in-name": "my_dev_name = {}\n",
    "attribute": "self.device = {}\n",
    "annotated": "dev: str = {}\n",
    "conditional": 'device = {} if gpu else "cpu"\n',
    "conditional-keyword": 'x = f(device={} if gpu else "cpu")\n',
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("value", TOGETHER.values(), ids=TOGETHER)
def test_strings_put_together(rewrites: Rewrites, place: str, value: str) -> None:
    before = place.format(f"({value})" if " if " in place and " if " in value else value)
    result = rewrites(HEAD + before, MUSA + before.replace("cuda", "musa"))
    assert {edit.rule for edit in result.edits if edit.old and "cuda" in edit.old} <= {"P4", "P5", "P6"}


@pytest.mark.parametrize("name", "device dev my_device devices_ self.dev self.cfg.device_name".split())
@pytest.mark.parametrize("value", ["'cuda'", '"cuda:0"', '"cuda" if gpu else "cpu"'])
def test_names_of_devices(rewrites: Rewrites, name: str, value: str) -> None:
    before = f"{name} = {value}\nuse({name})\n"
    rewrites(HEAD + before, MUSA + before.replace("cuda", "musa"), ["P6"])


@pytest.mark.parametrize(
    "text",
    [
        'print(f"cuda:{i}")\n',
        'logger.info("cuda:%d" % i)\n',
        'logger.info("cuda:{}".format(i))\n',
        'raise RuntimeError("cuda:" + str(i))\n',
        'name = f"cuda:{i}"\n',
        'path = f"cuda/{i}.pt"\n',
        'key = "cuda:%s" % i\n',
        'label = "cuda" + str(i)\n',
        'x = torch.device(f"barracuda:{i}")\n',
        'x = torch.device(f"{i}:cuda")\n',
        'device = f"using cuda:{i}"\n',
        'device = "the cuda:%d" % i\n',
        'device = f"cudagraph:{i}"\n',
        'device = f"cuda_{i}"\n',
        'device = "/dev/cuda:%d" % i\n',
        'x = f(device=f"my-cuda:{i}")\n',
        'x = f(name=f"cuda:{i}")\n',
        'd[f"cuda:{i}"] = 1\n',
        'x = {f"cuda:{i}": 1}\n',
    ],
)
def test_other_strings_put_together_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


@pytest.mark.parametrize(
    "text",
    [
        'x = torch.device(f"cuda:{torch.cuda.current_device()}")\n',
        'x = torch.device("cuda:" + str(torch.cuda.current_device()))\n',
        'x = torch.device("cuda:{}".format(torch.cuda.current_device()))\n',
        'x = f(device="cuda:%d" % (rank % torch.cuda.device_count()))\n',
        "x = f(device=f\"cuda:{d.index if d.device.type == 'cuda' else 0}\")\n",
        'device = f"cuda:{torch.cuda.current_device()}" if torch.cuda.is_available() else "cpu"\n',
    ],
)
def test_names_inside_strings_put_together(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text, MUSA + text.replace("cuda", "musa"))


def test_only_the_literal_part_changes(rewrites: Rewrites) -> None:
    before = "device = f\"cuda:{ids['cuda'] + f('cuda:0')}\"  # cuda\n"
    rewrites(HEAD + before, MUSA + before.replace("cuda", "musa", 1), ["P6"])


# ---- P9 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'if x.device.type == "cuda": pass\n',
        "if 'cuda' == x.device.type: pass\n",
        'if device.type != "cuda": pass\n',
        'if self.device == "cuda": pass\n',
        'if device == "cuda:0": pass\n',
        'if dev == "cuda" or args.device != "cuda": pass\n',
        'if torch.device(name).type == "cuda": pass\n',
        'ok = str(device).startswith("cuda")\n',
        "ok = device.startswith('cuda')\n",
        'ok = device.startswith("cuda:")\n',
        'ok = args.device.startswith("cuda")\n',
        'ok = str(self.device).startswith("cuda")\n',
        'ok = "cuda" in str(device)\n',
        'ok = "cuda" not in str(x.device)\n',
        'ok = "cuda" in args.device\n',
        'assert x.device.type == "cuda", "no GPU"\n',
        'f = lambda t: t.device.type == "cuda"\n',
        'xs = [t for t in ts if t.device.type == "cuda"]\n',
        'x = 1 if x.device.type == "cuda" else 2\n',
        'assert y.device == torch.device("cuda")\n',
    ],
)
def test_comparisons(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text, MUSA + text.replace("cuda", "musa"))


@pytest.mark.parametrize(
    "text",
    [
        'if name == "cuda": pass\n',
        'if backend != "cuda": pass\n',
        'if VLLM_TARGET_DEVICE == "cuda": pass\n',
        'if platform == "cuda": pass\n',
        'if Platform.CUDA == kind and kind == "cuda": pass\n',
        'if current_platform.name == "cuda": pass\n',
    ],
)
def test_comparisons_with_something_else_are_reported(rewrites: Rewrites, text: str) -> None:
    """Nobody knows whether the string is a device or a platform of the project."""
    assert rewrites(HEAD + text).findings


@pytest.mark.parametrize(
    "text",
    ['ok = name.startswith("cuda_")\n', 'ok = "cuda_graph" in device_tags\n', 'ok = path.endswith("cuda")\n',
     'ok = "barracuda" == x.device.type\n', 'ok = x.device.type == "cuda_like"\n'],
)  # fmt: skip
def test_other_comparisons_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


# ---- P23 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", "Float Half BFloat16 Double Long Int Short Byte Char Bool".split())
def test_default_tensor_types(rewrites: Rewrites, kind: str) -> None:
    before = f'torch.set_default_tensor_type("torch.cuda.{kind}Tensor")\n'
    rewrites(HEAD + before, MUSA + before.replace("cuda", "musa"), ["P23"])


def test_default_tensor_type_as_a_name(rewrites: Rewrites) -> None:
    before = "torch.set_default_tensor_type(torch.cuda.FloatTensor)\n"
    rewrites(HEAD + before, MUSA + before.replace("cuda", "musa"), ["P1"])


@pytest.mark.parametrize(
    "text",
    ['print("torch.cuda.FloatTensor")\n', 'torch.set_default_tensor_type("torch.FloatTensor")  # cuda\n',
     'torch.set_default_tensor_type("my torch.cuda.FloatTensor")\n'],
)  # fmt: skip
def test_other_type_strings_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


@pytest.mark.parametrize(
    "text",
    [
        'torch.set_default_tensor_type("torch.cuda.FloatTensor" if gpu else "torch.FloatTensor")\n',
        'ok = t.type() in ("torch.cuda.HalfTensor", "torch.cuda.FloatTensor")\n',
        'ok = t.type() == "torch.cuda.HalfTensor"\n',
        't = t.type("torch.cuda.ByteTensor")\n',
    ],
)
def test_tensor_types_that_are_chosen(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text, MUSA + text.replace("cuda", "musa"), ["P23"])


@pytest.mark.parametrize("text", ['x = "torch.cuda.FloatTensor"\n', 'x = {"torch.cuda.FloatTensor": 1}\n'])
def test_tensor_types_in_other_places_are_reported(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text, findings=["P33"])


@pytest.mark.parametrize("text", ['"torch.cuda.FloatTensor"\n', 'def f():\n    """torch.cuda.FloatTensor"""\n'])
def test_tensor_types_in_documentation_stay_unsaid(rewrites: Rewrites, text: str) -> None:
    assert rewrites(HEAD + text).findings == []
