"""Where `import torch_musa` goes: checked on the text, and by running the result with stand-ins for torch."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Execute, Port, Rewrites, World

# ---- needed or not -----------------------------------------------------------------------------------------------

NEEDED = {
    "attribute": "torch.cuda.synchronize()\n",
    "reference": "f = torch.cuda.synchronize\n",
    "method": "x = torch.ones(1).cuda()\n",
    "device": "x = torch.ones(1, device='cuda')\n",
    "device-object": "x = torch.device('cuda:0')\n",
    "backend": "torch.distributed.init_process_group('nccl')\n",
    "name": "device = 'cuda'\n",
    "in-a-function": "def f():\n    return torch.cuda.device_count()\n",
    "annotation": "def f(s: torch.cuda.Stream): ...\n",
    "default": "def f(n=torch.cuda.device_count()): ...\n",
    "inside-a-format": "print(f'{torch.cuda.device_count()}')\n",
}


@pytest.mark.parametrize("text", NEEDED.values(), ids=NEEDED)
def test_added_directly_after_torch(port: Port, execute: Execute, text: str) -> None:
    result = port(f"import os\nimport torch\nimport sys\n\n{text}")
    lines = result.data.decode().split("\n")
    assert lines[:4] == ["import os", "import torch", "import torch_musa", "import sys"]
    assert result.data.count(b"torch_musa") == 1
    world = execute(result)
    assert world.imports[:2] == ["torch", "torch_musa"]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nx = torch.ones(1)  # cuda\n",
        "import torch\nx = 'cuda'\nuse_cuda = 1\n",
        "import torch\nprint('musa', 'torch.musa', '.musa()')  # cuda\n",
        "import torch\ntorch.backends.cudnn.benchmark = True\n",
        "import torch\ntorch.cuda.nvtx.range_push('x')\n",
        "import torch\nfrom mylib import cuda\ncuda.synchronize()\n",
    ],
)
def test_not_added_where_nothing_needs_it(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


@pytest.mark.parametrize(
    "text",
    [
        "import os\nx = os.environ['CUDA_HOME']\n",
        "import torch, os\nx = os.environ['CUDA_HOME']\n",
        "import torch, ctypes\nx = ctypes.CDLL('libcudart.so')\n",
        "import torch, subprocess\nsubprocess.run(['nvcc', 'a.cu'])\n",
    ],
)
def test_not_added_for_other_edits(port: Port, text: str) -> None:
    result = port(text)
    assert result.edits
    assert b"torch_musa" not in result.data


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch\nimport torch_musa\ntorch.cuda.empty_cache()\n",
         "import torch\nimport torch_musa\ntorch.musa.empty_cache()\n"),
        ("import torch\nimport torch_musa as tm\nx.cuda()\n", "import torch\nimport torch_musa as tm\nx.musa()\n"),
        ("import torch, torch_musa\nx.cuda()\n", "import torch, torch_musa\nx.musa()\n"),
        ("import torch\nfrom torch_musa import amp\nx.cuda()\n",
         "import torch\nfrom torch_musa import amp\nx.musa()\n"),
        ("import torch\nfrom torch.cuda.amp import autocast\nx.cuda()\n",
         "import torch\nfrom torch_musa.core.amp import autocast\nx.musa()\n"),
        ("import torch\nfrom torch import cuda\nx.cuda()\ncuda.synchronize()\n",
         "import torch\nimport torch_musa as cuda\nx.musa()\ncuda.synchronize()\n"),
    ],
)  # fmt: skip
def test_not_added_twice(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after)


# ---- the place ---------------------------------------------------------------------------------------------------

PLACES: dict[str, tuple[str, str]] = {
    "first-of-two": (
        "import torch\nimport torch.nn as nn\nfrom torch import optim\n\ntorch.cuda.synchronize()\n",
        "import torch\nimport torch_musa\nimport torch.nn as nn\nfrom torch import optim\n\ntorch.musa.synchronize()\n",
    ),
    "from": (
        "import os\nfrom torch import nn, autograd\nx = nn.Linear(1, 1).cuda()\n",
        "import os\nfrom torch import nn, autograd\nimport torch_musa\nx = nn.Linear(1, 1).musa()\n",
    ),
    "brackets": (
        "from torch import (\n    nn,  # (cuda\n    autograd,\n)\nimport os\nx = nn.Linear(1, 1).cuda()\n",
        "from torch import (\n    nn,  # (cuda\n    autograd,\n)\nimport torch_musa\nimport os\n"
        "x = nn.Linear(1, 1).musa()\n",
    ),
    "continuation": (
        "from torch import nn, \\\n    autograd\nimport os\nx = nn.Linear(1, 1).cuda()\n",
        "from torch import nn, \\\n    autograd\nimport torch_musa\nimport os\nx = nn.Linear(1, 1).musa()\n",
    ),
    "comment-behind": (
        "import torch  # noqa: cuda\nimport os\ntorch.cuda.synchronize()\n",
        "import torch  # noqa: cuda\nimport torch_musa\nimport os\ntorch.musa.synchronize()\n",
    ),
    "alias": (
        "import torch as t\nt.cuda.synchronize()\n",
        "import torch as t\nimport torch_musa\nt.musa.synchronize()\n",
    ),
    "several": (
        "import os, torch, sys\ntorch.cuda.synchronize()\n",
        "import os, torch, sys\nimport torch_musa\ntorch.musa.synchronize()\n",
    ),
    "docstring": (
        '"""A program for cuda."""\n\nimport torch\ntorch.cuda.synchronize()\n',
        '"""A program for cuda."""\n\nimport torch\nimport torch_musa\ntorch.musa.synchronize()\n',
    ),
    "docstring-on-the-same-line": (
        '"""cuda"""; import os\nimport torch\ntorch.cuda.synchronize()\n',
        '"""cuda"""; import os\nimport torch\nimport torch_musa\ntorch.musa.synchronize()\n',
    ),
    "future": (
        '#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n"""cuda"""\nfrom __future__ import annotations\n'
        "from __future__ import division\n\nimport torch\ntorch.cuda.synchronize()\n",
        '#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n"""cuda"""\nfrom __future__ import annotations\n'
        "from __future__ import division\n\nimport torch\nimport torch_musa\ntorch.musa.synchronize()\n",
    ),
    "late": (
        "import os\nx = 1\n\n\ndef f():\n    pass\n\n\nimport torch\ntorch.cuda.synchronize()\n",
        "import os\nx = 1\n\n\ndef f():\n    pass\n\n\nimport torch\nimport torch_musa\ntorch.musa.synchronize()\n",
    ),
    "before-a-decorator": (
        "import torch\n@torch.no_grad()\ndef f():\n    torch.cuda.synchronize()\nf()\n",
        "import torch\nimport torch_musa\n@torch.no_grad()\ndef f():\n    torch.musa.synchronize()\nf()\n",
    ),
    "top-level-after-one-in-a-function": (
        "def f():\n    import torch\n    return torch\nimport torch\ntorch.cuda.synchronize()\n",
        "def f():\n    import torch\n    return torch\nimport torch\nimport torch_musa\ntorch.musa.synchronize()\n",
    ),
    "last-line": ("import os\nx = 'cuda'\nimport torch; torch.cuda.synchronize()", ""),
    "function": (
        "def f():\n    import torch\n    torch.cuda.synchronize()\n\n\nf()\n",
        "def f():\n    import torch\n    import torch_musa\n    torch.musa.synchronize()\n\n\nf()\n",
    ),
    "function-with-docstring": (
        'def f():\n\t"""cuda"""\n\timport os\n\tfrom torch import nn\n\treturn nn.Linear(1, 1).cuda()\n\n\nf()\n',
        'def f():\n\t"""cuda"""\n\timport os\n\tfrom torch import nn\n\timport torch_musa\n'
        "\treturn nn.Linear(1, 1).musa()\n\n\nf()\n",
    ),
    "try": (
        "try:\n    import torch\nexcept ImportError:\n    torch = None\nif torch: torch.cuda.synchronize()\n",
        "try:\n    import torch\n    import torch_musa\nexcept ImportError:\n    torch = None\n"
        "if torch: torch.musa.synchronize()\n",
    ),
    "try-else": (
        "try:\n    import os\nexcept ImportError:\n    pass\nelse:\n    import torch\ntorch.cuda.synchronize()\n",
        "try:\n    import os\nexcept ImportError:\n    pass\nelse:\n    import torch\n    import torch_musa\n"
        "torch.musa.synchronize()\n",
    ),
    "method": (
        "class A:\n    def f(self):\n        if True:\n            import torch\n            torch.cuda.synchronize()\n"
        "A().f()\n",
        "class A:\n    def f(self):\n        if True:\n            import torch\n            import torch_musa\n"
        "            torch.musa.synchronize()\nA().f()\n",
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_place(port: Port, execute: Execute, name: str) -> None:
    before, after = PLACES[name]
    result = port(before)
    if after:
        assert result.data.decode() == after
    world = execute(result)
    assert world.imports.index("torch") < world.imports.index("torch_musa")


RUNS = {
    "one-line-suite": "if True: import torch\ntorch.cuda.synchronize()\n",
    "one-line-suite-both": "if True: import torch; torch.cuda.synchronize()\n",
    "one-line-function": "def f(): import torch; torch.cuda.synchronize()\nf()\n",
    "semicolons": "import os; import torch; torch.cuda.synchronize()\n",
    "semicolon-at-the-end": "import torch;\ntorch.cuda.synchronize()\n",
    "one-line-try": "try: import torch\nexcept ImportError: pass\ntorch.cuda.synchronize()\n",
    "one-line-class": "class A: import torch; torch.cuda.synchronize()\n",
    "one-line-loop": "for i in [1]: import torch; torch.cuda.synchronize()\n",
    "one-line-with": "import contextlib\nwith contextlib.nullcontext(): import torch\ntorch.cuda.synchronize()\n",
    "two-functions": "def f():\n    import torch\n    torch.cuda.synchronize()\n"
                     "def g():\n    import torch\n    torch.cuda.synchronize()\ng()\n",
    "inner-function": "def f():\n    import torch\n    def g():\n        torch.cuda.synchronize()\n    g()\nf()\n",
    "only-submodule": "import torch.nn\ntorch.cuda.synchronize()\n",
    "only-submodule-alias": "import torch.nn.functional as F\ndef f(x):\n    return x.cuda()\nf(F.pad(1))\n"
                            "import torch\ntorch.cuda.synchronize()\n",
    "only-submodule-from": "from torch.nn import Linear\nx = Linear(1, 1).to('cuda')\nimport torch\n"
                           "torch.cuda.synchronize()\n",
    "global": "def f():\n    global torch\n    import torch\nf()\ntorch.cuda.synchronize()\n",
    "try-except": "try:\n    import no_such_name\nexcept ImportError:\n    import torch\ntorch.cuda.synchronize()\n",
    "if-else": "import sys\nif sys.version_info < (3,):\n    import torch\nelse:\n    import torch\n"
               "torch.cuda.synchronize()\n",
    "match": "match 1:\n    case 1:\n        import torch\ntorch.cuda.synchronize()\n",
    "with": "import contextlib\nwith contextlib.suppress(ImportError):\n    import torch\ntorch.cuda.synchronize()\n",
    "async": "import asyncio\nasync def f():\n    import torch\n    torch.cuda.synchronize()\nasyncio.run(f())\n",
    "type-checking": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n"
                     "def f():\n    import torch\n    torch.cuda.synchronize()\nf()\n",
    "type-checking-torch-musa": "from typing import TYPE_CHECKING\nimport torch\nif TYPE_CHECKING:\n"
                                "    import torch_musa\ntorch.cuda.synchronize()\n",
    "type-checking-attribute": "import typing\nif typing.TYPE_CHECKING:\n    import torch\n    import torch_musa\n"
                               "import torch\ntorch.cuda.synchronize()\n",
    "torch-musa-in-another-function": "import torch\ndef g():\n    import torch_musa\ntorch.cuda.synchronize()\n",
    "crlf": "import torch\r\nif True:\r\n    torch.cuda.synchronize()\r\n",
    "byte-order-mark": "\ufeffimport torch\ntorch.cuda.synchronize()\n",
    "docstring-only-before": '"""cuda"""\nimport torch; torch.cuda.synchronize()\n',
    "future-on-one-line": "from __future__ import annotations; import torch; torch.cuda.synchronize()\n",
    "future-after-docstring-on-one-line": '"""cuda"""; from __future__ import annotations\nimport torch\n'
                                          "torch.cuda.synchronize()\n",
    "used-in-a-decorator": "import torch\n@torch.cuda.amp.custom_fwd\ndef f():\n    torch.cuda.synchronize()\nf()\n",
    "import-between-decorated-functions": "import functools\n@functools.cache\ndef f():\n    import torch\n"
                                          "    torch.cuda.synchronize()\n@functools.cache\ndef g(): ...\nf()\n",
    "no-newline": "import torch\ndef f(): torch.cuda.synchronize()\nf()",
    "backslash": "import \\\n    torch\ntorch.cuda.synchronize()\n",
    "tabs": "if True:\n\tif True:\n\t\timport torch\n\t\ttorch.cuda.synchronize()\n",
    "comment-before": "# torch\n\n# cuda\nimport torch\n# after\n\ntorch.cuda.synchronize()\n",
}  # fmt: skip


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS)
def test_runs(port: Port, execute: Execute, text: str) -> None:
    """Whatever the layout: torch, then torch_musa, then the call."""
    world = execute(port(text))
    assert "torch_musa.synchronize" in world.calls


def test_docstring_is_kept_as_such(port: Port, execute: Execute) -> None:
    text = '"""For cuda."""\nimport torch\n\ndef f():\n    "On cuda."\n    torch.cuda.synchronize()\nf()\n'
    names = execute(port(text)).names
    assert names["__doc__"] == "For cuda."
    assert names["f"].__doc__ == "On cuda."


def test_future_features_stay_in_force(port: Port, execute: Execute) -> None:
    text = '"""cuda"""\nfrom __future__ import annotations\nimport torch\ndef f(x: no): ...\ntorch.cuda.synchronize()\n'
    assert execute(port(text)).names["f"].__annotations__ == {"x": "no"}


def test_decorator_stays_with_its_function(port: Port) -> None:
    text = "import functools\n@functools.cache\n# cuda\n\ndef f():\n    import torch\n    torch.cuda.synchronize()\n"
    function = ast.parse(port(text).data).body[1]
    assert isinstance(function, ast.FunctionDef)
    assert len(function.decorator_list) == 1


def test_file_without_torch(port: Port, execute: Execute) -> None:
    """A device string in a file that never imports torch: the result runs all the same."""
    text = '"""cuda"""\nfrom __future__ import annotations\nimport argparse\np = argparse.ArgumentParser()\n' \
           'p.add_argument("--device", default="cuda")\nresult = p.parse_args([]).device\n'  # fmt: skip
    result = port(text)
    assert execute(result).names["result"] == "musa"
    assert result.data.startswith(b'"""cuda"""\nfrom __future__ import annotations\n')


# ---- the environment ---------------------------------------------------------------------------------------------

SET = {
    "item": 'import os\nimport torch\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\ntorch.cuda.synchronize()\n',
    "before-torch": 'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\nimport torch\ntorch.cuda.synchronize()\n',
    "setdefault": 'import os\nimport torch\nos.environ.setdefault("CUDA_VISIBLE_DEVICES", "1")\n'
                  "torch.cuda.synchronize()\n",
    "in-an-if": 'import os\nimport torch\nif True:\n    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n'
                "torch.cuda.synchronize()\n",
    "other-imports-between": 'import os, sys\nimport torch\nimport torch.nn as nn\nimport json\n'
                             'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\nnn.Linear(1, 1)\ntorch.cuda.synchronize()\n',
    "twice": 'import os\nimport torch\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\n'
             'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\ntorch.cuda.synchronize()\n',
    "environ": 'from os import environ\nimport torch\nenviron["CUDA_VISIBLE_DEVICES"] = "1"\n'
               "torch.cuda.synchronize()\n",
    "semicolons": 'import os, torch; os.environ["CUDA_VISIBLE_DEVICES"] = "1"; torch.cuda.synchronize()\n',
    "in-a-try": 'import os\nimport torch\ntry:\n    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\nfinally:\n    pass\n'
                "torch.cuda.synchronize()\n",
    "after-functions": 'import os\nimport torch\ndef f():\n    return torch.cuda.synchronize()\n'
                       'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\nf()\n',
    "docstring-and-future": '"""cuda"""\nfrom __future__ import annotations\nimport os\nimport torch\n'
                            'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\ntorch.cuda.synchronize()\n',
}  # fmt: skip


def visible(world: World) -> str | None:
    return world.environment.get("MUSA_VISIBLE_DEVICES")


@pytest.mark.parametrize("text", SET.values(), ids=SET)
def test_environment_is_set_before(port: Port, execute: Execute, text: str) -> None:
    world = execute(port(text))
    assert visible(world) == "1"
    assert "torch_musa.synchronize" in world.calls


MAIN = 'import os\nimport torch\ndef main():\n    torch.cuda.synchronize()\nif __name__ == "__main__":\n'
BLOCKS = {
    "call-in-the-block": MAIN + '    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n    main()\n',
    "import-in-the-block": MAIN
    + '    import sys\n    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n    main()\n    sys.path\n',
    "condition-in-the-block": MAIN + '    if True:\n        os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n    main()\n',
    "block-on-a-line": MAIN[:-1] + ' os.environ["CUDA_VISIBLE_DEVICES"] = "1"; main()\n',
}


@pytest.mark.parametrize("text", BLOCKS.values(), ids=BLOCKS)
def test_environment_is_set_in_the_main_block(port: Port, execute: Execute, text: str) -> None:
    """The usual script: its last block sets the variable and starts the work."""
    world = execute(port(text), "__main__")
    assert visible(world) == "1"
    assert "torch_musa.synchronize" in world.calls


def test_main_block_of_an_imported_module(port: Port, execute: Execute) -> None:
    """The same file as a module of somebody else's program: its functions work too."""
    names = execute(port(BLOCKS["call-in-the-block"])).names
    names["main"]()


