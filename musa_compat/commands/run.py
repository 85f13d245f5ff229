"""`musa-compat run`."""

from __future__ import annotations

import os
import sys

import click

from musa_compat.launch import ADAPTERS, DEVICES, LaunchError, Options, command, environment


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="[OPTIONS]",
)
@click.option("--device", type=click.Choice(DEVICES), default="auto", help="auto: musa with torch_musa, else sim.")
@click.option(
    "--adapter",
    type=click.Choice(ADAPTERS),
    default="own",
    help="Who redirects CUDA calls: musa_compat.redirect, the package torchada, nobody.",
)
@click.option("--devices", type=click.IntRange(1, 16), help="Simulated devices. Default: 2.")
@click.option("--arch", type=click.Choice(["mp_22", "mp_31"]), help="Of the simulated devices. Default: mp_31.")
@click.option("--memory", metavar="SIZE", help="Of each simulated device, such as 80G.")
@click.option("--cuda-capability", metavar="X.Y", help="What simulated devices answer code that branches on it.")
@click.option("--strict", flag_value="raise", help="Races of streams and hidden synchronisation are errors; simulated.")
@click.option("--strict-warn", "strict", flag_value="warn", help="The same as warnings.")
@click.option("--quiet", "-q", is_flag=True, help="Do not say what the program runs on.")
@click.option("--dry-run", is_flag=True, help="Print the variables and the command, and do not run it.")
@click.argument("words", metavar="PROGRAM [ARGS]...", nargs=-1, required=True, type=click.UNPROCESSED)
def run(words: tuple[str, ...], quiet: bool, dry_run: bool, **options: str | int | None) -> None:
    """Run a program written for CUDA, unchanged: on MUSA with torch_musa, without it on the simulated device.

    PROGRAM is `script.py`, `-m module`, `-c code`, or a program on PATH, such as `torchrun` or `pytest`. Its workers
    and children are prepared too. The exit status is the program's.
    """
    try:
        line = command(words)
        variables = environment(Options(**options), os.environ)  # type: ignore[arg-type]
        _prepare(variables)
    except (LaunchError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    if dry_run:
        _show(line, variables)
        return
    if not quiet and os.environ.get("RANK", "0") == "0":
        click.echo(f"musa-compat run: {_description(variables)}", err=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(line[0], line, variables)


def _prepare(variables: dict[str, str]) -> None:
    """Find wrong settings and a missing compiler now, with one message, and not in each process of the program."""
    from musa_compat.device import SIMULATE

    if SIMULATE not in variables:
        return
    from musa_compat.sim import BuildError, build, settings

    settings(environment=variables)
    try:
        build.ensure()
    except BuildError as error:
        raise LaunchError(str(error)) from error


def _description(variables: dict[str, str]) -> str:
    from musa_compat.device import CHOICE, SIMULATE
    from musa_compat.launch.environment import ADAPTER, STRICT

    device = variables[CHOICE]
    if SIMULATE in variables:
        from musa_compat.sim import settings

        found = settings(environment=variables)
        device = f"{found.devices} simulated MUSA device{'s' * (found.devices != 1)} ({found.arch})"
        if STRICT in variables:
            device += f", strict ({variables[STRICT]})"
    adapter = {"own": "CUDA calls redirected", "torchada": "CUDA calls redirected by torchada"}
    return ", ".join(filter(None, (device, adapter.get(variables.get(ADAPTER, "")))))


def _show(line: list[str], variables: dict[str, str]) -> None:
    import shlex

    changed = {name: value for name, value in variables.items() if os.environ.get(name) != value}
    removed = [name for name in os.environ if name not in variables]
    words = ["env", *(f"-u{name}" for name in removed), *(f"{name}={value}" for name, value in sorted(changed.items()))]
    click.echo(shlex.join(words + line))
