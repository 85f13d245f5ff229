"""pyproject.toml: requirements, and what is given to CMake and to cibuildwheel. Everything else is left."""

from __future__ import annotations

import re
from collections.abc import Sequence

from musa_port.build import definitions, distributions, environment, shell, source_patterns, traces, values
from musa_port.build.fragment import Fragment
from musa_port.build.quoting import align
from musa_port.build.toml_strings import String, strings
from musa_port.draft import Draft
from musa_port.languages import Language, register

#: Lists of requirements, as the keys that lead to them.
_REQUIREMENTS = (
    re.compile(r"build-system\.requires"),
    re.compile(r"project\.dependencies"),
    re.compile(r"project\.optional-dependencies\.[^.]+"),
    re.compile(r"dependency-groups\.[^.]+"),
    re.compile(r"tool\.(?:uv|pdm)\.(?:dev|constraint|override|build-constraint)-dependencies(?:\.[^.]+)?"),
    re.compile(r"tool\.hatch\.envs\.[^.]+\.(?:extra-)?dependencies"),
    re.compile(r"tool\.cibuildwheel\.(?:\w+\.)?test-requires"),
)
_ENVIRONMENT = re.compile(r"tool\.cibuildwheel\.(?:\w+\.)?environment\.(\w+)")
_ASSIGNMENTS = re.compile(r"tool\.cibuildwheel\.(?:\w+\.)?environment")
_SCRIPT = re.compile(
    r"tool\.cibuildwheel\.(?:\w+\.)?(?:before-\w+|test-command|repair-wheel-command)|tool\.hatch\.envs\.[^.]+\.scripts\.\w+"
)
_DEFINE = re.compile(r"tool\.scikit-build\.cmake\.define\.(\w+)")
_ARGUMENTS = re.compile(r"tool\.scikit-build\.cmake\.args")
#: Lists of files that a distribution holds.
_PATHS = re.compile(
    r"tool\.setuptools\.(?:exclude-)?package-data\..+|tool\.setuptools\.data-files\..+"
    r"|tool\.(?:poetry|maturin|pdm\.build|flit\.sdist|hatch\.build(?:\.targets\.\w+)?)"
    r"\.(?:include|exclude|source-includes|artifacts|only-include)(?:\.path)?"
    r"|tool\.scikit-build\.(?:sdist|wheel)\.(?:include|exclude)"
)
_COMMA = re.compile(r"(?:[ \t]*\r?\n)?[ \t]*,")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_POETRY = re.compile(r"tool\.poetry\.(?:group\.[^.]+\.)?(?:dev-)?dependencies\.([^.]+)(\.\w+)?")


def port(draft: Draft) -> None:
    """Decide a pyproject.toml."""
    whole = Fragment.of_file(draft)
    removed: list[String] = []
    found = list(strings(whole.text))
    for string in found:
        text = _content(whole, string)
        if text is not None and _decide(whole, string, text):
            removed.append(string)
    for start, end in _removals(whole.text, found, removed):
        whole.remove(start, end, "nvidia-wheel")


def _content(whole: Fragment, string: String) -> Fragment | None:
    """The value of a string; one with escapes that change its length is aligned."""
    source = whole.part(string.start, string.end)
    if "\\" not in source.text or whole.text[string.outer[0]] == "'":
        return source
    value = re.sub(r'\\(["\\])', r"\1", re.sub(r"\\[ \t]*\r?\n\s*", "", source.text))
    return align(value, source, escapes=True)


def _decide(whole: Fragment, string: String, text: Fragment) -> bool:
    """Decide one string; whether it is a requirement that goes."""
    path = ".".join(string.path)
    if string.in_array and any(pattern.fullmatch(path) for pattern in _REQUIREMENTS):
        return distributions.decide(text)
    if match := _ENVIRONMENT.fullmatch(path):
        values.translate(text, match.group(1))
        shell.expansions(text)
        environment.rename(whole.part(*string.key), exported=True)
    elif _ASSIGNMENTS.fullmatch(path) or _SCRIPT.fullmatch(path):
        shell.script(text)
    elif _DEFINE.fullmatch(path):
        definitions.variable(whole.part(*string.key), text)
    elif _ARGUMENTS.fullmatch(path):
        definitions.decide([text])
    elif (match := _POETRY.fullmatch(path)) and not match.group(2):
        distributions.decide(whole.part(*string.key), fixed="tables of Poetry are not rewritten")
        distributions.version(text, match.group(1))
        distributions.address(text)
    elif match and match.group(2) == ".version":
        distributions.version(text, match.group(1))
    elif _PATHS.fullmatch(path):
        source_patterns.decide(text)
    else:
        distributions.address(text)
    return False


def _removals(text: str, found: Sequence[String], removed: Sequence[String]) -> list[tuple[int, int]]:
    """What to remove so that the arrays lose these elements, with a comma each, and the line of one that is alone."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(_span(text, found, removed, string) for string in removed):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _span(text: str, found: Sequence[String], removed: Sequence[String], string: String) -> tuple[int, int]:
    start, end = string.outer
    comma = _COMMA.match(text, end)
    end = comma.end() if comma else end
    line = text.rfind("\n", 0, start) + 1
    rest = _REST.match(text, end)
    if not text[line:start].strip() and rest:
        return line, rest.end()
    if comma:
        return start, len(text) - len(text[end:].lstrip(" \t"))
    return _behind_the_last(text, found, removed, string), end


def _behind_the_last(text: str, found: Sequence[String], removed: Sequence[String], string: String) -> int:
    """Where the element before a last one ends that stays; where the element itself starts when there is none."""
    place = string.outer[0]
    for before in reversed(found[: found.index(string)]):
        if before.path != string.path or not before.in_array or text[before.outer[1] : place].strip(" \t\r\n,"):
            break
        place = before.outer[1] if before not in removed else before.outer[0]
        if before not in removed:
            return place
    return string.outer[0]


PYPROJECT = register(Language("pyproject", "python", ("pyproject.toml",), port, traces=traces.found))
