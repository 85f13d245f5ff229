"""Operators that a card lacks: by the table of public reports, and by a file of what a torch_musa registers."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from musa_compat import sim

D = "musa"
ROOT = Path(__file__).resolve().parents[4]


def found(function) -> str:
    with sim.strict("raise", "operators"), pytest.raises(sim.StrictError) as caught:
        function()
    assert caught.value.finding.check == "operators"
    assert caught.value.finding.place.file == __file__
    return str(caught.value.finding.message)


def fine(function) -> None:
    with sim.strict("raise", "operators"):
        function()


def test_gaps_of_the_table() -> None:
    byte, double = torch.ones(4, dtype=torch.uint8, device=D), torch.ones(4, 4, dtype=torch.float64, device=D)
    half = torch.ones(4, 4, dtype=torch.float16, device=D)
    assert "uint8: on a card it has no kernel for uint8 (torch_musa issue 86)" in found(byte.sum)
    assert "muDNN" in found(lambda: double @ double)
    assert "muDNN" in found(lambda: torch.nn.functional.linear(double, double, double[0]))
    assert "muDNN" in found(lambda: double[None] @ double[None])
    assert "torchada" in found(double.log_)
    assert "torchada" in found(lambda: torch.multinomial(torch.ones(3, device=D), 1))
    assert "zeros" in found(lambda: torch.mm(half, half, out_dtype=torch.float32))


def test_what_lies_beside_the_gaps() -> None:
    x = torch.ones(4, 4, device=D)
    fine(lambda: x.to(torch.int32).sum())
    fine(lambda: x @ x)
    fine(lambda: x.double().log())
    fine(x.log_)
    fine(lambda: x.bfloat16() + 1)


def test_every_row_names_an_operator_of_this_torch_and_its_evidence() -> None:
    with open(ROOT / "musa_compat/sim/checks/operators.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    packets = {name.partition("::")[2] for name in torch._C._dispatch_get_all_op_names()}
    names = packets | {name.partition(".")[0] for name in packets} | {"*"}
    assert rows
    for row in rows:
        assert row["operator"] in names, row
        assert not row["dtype"] or isinstance(getattr(torch, row["dtype"]), torch.dtype), row
        assert row["what"], row
        assert row["evidence"], row


def test_a_file_of_registered_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "operators.txt"
    # Functional names where the device sees out=: a backend may register either.
    file.write_text("# torch_musa 2.7.1\naten::add.Tensor\naten::fill_.Scalar\naten::sum.dim_IntList\naten::view\n")
    monkeypatch.setenv("MUSA_COMPAT_SIM_OPERATORS", str(file))
    x = torch.ones(3, device=D)
    fine(lambda: (x + x).sum())
    fine(lambda: x.add_(x))
    fine(lambda: torch.ones(3, device=D).view(3, 1))
    assert f"aten::mul.out with float32: on a card it is not registered by the torch_musa of {file}" in found(
        lambda: x * 2
    )


def test_a_file_that_is_none_says_what_is_expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "operators.txt"
    file.write_text("add\n")
    monkeypatch.setenv("MUSA_COMPAT_SIM_OPERATORS", str(file))
    x = torch.ones(3, device=D)
    with sim.strict("raise", "operators"), pytest.raises(ValueError, match="expected lines such as aten::add"):
        x.add(1)


def test_siblings_compute_the_same() -> None:
    from musa_compat.sim.checks.operators import siblings

    assert siblings("add.out") == {"add.Tensor", "add_.Tensor", "add.out"}
    assert siblings("sum.IntList_out") == {"sum.dim_IntList", "sum.IntList_out"}
    assert "pow.Scalar" not in siblings("pow.Tensor_Tensor_out")
    assert siblings("nonexistent") == {"nonexistent"}


def test_the_command_lists_what_a_module_registers(program, tmp_path: Path) -> None:
    """With a stand-in for torch_musa that registers two operators."""
    (tmp_path / "torch_musa.py").write_text(
        "import torch\n__version__ = '9.9'\n"
        "torch.utils.rename_privateuse1_backend('musa')\n"
        "library = torch.library.Library('aten', 'IMPL')\n"
        "library.impl('add.out', lambda *a, **k: None, 'PrivateUse1')\n"
        "library.impl('sum', lambda *a, **k: None, 'AutogradPrivateUse1')\n"
    )
    code = "from musa_compat.cli import main; main(['sim', 'operators'])"
    lines = program(code, tmp_path, ROOT, ROOT / "porter").splitlines()
    assert lines[0].startswith("# torch_musa 9.9, torch ")
    assert {"aten::add.out", "aten::sum"} <= set(lines[1:])
    assert lines[1:] == sorted(lines[1:])


def test_the_command_refuses_the_simulation() -> None:
    from click.testing import CliRunner

    from musa_compat.cli import main

    result = CliRunner().invoke(main, ["sim", "operators"])
    assert result.exit_code == 1
    assert "simulated" in result.output
