"""What `musa-compat run` starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from musa_compat.launch import LaunchError, command

PYTHON = [sys.executable]
INSTALLED = ["python", "/somewhere/bin/musa-compat", "run"]


def test_a_script_keeps_its_arguments(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.touch()
    assert command([str(script), "--device", "cuda"], INSTALLED) == [*PYTHON, str(script), "--device", "cuda"]


def test_a_folder_with_a_main_module_is_run_by_python(tmp_path: Path) -> None:
    assert command([str(tmp_path)], INSTALLED) == [*PYTHON, str(tmp_path)]


@pytest.mark.parametrize("words", [["-m", "torch.distributed.run", "--nproc-per-node", "2"], ["-c", "print(1)", "-x"]])
def test_modules_and_code(words: list[str]) -> None:
    assert command(words, INSTALLED) == PYTHON + words


def test_a_file_without_suffix_is_a_script_unless_it_can_be_executed(tmp_path: Path) -> None:
    script = tmp_path / "launcher"
    script.write_text("#!/bin/sh\n")
    assert command([str(script)], INSTALLED) == [*PYTHON, str(script)]
    script.chmod(0o755)
    assert command([str(script), "a"], INSTALLED) == [str(script), "a"]


def test_a_program_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "torchrun"
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])
    assert command(["torchrun", "x.py"], INSTALLED) == [str(program), "x.py"]


@pytest.mark.parametrize(
    ("line", "options"),
    [
        (["python", "-u", "-m", "musa_compat", "run"], ["-u"]),
        (["python", "-X", "dev", "-W", "error", "-I", "-m", "musa_compat"], ["-X", "dev", "-W", "error", "-I"]),
        (["python", "-Wd", "/bin/musa-compat", "run", "-u"], ["-Wd"]),
    ],
)
def test_options_of_the_interpreter_are_passed_on(line: list[str], options: list[str]) -> None:
    assert command(["-m", "x"], line) == [*PYTHON, *options, "-m", "x"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no_such.py"], "no_such.py: no such script, and no such program on PATH"),
        (["--devcie", "x.py"], "no such option: --devcie"),
        (["-m"], "-m needs a module"),
        (["-c"], "-c needs a text"),
    ],
)
def test_what_cannot_be_started(words: list[str], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        command(words, INSTALLED)
