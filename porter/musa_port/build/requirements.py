"""Requirements and constraints files of pip."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musa_port.build import distributions, traces
from musa_port.build.fragment import Fragment
from musa_port.draft import Draft
from musa_port.languages import Language, register

_LINE = re.compile(r"(?:[^\n\\]|\\(?!\r?\n)|\\\r?\n)*(?:\n|$)")
#: What stands behind a requirement: options such as hashes, and a comment.
_END = re.compile(r"\s--[a-z]|(?:^|\s)#|\s*\\\r?\n|\s*$")
#: Indented comments that pip-compile puts below a requirement.
_BELOW = re.compile(r"(?:[ \t]+#[^\n]*(?:\n|$))*")


def port(draft: Draft) -> None:
    """Decide a requirements file."""
    whole = Fragment.of_file(draft)
    for start, end in _lines(whole.text):
        _line(whole, start, end)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Logical lines, with what continues them."""
    position = 3 if text.startswith("\xef\xbb\xbf") else 0
    while position < len(text):
        match = _LINE.match(text, position)
        assert match is not None
        yield position, match.end()
        position = match.end()


def _line(whole: Fragment, start: int, end: int) -> None:
    text = whole.text[start:end]
    stripped = text.lstrip()
    first = start + len(text) - len(stripped)
    if not stripped or stripped.startswith("#"):
        return
    if stripped.startswith("-"):
        distributions.address(whole.part(first, end))
        return
    stop = _END.search(whole.text, first, end)
    last = stop.start() if stop else end
    if distributions.decide(whole.part(first, last), hashed="--hash" in text):
        below = _BELOW.match(whole.text, end)
        assert below is not None
        whole.remove(start, below.end() if text.endswith("\n") else end, "nvidia-wheel")


REQUIREMENTS = register(
    Language(
        "requirements",
        "python",
        ("requirements*.txt", "*requirements.txt", "constraints*.txt", "requirements/*.txt", "requirements*.in"),
        port,
        traces=traces.found,
    )
)
