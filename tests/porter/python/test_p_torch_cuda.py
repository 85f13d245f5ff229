"""Names below `torch.cuda`: P1 with every row of the table, P22 (nvtx), P28 (capability), P29 (private names), P30."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from musa_port.mappings import Row, read_rows

if TYPE_CHECKING:
    from tests.porter.python.conftest import Execute, Notices, Port, Rewrites

HEAD, MUSA = "import torch\n", "import torch\nimport torch_musa\n"
ROWS = {
    row.cuda: row
    for row in read_rows("torch_python")
    if re.fullmatch(r"torch\.cuda(\.\w+)+", row.cuda) and (row.musa.startswith("torch.") or not row.musa)
}
PUBLIC = [row for row in ROWS.values() if "._" not in row.cuda]
PRIVATE = [name for name in ROWS if re.match(r"torch\.cuda\._", name)]
SUPPORTED = [row for row in PUBLIC if row.supported]
UNSUPPORTED = [row for row in PUBLIC if not row.supported]


def case(name: str, before: str, after: str, *findings: str, rules: str = "P1") -> Any:
    """A program that imports torch: both texts are what follows the imports."""
    return pytest.param(HEAD + before, MUSA + after, tuple(rules.split()), findings, id=name)


def named(row: Row) -> str:
    return row.cuda


def test_the_table_is_covered() -> None:
    """The rows that the tests below run over, by what the table says."""
    assert len(SUPPORTED) > 80
    assert len(UNSUPPORTED) > 30
    assert len(PRIVATE) > 8


@pytest.mark.parametrize("row", SUPPORTED, ids=named)
def test_supported_names(rewrites: Rewrites, row: Row) -> None:
    result = rewrites(f"{HEAD}f({row.cuda}, {row.cuda}.x)\n", f"{MUSA}f({row.musa}, {row.musa}.x)\n", ["P1"])
    (confidence,) = {edit.confidence for edit in result.edits if edit.rule == "P1"}
    assert confidence == row.confidence
    assert not [finding for finding in result.findings if finding.severity.value == "error"]


@pytest.mark.parametrize(
    "row", [row for row in SUPPORTED if row.flag and not row.cuda.endswith("is_available")], ids=named
)
def test_flagged_names_are_reported(port: Port, row: Row) -> None:
    """A name that means something else on MUSA is rewritten, and the reader is told."""
    assert [finding.line for finding in port(f"{HEAD}\nf({row.cuda})\n").findings] == [3]


@pytest.mark.parametrize("row", UNSUPPORTED, ids=named)
def test_unsupported_names_stay(rewrites: Rewrites, row: Row) -> None:
    result = rewrites(f"{HEAD}\nf({row.cuda})\n{row.cuda}(1)\n")
    assert {(finding.severity.value, finding.line) for finding in result.findings} == {("error", 3), ("error", 4)}


@pytest.mark.parametrize("name", [*PRIVATE, "torch.cuda._initialized", "torch.cuda._C"])
def test_private_names_stay(rewrites: Rewrites, name: str) -> None:
    rewrites(f"{HEAD}f({name})\n{name}(1)\n", findings=["P29"])


@pytest.mark.parametrize(
    "use",
    [
        "torch._C._cuda_getCurrentRawStream(0)",
        "torch._C._cuda_setDevice(1)",
        "x = torch._C._cuda_getDeviceCount",
        "torch._C._cuda_synchronize()",
    ],
)
def test_private_names_of_the_native_module_stay(rewrites: Rewrites, use: str) -> None:
    rewrites(f"{HEAD}{use}\n", findings=["P29"])


def test_private_names_imported(rewrites: Rewrites) -> None:
    rewrites("from torch._C import _cuda_getCurrentRawStream as raw\nraw(0)\n", findings=["P29"])
    rewrites("from torch.cuda import _lazy_init\n_lazy_init()\n", findings=["P29"])


@pytest.mark.parametrize("name", ["torch.cuda.frobnicate", "torch.cuda.memory2", "torch.cuda.is_available_now"])
def test_unknown_names_stay(rewrites: Rewrites, name: str) -> None:
    """A name in no row is not guessed, whatever known name it begins with."""
    result = rewrites(f"{HEAD}{name}()\n")
    assert result.findings


def test_unknown_below_known(notices: Notices) -> None:
    notices(HEAD + "torch.cuda.nccl.all_reduce([x])\n", "nccl")
    notices(HEAD + "torch.cuda.memory.frobnicate()\n", "frobnicate")
    notices(HEAD + "torch.cuda.memory._snapshot()\n", "_snapshot")


@pytest.mark.parametrize(
    ("before", "after", "rules", "findings"),
    [
        case("call", "torch.cuda.synchronize()\n", "torch.musa.synchronize()\n"),
        case("condition", "if torch.cuda.is_available():\n    x = 1\n", "if torch.musa.is_available():\n    x = 1\n"),
        case("not", "x = not torch.cuda.is_available()\n", "x = not torch.musa.is_available()\n"),
        case(
            "statements-on-a-line",
            "torch.cuda.empty_cache(); x = 1; torch.cuda.synchronize()\n",
            "torch.musa.empty_cache(); x = 1; torch.musa.synchronize()\n",
        ),
        case("one-line-suite", "if x: torch.cuda.empty_cache()\n", "if x: torch.musa.empty_cache()\n"),
        case("no-newline-at-the-end", "torch.cuda.empty_cache()", "torch.musa.empty_cache()"),
        case(
            "with-two",
            "with torch.cuda.device(0), torch.cuda.stream(s) as t:\n\tpass\n",
            "with torch.musa.device(0), torch.musa.stream(s) as t:\n\tpass\n",
        ),
        case(
            "async",
            "async def f():\n    async with g(torch.cuda.Stream()) as s:\n        await s\n",
            "async def f():\n    async with g(torch.musa.Stream()) as s:\n        await s\n",
        ),
        case(
            "match",
            "match torch.cuda.device_count():\n    case 0 if torch.cuda.is_available():\n        pass\n",
            "match torch.musa.device_count():\n    case 0 if torch.musa.is_available():\n        pass\n",
        ),
        case(
            "annotations",
            "def f(s: torch.cuda.Stream, *a: torch.cuda.Event) -> torch.cuda.Stream | None:\n    e: torch.cuda.Event\n",
            "def f(s: torch.musa.Stream, *a: torch.musa.Event) -> torch.musa.Stream | None:\n    e: torch.musa.Event\n",
        ),
        case(
            "decorator",
            "@torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)\ndef f(): ...\n",
            "@torch.musa.amp.custom_fwd(cast_inputs=torch.float32)\ndef f(): ...\n",
        ),
        case("base-class", "class S(torch.cuda.Stream): ...\n", "class S(torch.musa.Stream): ...\n"),
        case(
            "lambda-and-default",
            "f = lambda n=torch.cuda.device_count(): torch.cuda.set_device(n)\n",
            "f = lambda n=torch.musa.device_count(): torch.musa.set_device(n)\n",
        ),
        case(
            "stars",
            "f(*torch.cuda.mem_get_info(), **g(torch.cuda.memory_stats()))\n",
            "f(*torch.musa.mem_get_info(), **g(torch.musa.memory_stats()))\n",
        ),
        case(
            "walrus",
            "if (n := torch.cuda.device_count()) > 1:\n    pass\n",
            "if (n := torch.musa.device_count()) > 1:\n    pass\n",
        ),
        case(
            "comprehension",
            "x = [torch.cuda.Stream(i) for i in range(torch.cuda.device_count()) if torch.cuda.is_available()]\n",
            "x = [torch.musa.Stream(i) for i in range(torch.musa.device_count()) if torch.musa.is_available()]\n",
        ),
        case(
            "nested-function",
            "def f():\n    class A:\n        def g(self):\n            return torch.cuda.current_device()\n",
            "def f():\n    class A:\n        def g(self):\n            return torch.musa.current_device()\n",
        ),
        case(
            "line-continuation",
            "x = torch.cuda \\\n    .device_count()\n",
            "x = torch.musa \\\n    .device_count()\n",
        ),
        case(
            "in-brackets-with-comments",
            "x = (torch  # the cuda side of torch\n     .cuda  # cuda\n     .device_count())  # torch.cuda\n",
            "x = (torch  # the cuda side of torch\n     .musa  # cuda\n     .device_count())  # torch.cuda\n",
        ),
        case("spaces", "x = torch . cuda . device_count ()\n", "x = torch . musa . device_count ()\n"),
        case(
            "format-spec",
            'print(f"cuda: {torch.cuda.memory_allocated() / 1e9:>{w}.2f} GB on cuda")\n',
            'print(f"cuda: {torch.musa.memory_allocated() / 1e9:>{w}.2f} GB on cuda")\n',
        ),
        case(
            "triple-quoted-format",
            'print(f"""torch.cuda {torch.cuda.device_count()!r}\n{{torch.cuda.device_count()}}""")\n',
            'print(f"""torch.cuda {torch.musa.device_count()!r}\n{{torch.cuda.device_count()}}""")\n',
        ),
        case(
            "joined-strings",
            'x = ("torch.cuda " f"{torch.cuda.device_count()}" " torch.cuda")\n',
            'x = ("torch.cuda " f"{torch.musa.device_count()}" " torch.cuda")\n',
        ),
        case("longest-row", "torch.cuda.nccl.version()\n", "torch.musa.mccl.version()\n"),
        case(
            "class-below-a-module",
            "a = torch.cuda.memory.CUDAPluggableAllocator(p, m, f)\n",
            "a = torch.musa.memory.MUSAPluggableAllocator(p, m, f)\n",
        ),
        case("module-moved", "torch.cuda.random.manual_seed(0)\n", "torch.musa.core.random.manual_seed(0)\n"),
        case("graph", "g = torch.cuda.CUDAGraph()\n", "g = torch.musa.MUSAGraph()\n"),
        case(
            "handle-of-a-stream",
            "h = torch.cuda.current_stream().cuda_stream\n",
            "h = torch.musa.current_stream().musa_stream\n",
            rules="",
        ),
        case("except", "try: f()\nexcept torch.cuda.OutOfMemoryError: pass\n",
             "try: f()\nexcept torch.musa.OutOfMemoryError: pass\n"),
        case(
            "global",
            "def f():\n    global torch\n    torch.cuda.empty_cache()\n",
            "def f():\n    global torch\n    torch.musa.empty_cache()\n",
        ),
    ],
)  # fmt: skip
def test_names(rewrites: Rewrites, before: str, after: str, rules: tuple[str, ...], findings: tuple[str, ...]) -> None:
    rewrites(before, after, rules, findings)


def test_type_that_is_stored_as_the_default(rewrites: Rewrites) -> None:
    rewrites(
        HEAD + "x = y.type(torch.cuda.FloatTensor)\nz = torch.cuda.LongTensor([1])\n",
        MUSA + "x = y.type(torch.musa.FloatTensor)\nz = torch.musa.LongTensor([1])\n",
        ["P1"],
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch as t\nt.cuda.empty_cache()\n", "t.musa.empty_cache()\n"),
        ("import numpy, torch as th, os\nth.cuda.empty_cache()\n", "th.musa.empty_cache()\n"),
        ("import torch.nn as nn, torch\ntorch.cuda.empty_cache()\n", "torch.musa.empty_cache()\n"),
    ],
)
def test_aliases_of_torch(port: Port, execute: Execute, before: str, after: str) -> None:
    result = port(before.replace("numpy, ", ""))
    assert result.data.decode().endswith(after)
    assert [call for call in execute(result).calls if "empty_cache" in call] == ["torch_musa.empty_cache"]


def test_module_as_a_value(notices: Notices) -> None:
    notices(HEAD + "m = torch.cuda\nm.synchronize()\n", "torch.cuda")
    notices(HEAD + "f(torch.cuda, 1)\n", "torch.cuda")


SHADOWED = {
    "parameter": "def f(torch):\n    return torch.cuda.is_available()\n",
    "parameter-of-lambda": "f = lambda torch: torch.cuda.is_available()\n",
    "keyword-only-parameter": "async def f(*, torch=None):\n    torch.cuda.empty_cache()\n",
    "local-assignment": "def f():\n    torch = g()\n    torch.cuda.empty_cache()\n",
    "local-with": "def f():\n    with g() as torch:\n        torch.cuda.empty_cache()\n",
    "local-for": "def f(xs):\n    for torch in xs:\n        torch.cuda.empty_cache()\n",
    "local-import": "def f():\n    import numpy as torch\n    torch.cuda.empty_cache()\n",
    "local-class": "def f():\n    class torch:\n        cuda = 1\n    return torch.cuda.real\n",
    "local-walrus": "def f():\n    if (torch := g()):\n        torch.cuda.empty_cache()\n",
    "comprehension": "x = [torch.cuda.device_count() for torch in xs]\n",
    "dict-comprehension": "x = {k: torch.cuda.device_count() for k, torch in xs.items()}\n",
    "nested-in-parameter": "def f(torch):\n    def g():\n        return torch.cuda.is_available()\n    return g\n",
    "captured-by-match": "def f(x):\n    match x:\n        case [torch]:\n            torch.cuda.empty_cache()\n",
}


@pytest.mark.parametrize("text", SHADOWED.values(), ids=SHADOWED)
def test_shadowed_names_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


@pytest.mark.parametrize(
    "text",
    [
        "class torch:\n    class cuda:\n        def empty_cache(): ...\ntorch.cuda.empty_cache()\n",
        "import mylib as torch\ntorch.cuda.empty_cache()\n",
        "from mylib import torch\ntorch.cuda.empty_cache()\n",
        "x.torch.cuda.empty_cache()\n",
        "self.torch.cuda.is_available()\n",
        "mylib.cuda.synchronize()\n",
        "def f(torch):\n    torch.cuda.synchronize()\n",
    ],
)
def test_other_things_called_torch_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


def test_shadowed_in_one_scope_only(rewrites: Rewrites) -> None:
    """The comprehension's own variable, the iterable outside of it, and a sibling function."""
    before = (
        "x = [torch.cuda.a for torch in f(torch.cuda.device_count())]\n"
        "def f(torch): return torch.cuda.empty_cache()\n"
        "def g(): return torch.cuda.empty_cache()\n"
    )
    after = (
        "x = [torch.cuda.a for torch in f(torch.musa.device_count())]\n"
        "def f(torch): return torch.cuda.empty_cache()\n"
        "def g(): return torch.musa.empty_cache()\n"
    )
    rewrites(HEAD + before, MUSA + after, ["P1"])


