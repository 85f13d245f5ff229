"""Files of environment variables: .env, for shells, compose files and programs."""

from __future__ import annotations

import re

from musa_port.build import environment, shell, traces, values
from musa_port.build.fragment import Fragment
from musa_port.draft import Draft
from musa_port.languages import Language, register

_LINE = re.compile(
    r"^(?:\xef\xbb\xbf)?[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z_0-9]*)[ \t]*"
    r"(?:=[ \t]*(?P<value>[^\r\n]*))?\r?$",
    re.M,
)
_QUOTED = re.compile(r"(?P<quote>[\"'])(?P<text>(?:\\.|(?!(?P=quote)).)*)(?P<close>(?P=quote))?", re.S)
_COMMENT = re.compile(r"(?:^|[ \t])#.*|[ \t]+$")


def port(draft: Draft) -> None:
    """Decide a file of variables."""
    whole = Fragment.of_file(draft)
    position = 0
    while match := _LINE.search(whole.text, position):
        position = max(match.end(), match.start() + 1)
        if match["value"] is not None:
            position = max(position, _value(whole, match))
        environment.rename(whole.part(*match.span("name")), exported=True)
        if position > len(whole.text):
            break


def _value(whole: Fragment, match: re.Match[str]) -> int:
    """Translate a value; where it ends, for one in quotes may take several lines."""
    start, end = match.span("value")
    if quoted := _QUOTED.match(whole.text, start):
        start, stop = quoted.span("text")
        end = quoted.end()
        expand = quoted["quote"] == '"'
    else:
        comment = _COMMENT.search(whole.text, start, end)
        stop = comment.start() if comment else end
        expand = True
    text = whole.part(start, stop)
    if text.text:
        values.translate(text, match["name"])
    if expand:
        shell.expansions(text)
    return end


DOTENV = register(Language("dotenv", "shell", (".env", "*.env", ".env.*"), port, traces=traces.found))
