"""`musa-compat explain` as a command, with operators of a module of the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

#: Runs the command with these arguments, expects an exit status, returns what it printed.
Run: TypeAlias = Callable[..., str]

MODULE = """
from typing import NamedTuple
from musa_compat import registry

class Gemm(NamedTuple):
    m: int
    n: int
    k: int
    dtype: str = "bfloat16"
    recipe: tuple[int, ...] | None = None

gemm = registry.operator("demo.gemm", signature=Gemm, summary="D = A B^T")
gemm.add("torch", lambda: None)
gemm.add(
    "mate", "mate.gemm:gemm",
    supports=lambda call: None if call.k % 128 == 0 else f"K = {call.k} is no multiple of 128",
    needs=("K a multiple of 128",),
)
gemm.add("acme", lambda: None, on=("cpu", "sim"), priority=50,
         supports=lambda call: None if call.recipe else "needs a recipe", needs=("a recipe",))

plain = registry.operator("demo.plain")
plain.add("torch", lambda: None)
"""


@pytest.fixture
def command(tmp_path: Path) -> Run:
    (tmp_path / "demo_operators.py").write_text(MODULE)

    def run(*arguments: str, status: int = 0, module: bool = True, **variables: str) -> str:
        environment = {**os.environ, **variables}
        environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        options = ("--import", "demo_operators") if module else ()
        line = [sys.executable, "-m", "musa_compat", "explain", *options, *arguments]
        result = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == status, result.stdout + result.stderr
        assert "Traceback" not in result.stderr
        return result.stdout + result.stderr

    return run


def words(text: str) -> str:
    return " ".join(text.split())


def test_table(command: Run) -> None:
    output = words(command("demo.gemm", "--device", "sim", "--assume-installed", "--shape", "m=64,n=2112,k=7168"))
    assert "D = A B^T demo.gemm on sim (mp_31): m=64, n=2112, k=7168, dtype=bfloat16, recipe=None" in output
    assert "mate no runs on musa; this is sim" in output
    assert "torch selected" in output
    assert "acme no needs a recipe" in output


def test_json(command: Run) -> None:
    document = json.loads(
        command("demo.gemm", "--device", "musa", "--arch", "mp_22", "--shape", "64,2112", "--shape", "k=100", "--json")
    )
    assert document == {
        "operator": "demo.gemm",
        "summary": "D = A B^T",
        "device": "musa",
        "arch": "mp_22",
        "signature": {"m": 64, "n": 2112, "k": 100, "dtype": "bfloat16", "recipe": None},
        "pinned": None,
        "selected": "torch" if _has_torch() else None,
        "providers": [
            {
                "provider": "mate",
                "verdict": "no",
                "reason": "runs on mp_31; this is mp_22",
                "needs": ["K a multiple of 128"],
            },
            {
                "provider": "torch",
                "verdict": "selected" if _has_torch() else "no",
                "reason": "" if _has_torch() else document["providers"][1]["reason"],
                "needs": [],
            },
            {"provider": "acme", "verdict": "no", "reason": "runs on cpu and sim; this is musa", "needs": ["a recipe"]},
        ],
        "fields": ["m", "n", "k", "dtype", "recipe"],
        "assume_installed": False,
    }


def test_machine_that_has_everything(command: Run) -> None:
    options = ("demo.gemm", "--device", "musa", "--assume-installed")
    output = words(command(*options, "--shape", "64,2112,7168"))
    assert "mate selected needs K a multiple of 128 torch yes acme no runs on cpu and sim; this is musa" in output
    output = words(command(*options, "--shape", "64,2112,100"))
    assert "mate no K = 100 is no multiple of 128 torch selected" in output


def test_module_of_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "local_operators.py").write_text(MODULE.replace("demo.", "local."))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "command.py").write_text("from musa_compat.cli import main; main()")
    line = [sys.executable, "bin/command.py", "explain", "--import", "local_operators"]
    result = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "local.plain" in result.stdout


def _has_torch() -> bool:
    from musa_compat import packages

    return packages.missing("torch") is None


def test_without_a_shape_it_says_what_it_depends_on(command: Run) -> None:
    output = words(command("demo.gemm", "--device", "cpu", MUSA_COMPAT_PROVIDER="acme"))
    assert "acme depends on: a recipe" in output
    assert "torch no MUSA_COMPAT_PROVIDER=acme leaves it out" in output
    assert "pinned by MUSA_COMPAT_PROVIDER=acme" in output
    assert "say more with --shape: m, n, k, dtype, recipe" in output


def test_nobody_can(command: Run) -> None:
    output = words(command("demo.gemm", "--device", "cpu", "--shape", "1,1,1", MUSA_COMPAT_PROVIDER="acme"))
    assert "acme no needs a recipe" in output
    assert "no provider can run it here" in output


def test_device_is_the_one_that_is_here(command: Run) -> None:
    assert json.loads(command("demo.plain", "--json", MUSA_COMPAT_SIM="1"))["device"] == "sim"
    assert json.loads(command("demo.plain", "--json", MUSA_COMPAT_DEVICE="cpu"))["arch"] is None


def test_list(command: Run) -> None:
    output = words(command())
    assert "demo.gemm mate, torch, acme D = A B^T" in output
    assert "demo.plain torch" in output
    document = json.loads(command("--json"))
    assert document["operators"][1] == {"operator": "demo.plain", "summary": "", "providers": ["torch"]}


def test_unknown_operator(command: Run) -> None:
    output = command("demo.gem", status=1)
    assert "no operator is named 'demo.gem'; did you mean demo.gemm?" in output
    assert "registered are:\n  demo.gemm\n  demo.plain\n" in output
    assert "--import MODULE" in output


def test_nothing_registered(command: Run) -> None:
    if json.loads(command("--json", module=False))["operators"]:
        pytest.skip("a shim is installed")
    assert "No operator is registered. Install a shim" in words(command(module=False))
    assert "no operator is registered" in command("deep_gemm.fp8_gemm_nt", module=False, status=1)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ("m=1", "n, k must be given too"),
        ("m=1,n=1,k=1,z=1", "'z' is no field; expected m, n, k, dtype, recipe"),
        ("m=x,n=1,k=1", "m=x: expected int"),
        ("1,1,1,bfloat16,1x1,7", "'7' is one value too many"),
        ("1,1,1,m=2", "m is given twice"),
    ],
)
def test_wrong_shapes(command: Run, shape: str, text: str) -> None:
    assert text in command("demo.gemm", "--shape", shape, status=1)


def test_shape_for_an_operator_without_a_signature(command: Run) -> None:
    assert "leave --shape out" in command("demo.plain", "--shape", "m=1", status=1)


def test_wrong_environment(command: Run) -> None:
    assert "MUSA_COMPAT_DEVICE=rocm: expected auto" in command("demo.plain", status=1, MUSA_COMPAT_DEVICE="rocm")
    assert "'=torch' is not a pin" in command("demo.plain", status=1, MUSA_COMPAT_PROVIDER="=torch")


def test_wrong_import(command: Run) -> None:
    output = command("--import", "a_module_that_is_not_there", "demo.plain", status=1)
    assert "--import a_module_that_is_not_there: No module named" in output
