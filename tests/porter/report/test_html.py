"""The `html` format: the page parsed, its data compared with the report, nothing foreign in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import pytest

from musa_port import report as reports
from musa_port.model import Report
from musa_port.report.safe import printable

VOID = frozenset({"meta", "link", "input", "br", "img"})


@dataclass
class Node:
    tag: str
    attributes: dict[str, str]
    children: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def __iter__(self) -> Iterator[Node]:
        """This element and all below it, in the order of the page."""
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child

    def all(self, tag: str, **attributes: str) -> list[Node]:
        wanted = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
        return [node for node in self if node.tag == tag and wanted.items() <= node.attributes.items()]

    def one(self, tag: str, **attributes: str) -> Node:
        (node,) = self.all(tag, **attributes)
        return node


class Page(HTMLParser):
    """Builds the tree and insists that every element is closed where it belongs."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self._open = [self.root]
        self.feed(text)
        self.close()
        assert self._open == [self.root], "elements left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), "attribute twice"
        node = Node(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(node)
        if tag not in VOID:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def page(report: Report) -> Node:
    return Page(reports.render(report, "html")).root


def data_of(root: Node) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(root.one("script", id="report-data").text)
    return data


@pytest.mark.parametrize("kind", ["report", "empty", "hostile", "flood"])
def test_the_data_are_the_json_report_without_edits(kind: str, request: pytest.FixtureRequest) -> None:
    report = request.getfixturevalue(kind)
    expected = json.loads(reports.render(report, "json"))
    found = data_of(page(report))
    for file in expected["files"]:
        file["edits"] = None
    used = {finding.rule.replace("\udce9", r"\xe9") for finding in report.findings()}
    expected["rules"] = [rule for rule in expected["rules"] if rule["id"] in used]
    assert found == expected


@pytest.mark.parametrize("kind", ["report", "empty", "hostile"])
def test_nothing_is_loaded_and_nothing_foreign_acts(kind: str, request: pytest.FixtureRequest) -> None:
    text = reports.render(request.getfixturevalue(kind), "html")
    root = Page(text).root
    assert [node.attributes.get("type", "code") for node in root.all("script")] == ["application/json", "code"]
    for node in root:
        assert node.tag not in ("img", "iframe", "object", "embed", "base", "svg", "audio", "video")
        assert not [name for name in node.attributes if name.startswith("on")]
        assert not {"src", "srcset", "action", "formaction", "background"} & node.attributes.keys()
        assert re.match(r"#[a-z-]+$|data:,$", node.attributes.get("href", "#x"))
        assert re.fullmatch(r"(flex-grow: \d+)?", node.attributes.get("style", ""))
    assert not re.search(r"url\(|@import|https?:", root.one("style").text)
    code = root.all("script")[1].text
    assert not re.search(
        r"https?:|fetch|XMLHttpRequest|import\(|innerHTML|insertAdjacentHTML|document\.write|eval", code
    )


def test_the_policy_allows_the_one_script_only(hostile: Report) -> None:
    root = page(hostile)
    digest = base64.b64encode(hashlib.sha256(root.all("script")[1].text.encode()).digest()).decode()
    policy = root.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    directives = [directive.split() for directive in policy.split(";")]
    assert ["default-src", "'none'"] in directives
    assert ["script-src", f"'sha256-{digest}'"] in directives


def test_hostile_text_is_shown_as_text(hostile: Report) -> None:
    text = reports.render(hostile, "html")
    assert "\udce9" not in text
    root = Page(text).root
    source = printable(hostile.source)
    assert root.one("h1").text == f"{source} → {source}"
    (row,) = [node for node in root.one("table", id="unsupported-table").all("tr") if node.all("td")]
    assert row.one("code").text == source
    assert row.all("td")[-1].text == source
    assert source in root.one("section", id="not-ported").text
    assert root.one("title").text.startswith(f"MUSA port of {source}: 1 error")


def test_the_order_is_unsupported_names_then_findings_then_files(report: Report) -> None:
    sections = [node.attributes.get("id") for node in page(report).all("section")]
    assert sections == [None, "unsupported", "findings", "files", "not-ported"]


def test_totals(report: Report) -> None:
    totals = [" ".join(node.text.split()) for node in page(report).one("ul", class_="totals").all("li")]
    assert totals == ["8 files", "2 ported", "3 edits", "2 errors", "1 warning", "2 notes"]


def test_the_bar_holds_every_file_once(report: Report) -> None:
    bar = page(report).one("div", class_="bar")
    assert bar.attributes["role"] == "img"
    assert (
        bar.attributes["aria-label"]
        == "Files: 1 nothing to look at, 1 with notes, 1 with errors, 1 failed, 4 skipped or copied"
    )
    grown = [int(node.attributes["style"].removeprefix("flex-grow: ")) for node in bar.all("span")]
    assert grown == [1, 1, 1, 1, 4]


def test_unsupported_names_table(report: Report) -> None:
    table = page(report).one("table", id="unsupported-table")
    assert [node.text for node in table.one("thead").all("th", scope="col")] == ["Name", "Uses", "Files", "Advice"]
    assert table.all("th", aria_sort="descending")[0].text == "Uses"
    (row,) = table.one("tbody").all("tr")
    assert [node.text for node in row if node.tag in ("th", "td")] == ["cudaNothing", "2", "1", "Remove it"]
    assert row.one("a").attributes["data-find"] == "cudaNothing"


def test_rules_are_explained_and_the_worst_come_first(report: Report) -> None:
    rules = page(report).all("details")
    assert [node.attributes.get("data-rule") for node in rules] == ["C10", "C2", "C20", "Z99", None, None, None]
    warp = rules[1]
    assert [node.text for node in warp.all("span", class_="badge warning")] == ["1 warning"]
    for expected in ("Reports code that assumes 32 threads", "Some devices have 128.", "Use warpSize.", "arch.csv"):
        assert expected in warp.text
    assert [node.text for node in warp.all("pre")] == ["x & 31"]
    assert [node.text for node in rules[2].all("pre")] == ["cuda<T>();", "musa<T>();"]
    assert rules[3].one("summary").text.split()[0] == "Z99"


def test_files_not_ported_are_listed_by_reason(report: Report) -> None:
    section = page(report).one("section", id="not-ported")
    titles = [node.text for node in section.all("span", class_="rule-title")]
    assert titles == [
        "Failed: Permission denied",
        "Left out: link that leaves the tree",
        "Skipped: vendored copy of CUB",
    ]
    assert [node.text for node in section.all("details")[2].all("li")] == ["third/e.h", "third/f.h"]


def test_the_status_filter_offers_what_there_is(report: Report) -> None:
    options = page(report).one("select", id="file-status").all("option")
    assert [node.attributes["value"] for node in options] == [
        *["", "ported", "unchanged", "copied", "skipped", "left-out", "failed"]
    ]


@pytest.mark.parametrize("kind", ["report", "empty"])
def test_accessibility(kind: str, request: pytest.FixtureRequest) -> None:
    root = page(request.getfixturevalue(kind))
    assert root.one("html").attributes["lang"] == "en"
    assert next(node.tag for node in root if re.fullmatch("h[1-6]", node.tag)) == "h1"
    ids = [node.attributes["id"] for node in root if "id" in node.attributes]
    assert len(set(ids)) == len(ids)
    for node in root.all("a"):
        assert node.attributes["href"].removeprefix("#") in ids
    for node in root:
        for label in node.attributes.get("aria-labelledby", "").split():
            assert label in ids
    controls = [node for node in root if node.tag in ("input", "select")]
    labelled = [node for label in root.all("label") for node in label if node.tag in ("input", "select")]
    assert labelled == controls
    assert all(node.attributes.get("type") for node in root.all("button"))
    assert all(node.attributes.get("scope") in ("col", "row") for node in root.all("th"))


def test_a_run_that_only_looked_says_so(report: Report) -> None:
    report.mode, report.output = "check", None
    root = page(report)
    assert root.one("h1").text == "src"
    assert root.one("p", class_="verdict").text.endswith("1 file failed. Nothing was written.")
    assert "2 to port" in " ".join(root.one("ul", class_="totals").text.split())


def test_options_are_named(report: Report) -> None:
    meta = page(report).one("dl", class_="meta")
    pairs = {node.one("dt").text: node.one("dd").text for node in meta.all("div")}
    assert pairs == {"Version": "1.2.3", "Mode": "port", "Time": "1.2 s", "jobs": "2", "arch": "mp_31", "map": "m.csv"}


def test_findings_cost_no_elements(flood: Report) -> None:
    """Rows are made when they are looked at: 20,000 findings must not become elements at once."""
    assert sum(1 for _ in page(flood)) < 200


def test_the_page_comes_in_pieces(flood: Report) -> None:
    from musa_port.report import as_html

    pieces = list(as_html.stream(flood))
    assert max(map(len, pieces)) < sum(map(len, pieces)) / 50
