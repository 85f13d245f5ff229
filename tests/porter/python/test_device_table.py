"""P38: tables whose keys are kinds of devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Execute, Port, Rewrites

HEAD, MUSA = "import torch\n", "import torch\nimport torch_musa\n"
TABLE = 'TABLE = {"cuda": 1, "cpu": 2}\n'


@pytest.mark.parametrize(
    "text",
    [
        'x = {"cuda": f, "cpu": g}[device.type]\n',
        'x = {"cuda": f, "mps": g, "cpu": h}.get(x.device.type, h)\n',
        'kind = "cuda"\nx.to(kind)\nx = {"cuda": f, "cpu": g}[kind]\n',
        f"{TABLE}x = TABLE[device.type]\n",
        f'{TABLE}x = TABLE["cuda"], TABLE.get("cuda"), TABLE.pop("cuda", None)\n',
        f'{TABLE}if "cuda" in TABLE or "cuda" not in TABLE: pass\n',
        f'{TABLE}x = TABLE["cuda" if ok else "cpu"]\n',
        f'{TABLE}def f():\n    return TABLE["cuda"]\n',
        'class A:\n    table = {"cuda": 1, "cpu": 2}\n    def f(self): return self.table["cuda"]\n',
        'T = {}\nT["cuda"] = 1\nT["cpu"] = 2\n',
        'T: dict[str, int] = {"cuda:0": 1, "cpu": 2}\n',
    ],
)
def test_tables(rewrites: Rewrites, text: str) -> None:
    assert rewrites(HEAD + text, MUSA + text.replace("cuda", "musa")).findings == []


@pytest.mark.parametrize("head", ["BACKENDS = {0}\nb = BACKENDS[device.type]\n", "b = {0}[device.type]\n"])
def test_backends_in_a_table(rewrites: Rewrites, head: str) -> None:
    before, after = '{"cuda": "nccl", "cpu": "gloo"}', '{"musa": "mccl", "cpu": "gloo"}'
    rewrites(HEAD + head.replace("{0}", before), MUSA + head.replace("{0}", after), ["P41", "P13"])


@pytest.mark.parametrize(
    "text",
    [
        'T = {"cuda": 1}\nx = T[device.type]\n',
        'T = {"cuda": 1, "triton": 2}\n',
        f"{TABLE}x = TABLE[platform]\n",
        f"{TABLE}def get(activity):\n    return TABLE[activity]\n",
        'x = {"cuda": f, "cpu": h}.get(kind, h)\n',
        f"{TABLE}x = TABLE.get(self.backend)\n",
        'f({"cuda": 1, "cpu": 2})\n',
        'setup(extras_require={"cuda": ["a"], "cpu": ["b"]})\n',
        'x = d["cuda"], d["cpu"]\n',
        "x = dict(cuda=1, cpu=2)\n",
    ],
)
def test_tables_of_something_else_stay_and_are_reported(rewrites: Rewrites, text: str) -> None:
    assert "warning" in {finding.severity.value for finding in rewrites(HEAD + text).findings}


def test_table_in_a_file_without_torch_stays(rewrites: Rewrites) -> None:
    rewrites(f'{TABLE}x = TABLE["cuda"]\n', findings=["P33 warning"])


def test_uses_change_together(port: Port, execute: Execute) -> None:
    text = f'{TABLE}TABLE["cuda"] += 1\nresult = TABLE["cuda"], "cuda" in TABLE, TABLE.get("cuda")\n'
    assert execute(port(HEAD + text)).names["result"] == (2, True, 2)
