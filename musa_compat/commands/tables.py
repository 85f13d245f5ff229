"""Tables for people and JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

#: Columns, where the output is no terminal whose width could be asked.
WIDTH = 120

STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan", "selected": "bold green", "yes": "green"}


def console() -> Console:
    """For standard output. Colours only on a terminal."""
    plain = Console(highlight=False, soft_wrap=False)
    return plain if plain.is_terminal else Console(highlight=False, width=WIDTH)


def print_table(out: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A title and a table whose words are shown as they are; a known word, such as `error`, has its colour."""
    out.print(Text(title, style="bold"), soft_wrap=True)
    out.print(_table(columns, rows))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    result = Table(box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        result.add_column(column, overflow="fold", no_wrap=number == 0)
    for row in rows:
        result.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    return result


def print_json(document: Mapping[str, Any]) -> None:
    """To standard output."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))