def test_environment_is_set_in_one_branch(port: Port, execute: Execute) -> None:
    text = (
        'import os\nimport torch\nif "X" in os.environ:\n    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\nelse:\n'
        "    torch.cuda.synchronize()\n"
    )
    assert "torch_musa.synchronize" in execute(port(text)).calls


def test_moved_import(rewrites: Rewrites) -> None:
    """The import is moved, the assignment is not, and the reader is told."""
    result = rewrites(
        'import os\nimport torch\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\ntorch.cuda.synchronize()\n',
        'import os\nimport torch\nos.environ["MUSA_VISIBLE_DEVICES"] = "1"\nimport torch_musa\n'
        "torch.musa.synchronize()\n",
    )
    assert result.findings


def test_own_import_of_torch_musa_before_the_environment(port: Port) -> None:
    """The author's own import comes too early already: at least that is said."""
    result = port(
        'import os\nimport torch\nimport torch_musa\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\n'
        "torch.cuda.synchronize()\n"
    )
    lines = result.data.decode().split("\n")
    assert result.findings or lines.index("import torch_musa") > lines.index('os.environ["MUSA_VISIBLE_DEVICES"] = "1"')


@pytest.mark.parametrize(
    "text",
    [
        'import os\nimport torch\ndef f():\n    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\nx = torch.cuda.Stream\nf()\n',
        'import os\nimport torch\nx = os.environ.get("CUDA_VISIBLE_DEVICES")\ntorch.cuda.synchronize()\n',
        'import os\nimport torch\nos.environ["CUDA_LAUNCH_BLOCKING"] = "1"\ntorch.cuda.synchronize()\n',
    ],
)
def test_not_moved_for_other_uses(port: Port, text: str) -> None:
    """Only top-level code that sets the variable counts."""
    assert port(text).data.startswith(b"import os\nimport torch\nimport torch_musa\n")


