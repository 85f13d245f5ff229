"""P40: code that has a branch for MUSA already keeps what stands there for CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Rewrites

HEAD, MUSA = "import torch\n", "import torch\nimport torch_musa\n"
HAS_MUSA = "torch.musa.is_available()"
IS_MUSA = f'hasattr(torch, "musa") and {HAS_MUSA}'
HAS_CUDA = "torch.cuda.is_available()"

LEFT = {
    "chain": f'if {IS_MUSA}:\n    d = torch.device("musa")\nelif {HAS_CUDA}:\n    d = torch.device("cuda")\n',
    "chain-the-other-way": f"if {HAS_CUDA}:\n    x.cuda()\nelif {HAS_MUSA}:\n    x.musa()\n",
    "else": "if torch.musa.is_available():\n    x = x.musa()\nelse:\n    x = x.cuda()\n",
    "negated": "if not torch.musa.is_available():\n    x = x.cuda()\nelse:\n    x = x.musa()\n",
    "unequal": 'if device.type != "musa":\n    torch.cuda.synchronize()\n',
    "flag": "if USE_MUSA:\n    pass\nelse:\n    torch.cuda.synchronize()\n",
    "one-line": "if is_musa(): x.musa()\nelse: x.cuda()\n",
    "conditional": f'd = "musa" if {IS_MUSA} else "cuda" if torch.cuda.is_available() else "cpu"\n',
    "conditional-the-other-way": f'd = "cuda" if {HAS_CUDA} else "musa" if {HAS_MUSA} else "cpu"\n',
    "conditional-negated": 'd = x.to("cuda" if not is_musa else "musa")\n',
    "type": 'if d.type == "musa":\n    torch.musa.init()\nelif d.type == "cuda":\n    torch.cuda.synchronize()\n',
    "try": "try:\n    import torch_musa\nexcept ImportError:\n    torch.cuda.synchronize()\n",
    "match": 'match d.type:\n    case "musa": x.musa()\n    case "cuda": x.cuda()\n',
    "tuple": 'ok = d.type in ("cuda", "musa")\n',
    "list": 'p.add_argument("--device", choices=["cpu", "cuda", "musa"])\n',
    "indices": 'devices = ["cuda:0", "musa:0"]\n',
    "literal": 'def f(device: Literal["cuda", "musa"]): ...\n',
    "table": 'T = {"cuda": "nccl", "musa": "mccl", "cpu": "gloo"}\nx = T[device.type]\n',
    "backends": 'ok = dist.get_backend() in ("nccl", "mccl")\n',
    "or": "ok = x.is_cuda or x.is_musa\n",
    "or-availability": "ok = torch.cuda.is_available() or torch.musa.is_available()\n",
    "and-not": 'ok = d.type != "cuda" and d.type != "musa"\n',
    "replace": 'd = d.replace("cuda", "musa")\n',
}


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_left(rewrites: Rewrites, text: str) -> None:
    result = rewrites(HEAD + "import torch.distributed as dist\n" + text)
    assert {(finding.rule, finding.severity.value) for finding in result.findings} == {("P40", "info")}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "if torch.musa.is_available():\n    x = x.musa()\nelse:\n    x = x.cuda()\nx.cuda()\n",
            "if torch.musa.is_available():\n    x = x.musa()\nelse:\n    x = x.cuda()\nx.musa()\n",
        ),
        ("if is_musa:\n    x.cuda()\n", "if is_musa:\n    x.musa()\n"),
        ('if is_musa:\n    pass\nif d.type == "cuda": pass\n', 'if is_musa:\n    pass\nif d.type == "musa": pass\n'),
        (
            "if x and is_musa:\n    pass\nelse:\n    y = 1\nx.cuda()\n",
            "if x and is_musa:\n    pass\nelse:\n    y = 1\nx.musa()\n",
        ),
        (
            "try:\n    x.cuda()\nexcept MusaError:\n    x.cuda()\n",
            "try:\n    x.musa()\nexcept MusaError:\n    x.musa()\n",
        ),
        ('devices = ["cuda:0", "musa:1"]\n', 'devices = ["musa:0", "musa:1"]\n'),
        ('p = "musa.py"\nd = torch.device("cuda")\n', 'p = "musa.py"\nd = torch.device("musa")\n'),
        ("if amusant:\n    pass\nelse:\n    x.cuda()\n", "if amusant:\n    pass\nelse:\n    x.musa()\n"),
    ],
)
def test_what_stands_elsewhere_is_ported(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(HEAD + before, MUSA + after)


def test_each_place_is_named(rewrites: Rewrites) -> None:
    text = "if is_musa:\n    pass\nelif torch.cuda.is_available():\n    x.cuda()\n    y.cuda()\nelse:\n    z = 1\n"
    findings = rewrites(HEAD + text).findings
    assert [finding.line for finding in findings] == [4, 5]
    assert "lines 5 to 6" in findings[1].message
