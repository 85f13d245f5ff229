"""setup.cfg: the requirements and the data files of setuptools. Everything else is left."""

from __future__ import annotations

import re

from musa_port.build import distributions, source_patterns, traces
from musa_port.build.fragment import Fragment
from musa_port.draft import Draft
from musa_port.languages import Language, register

_LINE = re.compile(r"[^\n]*(?:\n|$)")
_PATH = re.compile(r"[^\s,#]+")
_SECTION = re.compile(r"\[([^\]]*)\]")
_KEY = re.compile(r"([^\s=:#;][^=:]*?)[ \t]*[=:][ \t]*")
_KEYS = frozenset({"install_requires", "setup_requires", "tests_require", "requires-dist"})


def port(draft: Draft) -> None:
    """Decide a setup.cfg."""
    whole = Fragment.of_file(draft)
    section = key = ""
    position = 0
    while position < len(whole.text):
        match = _LINE.match(whole.text, position)
        assert match is not None
        start, position = position, match.end()
        first = start + len(match.group()) - len(match.group().lstrip())
        if heading := _SECTION.match(whole.text, start):
            section, key = heading.group(1).strip(), ""
        elif first > start or not match.group().strip():
            if _is_list(section, key):
                _requirement(whole, start, first, position)
            elif _holds_paths(section):
                _paths(whole, first, position)
        elif setting := _KEY.match(whole.text, start, position):
            key = setting.group(1)
            if _is_list(section, key):
                _requirement(whole, setting.end(), setting.end(), position)
            elif _holds_paths(section):
                _paths(whole, setting.end(), position)


def _is_list(section: str, key: str) -> bool:
    return (section == "options" and key in _KEYS) or (section == "options.extras_require" and key != "")


def _holds_paths(section: str) -> bool:
    return section in ("options.package_data", "options.exclude_package_data", "options.data_files")


def _paths(whole: Fragment, start: int, end: int) -> None:
    """Names of files and patterns, with commas or alone on a line."""
    for match in _PATH.finditer(whole.text, start, end):
        source_patterns.decide(whole.part(*match.span()))


def _requirement(whole: Fragment, start: int, first: int, end: int) -> None:
    """A requirement on a line of its own, from `first` on, or behind its key."""
    text = whole.text[first:end]
    stripped = re.split(r"(?:^|\s)#", text)[0].rstrip()
    if not stripped or stripped.startswith("#"):
        return
    if distributions.decide(whole.part(first, first + len(stripped))):
        whole.remove(start, end if start < first else first + len(stripped), "nvidia-wheel")


SETUP_CFG = register(Language("setup.cfg", "python", ("setup.cfg",), port, traces=traces.found))
