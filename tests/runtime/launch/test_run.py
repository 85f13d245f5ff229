"""`musa-compat run`, whole processes on the simulated device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
RUN = (sys.executable, "-m", "musa_compat", "run")


def start(*words: str, interpreter: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *interpreter, *RUN[1:], *words]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=variables, timeout=120)


def output(*words: str, **environment: Any) -> str:
    done = start("--quiet", *words, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("words", [["--devcie", "x"], ["no_such.py"], ["--device", "rocm", "x"], []])
def test_wrong_use(words: list[str]) -> None:
    done = start(*words)
    assert done.returncode == 2
    assert "Error: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def script(tmp_path: Path) -> Path:
    pytest.importorskip("torch")
    return tmp_path / "program.py"


def test_a_cuda_script_runs_on_the_simulated_device(script: Path) -> None:
    script.write_text(
        "import sys, torch\n"
        "x = torch.ones(3, device='cuda')\n"
        "print(x.device, torch.cuda.get_device_name(), sys.argv[1:], __name__, __file__ == sys.argv[0])\n"
    )
    done = start("--devices", "1", str(script), "--device", "cuda")
    assert done.stdout == "musa:0 Simulated MUSA device ['--device', 'cuda'] __main__ True\n", done.stderr
    assert done.stderr == "musa-compat run: 1 simulated MUSA device (mp_31), CUDA calls redirected\n"


def test_the_exit_status_is_the_programs(script: Path) -> None:
    script.write_text("import sys, torch; sys.exit(7)")
    assert start(str(script)).returncode == 7


def test_without_torch_in_the_program_nothing_is_imported(script: Path) -> None:
    script.write_text("import sys; print('torch' in sys.modules, 'musa_compat' in sys.modules)")
    assert output(str(script)) == "False False\n"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_children_are_prepared_too(script: Path, method: str) -> None:
    script.write_text(
        "import multiprocessing, sys\n"
        "def child(index):\n"
        "    import torch\n"
        "    return str(torch.zeros(1, device=f'cuda:{index}').device)\n"
        "if __name__ == '__main__':\n"
        f"    with multiprocessing.get_context({method!r}).Pool(1) as pool:\n"
        "        print(pool.map(child, [0, 1]))\n"
    )
    assert output(str(script)) == "['musa:0', 'musa:1']\n"


def test_a_child_that_is_another_program(script: Path) -> None:
    script.write_text(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'import torch; print(torch.zeros(1).cuda().device)'], check=True)\n"
    )
    assert output(str(script)) == "musa:0\n"


def test_a_program_on_path(script: Path) -> None:
    assert output("sh", "-c", f"{sys.executable} -c 'import torch; print(torch.cuda.device_count())'") == "2\n"


def test_torchrun_starts_us(script: Path) -> None:
    """The other way round: torchrun runs `python -m musa_compat run` in each of its processes."""
    script.write_text("import os, torch; print(torch.zeros(1, device='cuda:' + os.environ['LOCAL_RANK']).device)")
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "musa_compat")
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *launcher, "run", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables, timeout=120)
    assert sorted(done.stdout.split()) == ["musa:0", "musa:1"], done.stderr
    assert done.stderr.count("musa-compat run:") == 1


def test_cpu_and_no_adapter(script: Path) -> None:
    script.write_text("import torch; print(torch.cuda.is_available(), hasattr(torch, 'musa'))")
    assert output("--device", "cpu", str(script), MUSA_COMPAT_SIM="1") == "False False\n"
    assert output("--adapter", "none", str(script)) == "False True\n"


def test_dry_run_prints_a_command_that_does_the_same(script: Path) -> None:
    script.write_text("import torch; print(torch.zeros(1, device='cuda').device)")
    line = output("--dry-run", str(script))
    done = subprocess.run(
        line, shell=True, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.stdout == "musa:0\n", done.stderr


def test_missing_compiler_is_said_once_and_before_the_start(script: Path, tmp_path: Path) -> None:
    script.write_text("print('started')")
    done = start(str(script), MUSA_COMPAT_CACHE=str(tmp_path / "cache"), CXX="no-such-compiler")
    assert done.returncode == 2
    assert "no-such-compiler" in done.stderr
    assert "started" not in done.stdout


def test_options_of_the_interpreter(script: Path) -> None:
    script.write_text("import sys; print(sys.flags.dev_mode, sys.warnoptions[-1:])")
    done = start("--quiet", str(script), interpreter=("-X", "dev", "-W", "error::UserWarning"))
    assert done.stdout == "True ['error::UserWarning']\n", done.stderr


FAKE_TORCHADA = "import torch\ntorch.seen = (torch.version.musa, torch.version.cuda, torch.musa.device_count())\n"


def test_torchada_is_imported_in_place_of_the_redirect(script: Path, tmp_path: Path) -> None:
    script.write_text("import torch; print(torch.seen)")
    (tmp_path / "torchada.py").write_text(FAKE_TORCHADA)
    path = os.pathsep.join((str(tmp_path), str(ROOT)))
    assert output("--adapter", "torchada", str(script), PYTHONPATH=path) == "('simulated', None, 2)\n"
