"""Fixtures of the porter's tests: port sources in memory and compare everything that came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import pytest

from musa_port import Edit, FilePort, FileStatus, Options, port_sources

Text: TypeAlias = str | bytes
Sources: TypeAlias = Text | Mapping[str, Text]
Check: TypeAlias = Callable[..., dict[str, FilePort]]
ApplyEdits: TypeAlias = Callable[[bytes, list[Edit]], bytes]

#: The path of a source that a test gives without one.
DEFAULT = "a.cu"


def as_bytes(text: Text) -> bytes:
    return text.encode() if isinstance(text, str) else text


def as_text(data: bytes) -> str:
    """Any bytes as text, for readable differences and for columns in code points."""
    return data.decode("utf-8", "surrogateescape")


def as_tree(sources: Sources) -> dict[str, bytes]:
    """A tree; a text alone is the file DEFAULT."""
    tree = sources if isinstance(sources, Mapping) else {DEFAULT: sources}
    return {path: as_bytes(text) for path, text in tree.items()}


def remarks(results: Mapping[str, FilePort]) -> list[str]:
    """The findings as sorted lines `RULE severity path:line`, without the path in a tree of one file."""
    return sorted(
        f"{finding.rule} {finding.severity.value} {finding.path + ':' if len(results) > 1 else ''}{finding.line}"
        for result in results.values()
        for finding in result.findings
    )


def outputs(results: Mapping[str, FilePort]) -> dict[str, bytes]:
    """The output tree."""
    return {result.output_path: result.data for result in results.values() if result.output_path is not None}


def apply(source: bytes, edits: list[Edit]) -> bytes:
    """The recorded edits applied to the source; each must name exactly the text that is at its place."""
    lines = as_text(source).split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    text, done, pieces = "\n".join(lines), 0, []
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.column)):
        start = starts[edit.line - 1] + edit.column - 1
        assert start >= done, f"{edit} overlaps the edit before it"
        assert text[start : start + len(edit.old)] == edit.old, f"{edit} is not what the source holds there"
        pieces += [text[done:start], edit.new]
        done = start + len(edit.old)
    return "".join([*pieces, text[done:]]).encode("utf-8", "surrogateescape")


@pytest.fixture(scope="session")
def apply_edits() -> ApplyEdits:
    return apply


@pytest.fixture(scope="session")
def check() -> Check:
    """Port sources and compare everything: each output byte, each finding, each recorded edit, and a second run.

    before    a text (the file a.cu) or {path: text}
    after     what the files become, by their source path; files that are not named must not change; None: none changes
    findings  all of them, as `remarks` writes them
    """

    def run(
        before: Sources,
        after: Sources | None = None,
        findings: tuple[str, ...] = (),
        options: Options | None = None,
    ) -> dict[str, FilePort]:
        options = options or Options()
        tree = as_tree(before)
        expected = tree | ({} if after is None else as_tree(after))
        results = port_sources(tree, options)
        assert {path: as_text(result.data) for path, result in results.items()} == {
            path: as_text(data) for path, data in expected.items()
        }
        assert remarks(results) == sorted(findings)
        for path, result in results.items():
            _check_record(tree[path], result)
        _check_second_run(tree, options)
        return results

    return run


def _check_record(source: bytes, result: FilePort) -> None:
    """Status, edits and findings of a file agree with its bytes."""
    assert apply(source, result.edits) == result.data
    assert (result.status is FileStatus.PORTED) == (source != result.data)
    lines = as_text(source).split("\n")
    for finding in result.findings:
        assert finding.message
        if finding.source_line:
            assert finding.source_line.strip() in lines[finding.line - 1]
            assert lines[finding.line - 1][finding.column - 1 :].startswith(finding.old.split("\n")[0].rstrip("\r"))


def _check_second_run(tree: dict[str, bytes], options: Options) -> None:
    """Porting the output changes nothing. Extensions stay, for what is called .mu is not even examined."""
    options = replace(options, rename_ext=False)
    first = outputs(port_sources(tree, options))
    second = outputs(port_sources(first, options))
    assert {path: as_text(data) for path, data in second.items()} == {
        path: as_text(data) for path, data in first.items()
    }
