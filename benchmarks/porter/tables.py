"""Tables of measurements, for a terminal and for the documentation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass
class Table:
    """A heading, a sentence on what was measured, and rows of cells."""

    title: str
    text: str
    header: Sequence[str]
    rows: list[Sequence[str]]


def time(taken: float) -> str:
    """Seconds, for a cell."""
    return f"{taken:.2f} s"


def speed(size: int, taken: float) -> str:
    """Megabytes in a second, for a cell."""
    return f"{size / taken / 1e6:.2f}"


def ratio(value: float) -> str:
    """A ratio, for a cell."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def memory(size: int) -> str:
    """Megabytes, for a cell."""
    return f"{size / 1e6:.0f} MB"


def as_text(table: Table) -> str:
    """The table for a terminal."""
    rows = [table.header, *table.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([table.title, table.text, "", *lines, ""])


def as_markdown(table: Table, level: int = 2) -> str:
    """The table for the documentation, under a heading of that level."""
    cells: Callable[[Sequence[str]], str] = lambda row: f"| {' | '.join(row)} |"  # noqa: E731
    rule = cells(["---", *["---:"] * (len(table.header) - 1)])
    title = f"{'#' * level} {table.title}"
    return "\n".join([title, "", table.text, "", cells(table.header), rule, *map(cells, table.rows), ""])