def test_module_import_becomes_late_too(port: Port, execute: Execute) -> None:
    """`from torch import cuda` turns into the import of torch_musa itself."""
    text = 'import os\nfrom torch import cuda\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\ncuda.synchronize()\n'
    result = port(text)
    assert visible(execute(result)) == "1" or result.findings


# ---- what sets the visible devices -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "setter",
    [
        'os.environ["{}"] = "0"',
        'os.environ.update({{"{}": "0"}})',
        'os.environ.update({}="0")',
        'os.environ |= {{"{}": "0"}}',
        'os.environ.setdefault("{}", "0")',
        'os.putenv("{}", "0")',
        'mock.patch.dict(os.environ, {{"{}": "0"}}).start()',
        'mock.patch.dict("os.environ", {}="0").start()',
    ],
)
def test_the_import_comes_after_what_sets_the_visible_devices(rewrites: Rewrites, setter: str) -> None:
    head = "import os\nimport torch\nfrom unittest import mock\n"
    before = f"{head}{setter.format('CUDA_VISIBLE_DEVICES')}\nx.cuda()\n"
    after = f"{head}{setter.format('MUSA_VISIBLE_DEVICES')}\nimport torch_musa\nx.musa()\n"
    result = rewrites(before, after)
    assert [finding.line for finding in result.findings if finding.rule == "P32"] == [4]


