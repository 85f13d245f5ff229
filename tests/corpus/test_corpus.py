"""Ports of published packages, held against the sources by means that share nothing with musa-port."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from . import checks
from .api import Api
from .port import Port

pytestmark = pytest.mark.corpus


def none(violations: Iterator[str]) -> None:
    """Fail with the first violations, and their number."""
    found = list(violations)
    assert not found, f"{len(found)} violations, such as\n" + "\n".join(islice(found, 60))


def test_nothing_crashes(port: Port) -> None:
    none(checks.crashes(port))


def test_no_file_is_lost(port: Port) -> None:
    none(checks.lost_files(port))


def test_something_is_ported(port: Port) -> None:
    assert port.report["summary"]["edits"] > 0
    assert port.report["summary"]["statuses"]["ported"] > 0


def test_the_edits_give_the_output(port: Port) -> None:
    none(checks.wrong_edits(port))


def test_includes_still_find_their_files(port: Port, names: Api) -> None:
    none(checks.broken_includes(port, names))


def test_no_cuda_header_is_left_without_a_word(port: Port, names: Api) -> None:
    none(checks.silent_headers(port, names))


def test_no_cuda_name_is_left_without_a_word(port: Port, names: Api) -> None:
    none(checks.silent_names(port, names))


def test_a_second_run_changes_nothing(port: Port, again: Port) -> None:
    none(checks.crashes(again))
    none(checks.changes_again(port, again))
