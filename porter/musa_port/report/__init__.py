"""Reports of a run: `text`, `json`, `sarif`, `html`, `md` and `github`.

    render(report, "json")              the report as a string
    write(report, Path("port.html"))    the report in a file, its format taken from the extension
    print_summary(report)               the short account for a terminal
    verdict(report)                     the outcome in one line

Adding a format is adding a module that registers itself (see `registry.register`) and importing it here.
"""

from __future__ import annotations

from pathlib import Path

from musa_port.model import Report
from musa_port.report import as_github, as_html, as_json, as_md, as_sarif, as_text, output, registry
from musa_port.report.as_text import print_summary
from musa_port.report.registry import ReportError
from musa_port.report.wording import verdict

__all__ = ["ReportError", "check_target", "format_names", "print_summary", "render", "verdict", "write"]

#: Importing the modules is what registers the formats.
_MODULES = (as_github, as_html, as_json, as_md, as_sarif, as_text)


def format_names() -> tuple[str, ...]:
    """The formats that `render` and `write` know."""
    return registry.names()


def render(report: Report, format: str) -> str:  # noqa: A002
    """The report as a string in the named format. Raises ReportError when there is no such format."""
    return "".join(registry.find(format).stream(report))


def check_target(path: Path | str, format: str | None = None) -> None:  # noqa: A002
    """Raise ReportError when `write` could not write this file: no format, no folder for it, a folder in its place."""
    target = Path(path)
    if format is None:
        registry.guess(target)
    if target.is_dir():
        raise ReportError(f"{target}: is a folder; name a file for the report")
    if not target.parent.is_dir():
        raise ReportError(f"{target}: there is no folder {target.parent}; make it first")


def write(report: Report, path: Path | str, format: str | None = None) -> None:  # noqa: A002
    """Write the report to `path`, whole or not at all.

    Without `format` the extension decides: .html, .htm, .json, .md, .sarif, .txt. Raises ReportError when the format is
    unknown or the file cannot be written.
    """
    target = Path(path)
    chosen = registry.find(format) if format else registry.guess(target)
    output.write_atomically(target, chosen.stream(report))