@pytest.mark.parametrize(
    "text",
    [
        'env = dict(os.environ, {}="0")',
        'env = {{**os.environ, "{}": "0"}}',
        'env = os.environ.copy()\nenv.update({}="0")',
        'def f(monkeypatch):\n    monkeypatch.setenv("{}", "0")',
        'x = os.environ["{}"]',
    ],
)
def test_the_import_does_not_wait_for_copies_and_readers(rewrites: Rewrites, text: str) -> None:
    before = f"import os\nimport torch\n{text.format('CUDA_VISIBLE_DEVICES')}\nx.cuda()\n"
    after = f"import os\nimport torch\nimport torch_musa\n{text.format('MUSA_VISIBLE_DEVICES')}\nx.musa()\n"
    rewrites(before, after)


# ---- files without torch -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('from mylib import run\nrun(device="cuda")\n', 'from mylib import run\nrun(device="musa")\n'),
        ('def f(x, device="cuda"): ...\n', 'def f(x, device="musa"): ...\n'),
        (
            'if TYPE_CHECKING:\n    import torch\ndevice = "cuda"\n',
            'if TYPE_CHECKING:\n    import torch\ndevice = "musa"\n',
        ),
    ],
)
def test_a_file_without_torch_gets_a_finding_and_no_import(rewrites: Rewrites, before: str, after: str) -> None:
    result = rewrites(before, after, findings=["P32 warning"])
    (finding,) = [finding for finding in result.findings if finding.rule == "P32"]
    assert finding.line == before[: before.index("cuda")].count("\n") + 1
    assert "does not import torch" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        "import os\nx = os.environ['CUDA_HOME']\n",
        "import torch\nx = torch.zeros(1, device='cuda')\n",
        "import torch_musa\nrun(device='cuda')\n",
        "from torch import cuda\ncuda.synchronize()\nrun(device='cuda')\n",
        "from torch import zeros\nx = zeros(1, device='cuda')\n",
        "def f():\n    import torch\n    return torch.zeros(1, device='cuda')\n",
        "def f(torch):\n    return torch.cuda.is_available()\n",
    ],
)
def test_no_finding_where_torch_is_imported_or_not_needed(port: Port, text: str) -> None:
    assert [finding for finding in port(text).findings if finding.rule == "P32"] == []
