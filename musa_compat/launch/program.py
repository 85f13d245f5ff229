"""What is started: a Python script, a module, code, or another program."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from musa_compat.launch.environment import LaunchError

_OPTIONS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


def command(words: Sequence[str], interpreter: Sequence[str] = sys.orig_argv) -> list[str]:
    """The command line for `musa-compat run WORDS`.

    words: `script.py args`, `-m module args`, `-c code args`, or a program on PATH, such as `torchrun` or `pytest`, and
    its arguments. interpreter: the command line of this process; its options, such as `-u`, are passed on. Raises
    LaunchError if there is nothing of that name.
    """
    python = [sys.executable, *_interpreter_options(interpreter)]
    first = words[0]
    if first in ("-m", "-c"):
        if len(words) < 2:
            raise LaunchError(f"{first} needs a {'module' if first == '-m' else 'text of code'} after it")
        return [*python, *words]
    if first.startswith("-"):
        raise LaunchError(f"no such option: {first}; options of `musa-compat run` come before the script")
    if _is_python(Path(first)):
        return [*python, *words]
    program = shutil.which(first)
    if program is None:
        raise LaunchError(f"{first}: no such script, and no such program on PATH")
    return [program, *words[1:]]


def _is_python(path: Path) -> bool:
    """A folder or archive that Python runs, a script, or a file that nothing else can run."""
    if path.is_dir():
        return True
    return path.is_file() and (path.suffix in (".py", ".pyw", ".pyz", ".zip") or not os.access(path, os.X_OK))


def _interpreter_options(line: Sequence[str]) -> list[str]:
    options: list[str] = []
    rest = iter(line[1:])
    for word in rest:
        if not word.startswith("-") or word in ("-m", "-c", "-"):
            break
        options.append(word)
        if word in _OPTIONS_WITH_VALUE:
            options.append(next(rest, ""))
    return options
