"""`musa-compat sim …`."""

from __future__ import annotations

import click


@click.group()
def sim() -> None:
    """The simulated MUSA device."""


@sim.command()
def operators() -> None:
    """Print what the installed torch_musa registers, one operator a line.

    Run it on a machine with torch_musa, `musa-compat sim operators > FILE`. Elsewhere MUSA_COMPAT_SIM_OPERATORS=FILE
    lets strict mode report every other operator.
    """
    try:
        from musa_compat.sim.registered import registered

        for line in registered():
            click.echo(line)
    except (ImportError, RuntimeError) as error:
        raise click.ClickException(f"{error}; run this on a machine with torch and torch_musa") from error
