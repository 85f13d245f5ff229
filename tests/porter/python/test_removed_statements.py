"""What is around statements and elements that go: blocks keep a statement, and no empty line or `pass` is too many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Rewrites

HEAD = "import torch\n"
PUSH, POP = 'torch.cuda.nvtx.range_push("a")', "torch.cuda.nvtx.range_pop()"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{PUSH}\nrun()\n{POP}\n", "run()\n"),
        (f"def f():\n    {PUSH}\n    run()\n    {POP}\n", "def f():\n    run()\n"),
        (f"def f():\n    {PUSH}\n    return x\n", "def f():\n    return x\n"),
        (f"def f():\n    {PUSH}\n    {POP}\n", "def f():\n    pass\n"),
        (f"if x:\n    {PUSH}\nelse:\n    {POP}\n    run()\n", "if x:\n    pass\nelse:\n    run()\n"),
        (f"if x:\n    {PUSH}\n    if y:\n        {POP}\n", "if x:\n    if y:\n        pass\n"),
        (f"class A:\n    {PUSH}\n", "class A:\n    pass\n"),
        (f"for i in x: {PUSH}\n", "for i in x: pass\n"),
        (f"{PUSH}; run()\n", "run()\n"),
        (f"run(); {POP}\n", "run()\n"),
        (f"a = 1; {POP}; b = 2\n", "a = 1; b = 2\n"),
        (f"for i in x: {PUSH}; run()\n", "for i in x: run()\n"),
        ('torch.cuda.nvtx.mark(\n    "a",\n)\nrun()\n', "run()\n"),
        (f"def f():\n    run()\n    {POP}  # the end\n", "def f():\n    run()\n    pass  # the end\n"),
        (f"def f():\n    {PUSH}\n    x.append(1)\n", "def f():\n    pass\n    x.append(1)\n"),
    ],
)
def test_ranges(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(HEAD + before, HEAD + after, ["P22"], strip_nvtx=True)


FLAGS = "from torch.utils.cpp_extension import load\n"
FLAGS_MUSA = "from torch_musa.utils.musa_extension import load\n"
USE = 'load("a", ["a.cc"], extra_cuda_cflags=flags)\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'flags = ["-O3", \\\n    "--expt-relaxed-constexpr", \\\n    "-g"]\n',
            'flags = ["-O3", \\\n    "-g"]\n',
        ),
        (
            'flags = [\n    "-O3",\n    "--expt-relaxed-constexpr",\n    "-g",\n]\n',
            'flags = [\n    "-O3",\n    "-g",\n]\n',
        ),
        (
            'flags = ["-O3"]\nif x:\n    flags.append("--expt-relaxed-constexpr")\n'
            '    flags.append("--expt-extended-lambda")\n',
            'flags = ["-O3"]\nif x:\n    pass\n',
        ),
    ],
)
def test_flags(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(FLAGS + before + USE, FLAGS_MUSA + after + USE.replace("cuda", "musa"))