# ---- P22 ---------------------------------------------------------------------------------------------------------

NVTX = {
    "call": 'torch.cuda.nvtx.range_push("forward")\n',
    "with": 'with torch.cuda.nvtx.range("forward"):\n    x = 1\n',
    "decorator": '@torch.cuda.nvtx.range("f")\ndef f(): ...\n',
    "value": "push = torch.cuda.nvtx.range_push\n",
}


@pytest.mark.parametrize("text", NVTX.values(), ids=NVTX)
def test_nvtx_is_reported(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text, findings=["P22"])


@pytest.mark.parametrize(
    "text",
    [
        "import torch.cuda.nvtx as nvtx\nnvtx.range_push('x')\n",
        "from torch.cuda import nvtx\nnvtx.range_pop()\n",
        "from torch.cuda.nvtx import range_push, range_pop\nrange_push('x')\n",
        "import nvtx\n\n@nvtx.annotate('f')\ndef f(): ...\n",
    ],
)
def test_nvtx_imports_stay_and_are_reported(rewrites: Rewrites, text: str) -> None:
    assert rewrites(text).findings


def test_nvtx_is_removed_on_request(port: Port) -> None:
    text = (
        'def f():\n    torch.cuda.nvtx.range_push("a")\n    g()\n    torch.cuda.nvtx.range_pop()\n'
        'def h():\n    torch.cuda.nvtx.mark("only statement")\n'
        "if x: torch.cuda.nvtx.range_pop()\n"
        'with torch.cuda.nvtx.range("w"):\n    k()\n'
    )
    result = port(HEAD + text, strip_nvtx=True).data.decode()
    assert "range_push" not in result
    assert "range_pop" not in result
    assert "mark" not in result
    assert "g()" in result
    assert "k()" in result


