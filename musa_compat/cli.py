"""The command `musa-compat`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

import musa_compat
from musa_compat.commands.doctor import doctor
from musa_compat.commands.explain import explain
from musa_compat.commands.run import run
from musa_compat.commands.sim import sim
from musa_compat.paths import MissingFilesError, cmake_dir, include_dir


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(musa_compat.__version__, "-V", "--version", prog_name="musa-compat")
def main() -> None:
    """What is here and what runs: devices, providers of kernels, installed files."""


main.add_command(doctor)
main.add_command(explain)
main.add_command(run)
main.add_command(sim)


@main.command()
def headers() -> None:
    """Print the include directory of the compatibility headers.

    Use it as `mcc -I"$(musa-compat headers)"`.
    """
    _print(include_dir)


@main.command("cmake-dir")
def cmake_dir_command() -> None:
    """Print the directory of the CMake package.

    Use it as `cmake -Dmusa_compat_DIR="$(musa-compat cmake-dir)"`.
    """
    _print(cmake_dir)


def _print(find: Callable[[], Path]) -> None:
    try:
        click.echo(find())
    except MissingFilesError as error:
        raise click.ClickException(str(error)) from error
