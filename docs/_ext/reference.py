"""Writes the reference pages that are made from the program's own data into docs/generated/ before Sphinx reads.

The rule reference comes from `musa_port.rules`, the table of mapping files from `musa_port.mappings`: the documentation
cannot say something else than the program does.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from sphinx.application import Sphinx

from musa_port.mappings import CONFIDENCE, read_table
from musa_port.rules import Rule, all_rules

#: What the letter of a rule's id stands for, in the order of the page.
FAMILIES = {
    "C": "C, C++ and CUDA sources",
    "P": "Python",
    "H": "TileLang, the host side",
    "K": "TileLang kernels",
    "B": "Build files, scripts and settings",
    "F": "Files and trees",
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(app: Sphinx) -> None:
    """Write each generated page; a page whose text is the same keeps its time stamp."""
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    for name, text in (("rules.md", rule_reference()), ("mapping_files.md", mapping_files())):
        page = folder / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def rule_reference() -> str:
    """The rule reference in Markdown: for each letter a table of its rules, then a section for each rule."""
    families: dict[str, list[Rule]] = defaultdict(list)
    for rule in all_rules():
        families[rule.id[0]].append(rule)
    if unknown := families.keys() - FAMILIES.keys():
        raise ValueError(f"rules of the letters {sorted(unknown)} have no heading; add them to FAMILIES")
    return "\n\n".join(_family(letter, families[letter]) for letter in FAMILIES) + "\n"


def _family(letter: str, rules: list[Rule]) -> str:
    overview = _table(
        ("rule", "name", "severity", "what it does"),
        (
            (f"[{rule.id}](#{rule.id.lower()})", f"`{rule.name}`", rule.severity.value, _prose(rule.summary))
            for rule in rules
        ),
    )
    return "\n\n".join([f"## {letter}: {FAMILIES[letter]}", overview, *map(_rule_section, rules)])


def _rule_section(rule: Rule) -> str:
    parts = [
        f"({rule.id.lower()})=\n### {rule.id} {rule.name}",
        f"Severity: {rule.severity.value}. {_prose(rule.summary)}",
    ]
    if rule.why:
        parts.append(f"**Why.** {_prose(rule.why)}")
    if rule.example:
        parts.append(_example(*rule.example))
    if rule.advice:
        parts.append(f"**What to do.** {_prose(rule.advice)}")
    if rule.evidence:
        parts.append(f"**Source.** {_prose(rule.evidence)}")
    return "\n\n".join(parts)


def _example(before: str, after: str) -> str:
    if before == after:
        return f"Reported, text unchanged:\n\n{_code(before)}"
    return f"Before:\n\n{_code(before)}\n\nAfter:\n\n{_code(after)}"


def _prose(text: str) -> str:
    """Plain text for Markdown: `__CUDA_ARCH__` must not come out bold. What stands in backticks stays code."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([\\_*<\[])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def _code(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"


def mapping_files() -> str:
    """A Markdown table of the name tables with their number of rows by confidence."""
    folder = resources.files("musa_port") / "mappings"
    names = sorted(item.name.removesuffix(".csv") for item in folder.iterdir() if item.name.endswith(".csv"))
    tables = {name: read_table(name) for name in names}
    rows = [(f"`{name}.csv`", *_counts(table)) for name, table in tables.items() if "confidence" in table[0]]
    total = [sum(int(row[column]) for row in rows) for column in range(1, len(CONFIDENCE) + 2)]
    return _table(("file", "rows", *CONFIDENCE), [*rows, ("all", *map(str, total))])


def _counts(table: list[dict[str, str]]) -> tuple[str, ...]:
    counts = Counter(row["confidence"] for row in table)
    return (str(len(table)), *(str(counts[level]) for level in CONFIDENCE))


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = [list(head)]
    cells += [["---"] * len(cells[0]), *map(list, rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells)
