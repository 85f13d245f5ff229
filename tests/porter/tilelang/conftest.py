"""Fixtures for tests of TileLang programs: port a text, check what must hold for each port, compare."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from musa_port import FilePort, FileStatus, Options, port_sources

if TYPE_CHECKING:
    from tests.porter.conftest import ApplyEdits

Text: TypeAlias = str | bytes
Port: TypeAlias = Callable[..., FilePort]
Rewrites: TypeAlias = Callable[..., FilePort]
Finds: TypeAlias = Callable[..., FilePort]

#: What stands above the text of a test, unless the test gives its own imports.
HEAD = "import torch\nimport torch_musa\nimport tilelang\nimport tilelang.language as T\n\n"
PATH = "kernels.py"


def as_bytes(text: Text) -> bytes:
    return text.encode() if isinstance(text, str) else text


def as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def comments(data: bytes) -> list[str]:
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


@pytest.fixture(scope="session")
def port(apply_edits: ApplyEdits) -> Port:
    """Port one text, below HEAD, and check everything that holds for every input.

    The result parses, comments are as they were, the recorded edits are the difference, findings point into the
    source, and a second run changes nothing.
    """

    def run(text: Text, head: str = HEAD, **options: Any) -> FilePort:
        chosen = replace(Options(), **options)
        source = head.encode() + as_bytes(text)
        result = port_sources({PATH: source}, chosen)[PATH]
        assert apply_edits(source, result.edits) == result.data
        ast.parse(result.data)
        assert comments(result.data) == comments(source)
        lines = as_text(source).split("\n")
        for finding in result.findings:
            assert finding.rule != "F10", finding
            assert finding.message
            assert lines[finding.line - 1][finding.column - 1 :].startswith(finding.old.split("\n")[0].rstrip("\r"))
        again = port_sources({PATH: result.data}, chosen)[PATH]
        assert as_text(again.data) == as_text(result.data)
        assert again.edits == []
        assert (result.status is FileStatus.PORTED) == (result.data != source)
        return result

    return run


@pytest.fixture(scope="session")
def rewrites(port: Port) -> Rewrites:
    """Port `before` and compare with `after`, below the same head.

    rules     what made the edits, exactly
    findings  `RULE` or `RULE severity`, each of which must be there; others may
    """

    def run(
        before: Text,
        after: Text | None = None,
        rules: Iterable[str] = (),
        findings: Iterable[str] = (),
        head: str = HEAD,
        **options: Any,
    ) -> FilePort:
        result = port(before, head, **options)
        assert as_text(result.data) == head + as_text(as_bytes(before if after is None else after))
        if rules:
            assert {edit.rule for edit in result.edits} == set(rules)
        assert set(findings) <= said(result)
        return result

    return run


@pytest.fixture(scope="session")
def finds(rewrites: Rewrites) -> Finds:
    """Port a text that stays as it is, and compare the findings of one rule: `severity line`, or all of them."""

    def run(text: Text, rule: str, *expected: str, head: str = HEAD, **options: Any) -> FilePort:
        result = rewrites(text, head=head, **options)
        above = head.count("\n")
        found = [f"{item.severity.value} {item.line - above}" for item in result.findings if item.rule == rule]
        assert sorted(found) == sorted(expected), [item for item in result.findings if item.rule == rule]
        return result

    return run


def said(result: FilePort) -> set[str]:
    """The findings as `RULE` and as `RULE severity`."""
    found = {finding.rule for finding in result.findings}
    return found | {f"{finding.rule} {finding.severity.value}" for finding in result.findings}
