"""Ports of the Python of published packages, held against the sources by the standard library's own parsers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from . import checks, python_checks
from .port import Port
from .python_checks import PythonFile

pytestmark = pytest.mark.corpus


def none(violations: Iterator[str]) -> None:
    """Fail with the first violations, and their number."""
    found = list(violations)
    assert not found, f"{len(found)} violations, such as\n" + "\n".join(islice(found, 60))


@pytest.fixture(scope="module")
def files(python_port: Port) -> list[PythonFile]:
    return python_checks.files(python_port)


def test_nothing_crashes(python_port: Port) -> None:
    none(checks.crashes(python_port))


def test_no_file_is_lost(python_port: Port) -> None:
    none(checks.lost_files(python_port))


def test_something_is_ported(files: list[PythonFile]) -> None:
    assert sum(not file.is_same for file in files) > 0


def test_the_edits_give_the_output(python_port: Port) -> None:
    none(checks.wrong_edits(python_port))


def test_what_parsed_parses(files: list[PythonFile]) -> None:
    none(python_checks.broken(files))


def test_files_without_cuda_stay(files: list[PythonFile]) -> None:
    none(python_checks.changed_without_reason(files))


def test_comments_and_docstrings_stay(files: list[PythonFile]) -> None:
    none(python_checks.changed_texts(files))


def test_statements_stay(files: list[PythonFile]) -> None:
    none(python_checks.changed_shapes(files))


def test_only_names_of_cuda_change(files: list[PythonFile]) -> None:
    none(python_checks.changed_names(files))


def test_only_devices_and_their_like_change_in_strings(files: list[PythonFile]) -> None:
    none(python_checks.changed_strings(files))


def test_torch_musa_is_imported_where_it_is_used(files: list[PythonFile]) -> None:
    none(python_checks.missing_imports(files))


def test_no_cuda_name_is_left_without_a_word(files: list[PythonFile]) -> None:
    none(python_checks.silent_names(files))


def test_no_device_is_left_without_a_word(files: list[PythonFile]) -> None:
    none(python_checks.silent_strings(files))


def test_a_second_run_changes_nothing(python_port: Port, python_again: Port) -> None:
    none(checks.crashes(python_again))
    none(checks.changes_again(python_port, python_again))
