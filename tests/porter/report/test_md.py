"""The `md` format, read back with a Markdown parser."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from musa_port import report as reports
from musa_port.model import FileResult, FileStatus, Finding, Report, Severity
from musa_port.report import as_md
from musa_port.report.safe import printable

OWN_HTML = re.compile(r"</?(?:details|summary|code)>")


def tokens(text: str) -> list[Token]:
    flat: list[Token] = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        flat.extend([token, *(token.children or ())])
    return flat


def shown(text: str) -> str:
    """What a reader sees of inline Markdown."""
    visible = MarkdownIt("commonmark").enable(["table", "strikethrough"]).renderInline(text)
    return html.unescape(re.sub(r"</?code>", "", visible)).replace("@\u200b", "@")


def rows(text: str) -> list[list[str]]:
    """The cells of all tables, as a reader sees them."""
    result: list[list[str]] = []
    for token in tokens(text):
        if token.type == "tr_open":
            result.append([])
        elif token.type == "inline" and token.level >= 4 and result:
            result[-1].append(shown(token.content))
    return result


def test_headings_errors_first(report: Report) -> None:
    text = reports.render(report, "md")
    assert text.startswith(
        f"### musa-port: {reports.verdict(report)}\n\n`src` to `out` by musa-port 1.2.3.\n\n| Files |"
    )
    headings = re.findall(r"^#### (.*)|<summary>(.*)</summary>", text, re.MULTILINE)
    assert [first or second for first, second in headings] == [
        *("Errors", "Unsupported names", "1 warning", "2 notes", "Errors in the source", "Files not ported"),
    ]


def test_tables(report: Report) -> None:
    table = rows(reports.render(report, "md"))
    assert table[0] == ["Files", "Ported", "Unchanged", "Copied", "Not ported", "Edits", "Errors", "Warnings", "Notes"]
    assert table[1] == ["8", "2", "1", "1", "4", "3", "2", "1", "2"]
    assert ["2", "C10 no-such-name", "cudaNothing: has no counterpart. Remove it", "src/核心/a b#1.cu:9:14"] in table
    assert ["cudaNothing", "2", "1", "Remove it"] in table
    assert ["2", "skipped", "vendored copy of CUB", "third/e.h"] in table


def test_code_of_errors(report: Report) -> None:
    fences = [token for token in tokens(reports.render(report, "md")) if token.type == "fence"]
    assert [(token.info, token.content) for token in fences] == [
        ("cpp", "/* 名字 𝕏 */ cudaNothing(x); cudaNothing(y);\n")
    ]


def test_an_empty_report_has_no_empty_sections(empty: Report) -> None:
    text = reports.render(empty, "md")
    assert "####" not in text
    assert "<details>" not in text


@pytest.mark.parametrize("kind", ["report", "hostile", "flood"])
def test_only_our_own_markup_is_markup(kind: str, request: pytest.FixtureRequest) -> None:
    for token in tokens(reports.render(request.getfixturevalue(kind), "md")):
        assert token.type not in ("em_open", "strong_open", "link_open", "image", "s_open")
        if token.type in ("html_inline", "html_block"):
            assert "<" not in OWN_HTML.sub("", token.content), token.content


def test_tables_keep_their_columns(hostile: Report) -> None:
    table = rows(reports.render(hostile, "md"))
    assert {len(row) for row in table} == {4, 9}
    message = next(hostile.findings()).message
    expected = printable(message)
    assert [row[2] for row in table if row[1] == "C10 no-such-name"] == [
        f"{expected}. {expected}",
        expected,
    ]


@pytest.mark.parametrize(
    "text",
    ["a|b", "a\\|b", "\\", "`", "``a`", "a\\`|", "<b>&amp;", "__x__ *y* ~~z~~", "[a](b) ![c](d)", "#1 {0}", "@me"],
)
def test_cells_show_foreign_text_as_it_is(text: str) -> None:
    table = f"| {as_md.plain(text)} | {as_md.code(text)} |\n| --- | --- |\n"
    assert rows(table) == [[text, text]]


def test_people_are_not_notified() -> None:
    assert as_md.plain("ask @someone") == "ask @\u200bsomeone"
    assert as_md.code("@someone") == "`@someone`"


@pytest.mark.parametrize("text", ["x();", "```", "a ````` b", "~~~\n```cpp"])
def test_fences_cannot_be_closed_from_within(text: str) -> None:
    (fence,) = [token for token in tokens(as_md.fenced(text)) if token.type == "fence"]
    assert fence.content == printable(text) + "\n"


def test_a_huge_report_still_fits_a_comment(finding: Callable[..., Finding], file: Callable[..., FileResult]) -> None:
    long = "|`x*" * 200
    findings = [
        finding(severity=severity, name=f"{number}{long}", message=long, advice=long, path=long, source_line=long)
        for severity in Severity
        for number in range(500)
    ]
    skipped = [file(f"{number}{long}", status=FileStatus.SKIPPED, reason=f"{number}{long}") for number in range(500)]
    text = reports.render(Report("1", "s", "o", "port", [file("a.cu", *findings), *skipped]), "md")
    assert len(text) < 65_536
    assert len(re.findall(r"^and \d+ more", text, re.MULTILINE)) == 6
    assert text.count("<details>") == text.count("</details>") == 4
