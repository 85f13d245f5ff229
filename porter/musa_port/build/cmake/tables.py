"""The rows of libraries.csv as the rules for CMake look them up."""

from __future__ import annotations

import re
from functools import cache

from musa_port.mappings import Row, read_rows

_PACKAGE = re.compile(r"find_package\((\w+)\)")


@cache
def packages() -> dict[str, Row]:
    """Package -> its row; `musa` is the text of the row: one call, or several with ` + ` between them."""
    return {match.group(1): row for row in _rows() if (match := _PACKAGE.fullmatch(row.cuda))}


def package_names(row: Row) -> list[str]:
    """The packages that the row asks for."""
    return _PACKAGE.findall(row.musa)


@cache
def variables() -> dict[str, Row]:
    """Variable -> its row."""
    rows = ((row.cuda.split(" (")[0], row) for row in _rows() if re.fullmatch(r"[A-Z]\w+( \(cmake.*\))?", row.cuda))
    return {name: row._replace(cuda=name) for name, row in rows}


@cache
def functions() -> dict[str, Row]:
    """Function of FindCUDA, in lower case -> its row."""
    return {row.cuda: row for row in _rows() if re.fullmatch(r"cuda_\w+", row.cuda)}


@cache
def device_targets() -> dict[str, Row]:
    """Command that makes a target -> the row for targets with device sources."""
    return {row.cuda.split(" ")[0]: row for row in _rows() if row.cuda.endswith("(with .cu sources)")}


@cache
def targets() -> dict[str, Row]:
    """Imported target -> its row."""
    return {row.cuda: row for row in read_rows("libraries") if row.kind == "cmake-target"}


@cache
def link_names() -> dict[str, Row]:
    """Library as `-l` names it -> its row, with the bare names."""
    rows = (row for row in read_rows("libraries") if row.kind == "link-flag")
    return {row.cuda[2:]: row._replace(cuda=row.cuda[2:], musa=row.musa[2:]) for row in rows}


@cache
def properties() -> dict[str, Row]:
    """Property of a target -> its row: those that a row names, and those that a variable sets by default."""
    rows = {
        name: row._replace(cuda=name, musa=row.musa.split(" ")[0])
        for row in _rows()
        for name in re.findall(r"^set_target_properties\(\.\.\. (\w+)", row.cuda)
    }
    for name, row in variables().items():
        if name.startswith(("CMAKE_CUDA_STANDARD", "CMAKE_CUDA_EXTENSIONS")):
            rows[name.removeprefix("CMAKE_")] = row._replace(
                cuda=name.removeprefix("CMAKE_"), musa=row.musa.removeprefix("CMAKE_")
            )
        elif name.startswith("CUDA_SEPARABLE"):
            rows[name] = row
    return rows


@cache
def features() -> dict[str, str]:
    """The start of a compile feature -> that of its counterpart."""
    pairs = (
        re.findall(r"\w+_std_", row.cuda + " " + row.musa) for row in _rows() if "target_compile_features" in row.cuda
    )
    return {pair[0]: pair[1] for pair in pairs}


@cache
def source_language() -> Row:
    """The row of sources whose LANGUAGE is CUDA."""
    return next(row for row in _rows() if row.cuda.startswith("set_source_files_properties"))


def _rows() -> list[Row]:
    return [row for row in read_rows("libraries") if row.kind == "cmake"]
