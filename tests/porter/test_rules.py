"""The registry of rules: what a rule says of itself is what the engine does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import musa_port
from musa_port import Options, port_sources, rules
from musa_port.cli import explain
from musa_port.rules import Rule, all_rules, describe, get, register

RULES = all_rules()
PACKAGE = Path(musa_port.__file__).parent


def test_ids_and_names() -> None:
    ids, names = [rule.id for rule in RULES], [rule.name for rule in RULES]
    assert len(set(ids)) == len(ids)
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[BCFHKP]\d+", rule) for rule in ids)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_words(rule: Rule) -> None:
    """A summary is one sentence; a rule that asks for work says what to do."""
    assert re.fullmatch(r"[A-Z].*\.", rule.summary)
    assert "\n" not in rule.summary
    if rule.severity.value != "info":
        assert rule.advice or rule.why


def test_get_by_id_and_name() -> None:
    assert get("C20") is get("arch-guard")
    with pytest.raises(KeyError):
        get("C999")


@pytest.mark.parametrize("key", ["id", "name"])
def test_no_rule_twice(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """A refused rule leaves nothing behind."""
    monkeypatch.setattr("musa_port.rules._RULES", dict(rules._RULES))
    held = RULES[0]
    new = {"id": "C9999", "name": "new-rule", key: getattr(held, key)}
    with pytest.raises(ValueError, match=re.escape(new[key])):
        register(Rule(severity=held.severity, summary="x", **new))
    assert all_rules() == RULES


#: Where calls name a rule.
PLACES = {"report": 0, "edit": 3, "_report": 1, "_add_finding": 1, "_failed": 2, "Entry": 6, "get_rule": 0}


def named_rules() -> Iterator[tuple[str, str]]:
    """(place, rule) for each rule that the code names in a finding or an edit."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            value = _named_in_call(node) if isinstance(node, ast.Call) else _assigned(node)
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
                yield f"{file.name}:{node.lineno}", value.value  # type: ignore[attr-defined]


def _named_in_call(node: ast.Call) -> ast.expr | None:
    function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    place = PLACES.get(function, len(node.args))
    place -= sum(isinstance(argument, ast.Starred) for argument in node.args[:place])  # each stands for two
    return node.args[place] if place < len(node.args) else None


def _assigned(node: ast.AST) -> ast.expr | None:
    """What is assigned to an attribute `rule`, alone or as the first of several."""
    if not isinstance(node, ast.Assign):
        return None
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        target, value = target.elts[0], value.elts[0]
    return value if isinstance(target, ast.Attribute) and target.attr == "rule" else None


def test_rules_that_the_code_names_exist() -> None:
    keys = {rule.id for rule in RULES} | {rule.name for rule in RULES}
    named = list(named_rules())
    assert len(named) > 40
    assert [(place, rule) for place, rule in named if rule not in keys] == []


#: What an example needs besides its text: options, other files, and what stands around it.
NEEDS: dict[str, dict[str, Any]] = {
    "C9": {"rename_project_names": True},
    "C31": {"ptx": "stub"},
}
FILES: dict[str, dict[str, bytes]] = {"C12": {"util.cuh": b""}}
FILES |= {
    key: {"a.cu": b"", "k.cu": b"", "csrc/ops.cu": b""}
    for key in ("B7", "B8", "B9", "B19", "B30", "B33", "P15", "P16", "P17", "P26")
}
FILES |= {key: {"k.cu": b"", "csrc/k.cu": b""} for key in ("B44", "B45")}
#: Names of files, by the first rule of a range.
PATHS = {"B1": "CMakeLists.txt", "B30": "Makefile", "B40": "run.sh", "B50": "Dockerfile", "B60": "compose.yml"}
PATHS |= {"B70": "requirements.txt", "C1": "a.cu", "F1": "a.cu", "H1": "a.py", "K1": "a.py", "P1": "a.py"}
#: Examples of Python are parts of files that have imported these.
PRELUDE = """\
import ctypes, os, subprocess
import pytest
import torch
import torch_musa
import torch.distributed as dist
import torch.utils.cpp_extension
from torch.profiler import ProfilerActivity
"""
TILELANG = """\
import torch
import torch_musa
import tilelang
import tilelang.language as T

"""
EXAMPLES = [rule for rule in RULES if rule.example]


def path_of(rule: Rule) -> str:
    first = [key for key in PATHS if key[0] == rule.id[0] and int(key[1:]) <= int(rule.id[1:])]
    return rule.file or PATHS[max(first, key=lambda key: int(key[1:]))]


def around(rule: Rule, text: str) -> str:
    """An example as a file: Python gets its imports, and a body for what needs one."""
    if rule.id[0] in "HK":
        return TILELANG + text
    if rule.id[0] != "P" or path_of(rule) != "a.py" or "import torch\n" in text:
        return text
    body = "\ndef test(): ..." if text.startswith("@") else " ..." if text.endswith(":") else ""
    return PRELUDE + text + body


@pytest.mark.parametrize("rule", EXAMPLES, ids=lambda rule: rule.id)
@pytest.mark.parametrize("end", ["", "\n"], ids=["bare", "line"])
def test_example(rule: Rule, end: str) -> None:
    """The engine gives exactly the text that `explain` shows, and it is this rule that does so."""
    assert rule.example is not None
    before, after = (around(rule, text) for text in rule.example)
    path = path_of(rule)
    sources = {path: (before + end).encode(), **FILES.get(rule.id, {})}
    result = port_sources(sources, Options(**NEEDS.get(rule.id, {})))[path]
    assert result.data.decode() == after + end
    assert rule.id in {finding.rule for finding in result.findings} | {edit.rule for edit in result.edits}


@pytest.mark.parametrize("rule", EXAMPLES, ids=lambda rule: rule.id)
def test_example_is_not_ported_twice(rule: Rule) -> None:
    assert rule.example is not None
    options = Options(rename_ext=False, **NEEDS.get(rule.id, {}))
    path = path_of(rule)
    once = port_sources({path: around(rule, rule.example[0]).encode()}, options)[path].data
    assert port_sources({path: once}, options)[path].data == once


# C17 needs two files.
@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.id.startswith("C") and rule.id != "C17"], ids=lambda rule: rule.id
)
def test_rules_for_sources_have_an_example(rule: Rule) -> None:
    assert rule.example


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_explain(rule: Rule) -> None:
    for key in (rule.id, rule.name):
        result = CliRunner().invoke(explain, [key])
        assert result.exit_code == 0
        assert result.output == describe(rule) + "\n"
    assert result.output.startswith(f"{rule.id} {rule.name} ({rule.severity.value})\n\n{rule.summary}\n")
    for text in (rule.why, rule.advice, rule.evidence):
        assert text in result.output
    for line in "\n".join(rule.example or ()).splitlines():
        assert f"    {line}\n" in result.output
