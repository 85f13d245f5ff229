"""P7 and P8: classes of the project with a member `cuda`, methods that override torch's, and methods used as values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Execute, Port, Rewrites

HEAD, MUSA = "import torch\n", "import torch\nimport torch_musa\n"
OWN = "class Own:\n    def cuda(self):\n        return self\n"
MODULE = "class Net(torch.nn.Module):\n    def cuda(self, device=None):\n        return super().cuda(device)\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{OWN}    def f(self): return self.cuda()\n",
        f"{OWN}x = Own()\nx.cuda()\n",
        f"{OWN}Own().cuda()\n",
        f"{OWN}def f(x: Own): return x.cuda()\n",
        f"{OWN}def make(): return Own()\nmake().cuda()\nx = make()\nx.cuda()\n",
        f"{OWN}class A:\n    def __init__(self): self.own = Own()\n    def f(self): self.own.cuda()\n",
        f"{OWN}class Sub(Own):\n    def f(self): return self.cuda()\nSub().cuda()\n",
        f"{OWN}class Sub(Own):\n    def f(self): return super().cuda()\n",
        f"{OWN}f = Own.cuda\nx = Own()\ng = getattr(x, 'cuda')()\nh = hasattr(x, 'cuda')\n",
        "class A:\n    @property\n    def cuda(self): return True\n    def f(self): return self.cuda\nA().cuda()\n",
        "class A:\n    cuda = helper\n    def f(self): return self.cuda()\n",
        "class A:\n    def __init__(self): self.cuda = helper\n    def f(self): return self.cuda()\n",
        "class A(torch.nn.Module):\n    def __init__(self): self.cuda = helper\n    def f(self): return self.cuda()\n",
        "class A(torch.nn.Module):\n    @property\n    def cuda(self): return f\n    def g(self): return self.cuda()\n",
    ],
)
def test_members_of_the_project_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


def test_definition_that_stays_is_reported(rewrites: Rewrites) -> None:
    rewrites(HEAD + OWN, findings=["P7 warning"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{OWN}def f(x): return x.cuda()\n", f"{OWN}def f(x): return x.musa()\n"),
        (f"{OWN}x = torch.ones(1)\nx.cuda()\n", f"{OWN}x = torch.ones(1)\nx.musa()\n"),
        (
            f"{OWN}class A:\n    def f(self): return self.x.cuda()\n",
            f"{OWN}class A:\n    def f(self): return self.x.musa()\n",
        ),
    ],
)
def test_other_objects_beside_such_a_class(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(HEAD + before, MUSA + after, ["P7"], ["P7 warning"])


@pytest.mark.parametrize(
    "text",
    [
        f"{MODULE}    def f(self): return self.cuda()\nNet().cuda(0)\nx = Net()\nx.cuda()\n",
        f"{MODULE}class Sub(Net):\n    def f(self): return self.cuda()\n",
        f"{MODULE}class Sub(Net):\n    def cuda(self): return super().cuda()\n",
        "from torch import nn\nclass Net(nn.Linear):\n    def cuda(self): return self\n",
        "class Wrapped(torch.Tensor):\n    def cuda(self): return self\n",
        "import lightning\nclass Net(lightning.LightningModule):\n    def cuda(self): return self\n",
        "from mylib import Base\nclass Net(Base):\n    def cuda(self): return super().cuda()\n",
        "class Net(torch.nn.Module):\n    @torch.no_grad()\n    def cuda(self): return self\n",
    ],
)
def test_overrides_change_with_their_calls(rewrites: Rewrites, text: str) -> None:
    result = rewrites(HEAD + text, HEAD + text.replace("cuda", "musa"), ["P7"], imported="any")
    assert result.findings == []


def test_class_of_an_unknown_base_keeps_its_method(rewrites: Rewrites) -> None:
    text = (
        "from mylib import Base\nclass A(Base):\n    def cuda(self): return self\n    def f(self): return self.cuda()\n"
    )
    rewrites(HEAD + text, findings=["P7 warning"])


def test_overriding_method_is_reached(port: Port, execute: Execute) -> None:
    text = "class Net(torch.nn.Module):\n    def cuda(self): return 'own'\n    def f(self): return self.cuda()\n"
    world = execute(port(f"{HEAD}{text}result = Net().f(), Net().cuda()\n"))
    assert world.names["result"] == ("own", "own")


# ---- methods as values -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a = map(torch.Tensor.cuda, xs)\n",
        "a = torch.nn.Module.cuda\n",
        "model.apply(lambda m: m.cuda())\n",
        "move = x.cuda if gpu else x.cpu\n",
        "class Net(torch.nn.Module): ...\na = map(Net.cuda, xs)\n",
        "torch.Tensor.cuda = patched\n",
        "a = getattr(t, 'cuda')()\n",
        "a = getattr(torch, 'cuda').is_available()\n",
        "a = hasattr(torch, 'cuda')\n",
        "a = getattr(torch.version, 'cuda', None)\n",
        "if hasattr(x, 'cuda'): x = x.cuda()\n",
        "a = hasattr(torch.Tensor, 'cuda')\n",
        "import operator\na = map(operator.methodcaller('cuda', non_blocking=True), xs)\n",
        "a = getattr(x, 'is_cuda', False)\n",
    ],
)
def test_methods_as_values(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text, HEAD + text.replace("cuda", "musa"), imported="any")


def test_names_of_torch_cuda_in_strings(rewrites: Rewrites) -> None:
    rewrites(f"{HEAD}a = hasattr(torch.cuda, 'CUDAGraph')\n", f"{MUSA}a = hasattr(torch.musa, 'MUSAGraph')\n")


@pytest.mark.parametrize(
    "text", ["move = x.cuda\n", "f(x.cuda)\n", "fs = [x.cuda for x in xs]\n", "a = hasattr(x, 'cuda')\n"]
)
def test_values_that_may_be_anything_are_reported(rewrites: Rewrites, text: str) -> None:
    assert [finding.severity.value for finding in rewrites(HEAD + text).findings] == ["info"]


@pytest.mark.parametrize(
    "text",
    ["f(args.cuda)\n", "x = self.opt.cuda\n", "x = 1 if y.cuda else 2\n", "if y.cuda: pass\n", "f(mylib.cuda)\n"],
)
def test_flags_stay(rewrites: Rewrites, text: str) -> None:
    result = rewrites(HEAD + "import mylib\n" + text)
    assert [finding for finding in result.findings if finding.rule == "P7"] == []


@pytest.mark.parametrize(
    "text", ["a = getattr(args, 'cuda_graphs')\n", "setattr(x, name, 'cuda')\n", "a = getattr(mylib, 'cuda')\n"]
)
def test_other_strings_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + "import mylib\n" + text)