# ---- P28, P30 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "ok = torch.cuda.get_device_capability() >= (8, 0)\n",
            "ok = torch.musa.get_device_capability() >= (8, 0)\n",
        ),
        (
            "if torch.cuda.get_device_capability(0)[0] < 9: pass\n",
            "if torch.musa.get_device_capability(0)[0] < 9: pass\n",
        ),
        (
            "ok = (9, 0) <= torch.cuda.get_device_capability()\n",
            "ok = (9, 0) <= torch.musa.get_device_capability()\n",
        ),
        (
            "ok = torch.cuda.get_device_properties(0).major >= 8\n",
            "ok = torch.musa.get_device_properties(0).major >= 8\n",
        ),
        (
            "p = torch.cuda.get_device_properties(d)\nif p.major >= 8 and p.minor == 9:\n    pass\n",
            "p = torch.musa.get_device_properties(d)\nif p.major >= 8 and p.minor == 9:\n    pass\n",
        ),
    ],
)
def test_capability_keeps_its_number(rewrites: Rewrites, before: str, after: str) -> None:
    result = rewrites(HEAD + before, MUSA + after, findings=["P28"])
    line = next(number for number, text in enumerate((HEAD + before).split("\n"), 1) if re.search(r"[<>]", text))
    assert line in {finding.line for finding in result.findings if finding.rule == "P28"}


def test_capability_of_something_else(rewrites: Rewrites) -> None:
    """A version of the project, in a file with CUDA words."""
    result = rewrites('import sys\nok = sys.version_info.major >= 3  # cuda\nx = "cuda"\n')
    assert "P28" not in {finding.rule for finding in result.findings}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "@pytest.mark.skipif(not torch.cuda.is_available(), reason='CUDA not available')\ndef test_x(): ...\n",
            "@pytest.mark.skipif(not torch.musa.is_available(), reason='CUDA not available')\ndef test_x(): ...\n",
        ),
        (
            "gpu = pytest.mark.skipif(torch.cuda.device_count() < 2, reason='needs two cuda devices')\n",
            "gpu = pytest.mark.skipif(torch.musa.device_count() < 2, reason='needs two cuda devices')\n",
        ),
        (
            "@unittest.skipUnless(torch.cuda.is_available(), 'no cuda')\nclass T(unittest.TestCase): ...\n",
            "@unittest.skipUnless(torch.musa.is_available(), 'no cuda')\nclass T(unittest.TestCase): ...\n",
        ),
    ],
)
def test_skips(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites("import pytest, unittest\n" + HEAD + before, "import pytest, unittest\n" + MUSA + after)
