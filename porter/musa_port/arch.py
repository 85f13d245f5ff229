"""Architecture numbers: `__CUDA_ARCH__` thresholds and what they become (arch.csv, or the user's --arch-map)."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from musa_port.errors import UsageError
from musa_port.mappings import read_rows

_ROW = re.compile(r"__CUDA_ARCH__ (\d+)")
_TARGET = re.compile(r"__MUSA_ARCH__ (\d+)")


class ArchTable:
    """Maps thresholds. A number between two rows counts as the lower one; above the last mapped row there is none."""

    def __init__(self, pairs: dict[int, int | None]) -> None:
        self._pairs = dict(sorted(pairs.items()))

    def threshold(self, number: int, reverse: bool = False) -> int | None:
        if number < 100:  # `> 0` asks whether this is device code at all
            return number
        if reverse:
            return self._reversed(number)
        below = [key for key in self._pairs if key <= number]
        if not below:
            return self._pairs[min(self._pairs)] if self._pairs else None
        return self._pairs[max(below)]

    def _reversed(self, number: int) -> int | None:
        """The lowest CUDA number from which the MUSA number on is meant, in whole generations where there is one."""
        found = [cuda for cuda, musa in self._pairs.items() if musa == number]
        return min(found) if found else None


def load(path: Path | None = None) -> ArchTable:
    """The shipped table, or `--arch-map FILE`: CSV lines `cuda,musa` such as `900,310`; no second number means none."""
    if path is None:
        return ArchTable(dict(_shipped()))
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"--arch-map {path}: cannot be read: {error}") from error
    pairs: dict[int, int | None] = {}
    for number, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row]
        if not cells or cells[0].startswith("#") or (number == 1 and not _is_number(cells[0])):
            continue
        if len(cells) != 2 or not _is_number(cells[0]) or not (_is_number(cells[1]) or cells[1] == ""):
            raise UsageError(
                f"--arch-map {path}:{number}: expected `cuda,musa` with two numbers, got {','.join(row)!r}"
            )
        pairs[int(cells[0])] = int(cells[1]) if cells[1] else None
    if not pairs:
        raise UsageError(f"--arch-map {path}: no line of the form `cuda,musa`")
    return ArchTable(pairs)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _shipped() -> list[tuple[int, int | None]]:
    pairs: list[tuple[int, int | None]] = []
    for row in read_rows("arch"):
        source, target = _ROW.fullmatch(row.cuda), _TARGET.fullmatch(row.musa)
        if source:
            pairs.append((int(source.group(1)), int(target.group(1)) if target else None))
    return pairs
