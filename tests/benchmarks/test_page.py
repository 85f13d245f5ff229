"""The page of the benchmarks has several writers, and each replaces its own part only."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.page import replace
from benchmarks.porter.tables import Table, as_markdown


def test_a_part_is_added_at_the_end_and_then_replaced_in_its_place(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    replace(page, "one", "first\n")
    replace(page, "two", r"second \1")
    replace(page, "one", "new")
    assert page.read_text() == (
        "# Benchmarks\n\n<!-- begin one -->\n\nnew\n\n<!-- end one -->\n\n"
        "<!-- begin two -->\n\nsecond \\1\n\n<!-- end two -->\n"
    )


def test_the_level_of_a_heading() -> None:
    table = Table("Title", "Text.", ("", "b"), [["1", "2"]])
    assert as_markdown(table).startswith("## Title\n")
    assert as_markdown(table, 3) == "### Title\n\nText.\n\n|  | b |\n| --- | ---: |\n| 1 | 2 |\n"
