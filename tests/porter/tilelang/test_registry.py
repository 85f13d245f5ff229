"""Every row of the tables of rules is registered, explained, and does what its example shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from musa_port import Options, rules
from musa_port.cli import explain
from musa_port.mappings import read_table
from musa_port.rules import Rule

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Rewrites

RULES = [rule for rule in rules.all_rules() if rule.id[0] in "HK"]
#: Rules of this kind of program that another rule carries out, and rules that change nothing.
WITHOUT_EXAMPLE = {"H1", "H2", "H3", "H4", "H19", "H27", "K2", "K36", "K38", "K39"}


def test_every_row_has_a_rule() -> None:
    """27 host rules and H12b, which is H28 here, and 39 kernel rules."""
    assert {rule.id for rule in RULES} == {f"H{n}" for n in range(1, 29)} | {f"K{n}" for n in range(1, 40)}


def test_the_row_without_a_number_of_its_own_says_so() -> None:
    assert "H12b" in rules.get("H28").summary


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_an_example_unless_nothing_is_to_be_seen(rule: Rule) -> None:
    assert (rule.example is None) == (rule.id in WITHOUT_EXAMPLE)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.example], ids=lambda rule: rule.id)
@pytest.mark.parametrize("end", ["", "\n"], ids=["bare", "line"])
def test_example(rewrites: Rewrites, rule: Rule, end: str) -> None:
    assert rule.example is not None
    before, after = rule.example
    result = rewrites(before + end, after + end)
    assert rule.id in {finding.rule for finding in result.findings} | {edit.rule for edit in result.edits}


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("K25", "unchanged on mp_31"),
        ("H1", "Rules P4, P5, P6 and P9 do it"),
        ("H2", "Rule P7"),
        ("H3", "Rule P1"),
        ("H27", "Rule P11"),
        ("K1", "Leaves the core of the language"),
        ("K36", "Leaves T.async_copy"),
        ("K39", "ends at 128 bits"),
        ("K14", "num_stages=1 or 0"),
    ],
)
def test_explain(rule: str, words: str) -> None:
    result = CliRunner().invoke(explain, [rule])
    assert result.exit_code == 0
    assert words in result.output


def named_rules() -> Iterator[tuple[str, str]]:
    """The rules that data files name."""
    for row in read_table("tilelang_language"):
        yield f"tilelang_language {row['word']}", row["rule"]
    for row in read_table("tilelang_pass_configs"):
        if row["rule"]:
            yield f"tilelang_pass_configs {row['name']}", row["rule"]


def test_the_rules_that_the_data_name_exist() -> None:
    names = {rule.name for rule in RULES}
    assert [place for place, rule in named_rules() if rule not in names] == []


@pytest.mark.parametrize(
    "table", "language pass_configs dtypes limits gemm compile_flags externs".split(), ids=lambda name: name
)
def test_tables_have_all_their_cells(table: str) -> None:
    rows = read_table(f"tilelang_{table}")
    assert rows
    assert all(None not in row and None not in row.values() for row in rows)
    first = next(iter(rows[0]))
    if table not in ("limits", "gemm"):
        assert len({row[first] for row in rows}) == len(rows)


def test_pass_configs_that_only_one_side_has() -> None:
    """Ten members each, as the comparison of both enumerations gave, and one of older versions."""
    sides: dict[str, set[str]] = {}
    for row in read_table("tilelang_pass_configs"):
        sides.setdefault(row["exists"], set()).add(row["name"])
    assert sides["musa"] == set(
        "TL_DISABLE_SQMMA TL_DISABLE_PH1_WMMA TL_ENABLE_MUSA_BURST TL_ENABLE_REDUCE_BURST TL_ENABLE_MUSA_TMA_PREFETCH "
        "TL_ENABLE_AUTO_UNROLL TL_DISABLE_INDEX_TYPE_PROMOTION TL_DISABLE_SAFE_COPY_PREDICATION "
        "TL_DISABLE_SAFE_ROBUST_COPY_PREDICATION TL_DISABLE_VECTORIZE_SINGLE_SIDE".split()
    )
    assert sides["cuda"] == set(
        "TL_DISABLE_BUFFER_INIT_CHECK TL_EMIT_LINE_DIRECTIVES TL_ENABLE_AUTO_SCHEDULE "
        "TL_ENABLE_AUTO_WARP_SPECIALIZATION TL_ENABLE_FP32X2_REDUCTION TL_ENABLE_REDUCER_PLAN_VERBOSE "
        "TL_LAYOUT_COST_MODEL TL_PASS_PROFILE TL_PASS_PROFILE_THRESHOLD_MS TL_REDUCER_FORCE_BASELINE "
        "TL_ENABLE_PTXAS_VERBOSE".split()
    )


def test_default_architectures() -> None:
    """The tests below rely on it."""
    assert Options().arch == ("mp_22", "mp_31")
