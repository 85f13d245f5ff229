"""YAML files as nodes whose texts keep their places in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml

from musa_port.build.fragment import Fragment
from musa_port.build.quoting import align
from musa_port.draft import Draft

#: The parser of libyaml, where PyYAML was built with it, is ten times as fast and gives the same marks.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")


class NotYaml(Exception):
    """The text is no YAML; holds what is wrong, and at which byte."""

    def __init__(self, problem: str, place: int) -> None:
        super().__init__(problem)
        self.place = place


class Document:
    """A YAML file. `nodes` are the roots of its documents."""

    def __init__(self, draft: Draft) -> None:
        """Raises NotYaml."""
        self._source = _decoded(draft)
        self.nodes = _compose(self._source)

    def fragment(self, node: yaml.ScalarNode) -> Fragment | None:
        """The value of a scalar, each character at its place; None when it cannot be told where they stand."""
        source = self._source.part(node.start_mark.index, node.end_mark.index)
        if match := _PROPERTIES.match(source.text):
            source = source.part(match.end(), len(source.text))
        if node.style in ("|", ">"):
            source = source.part(source.text.find("\n") + 1, len(source.text))
        elif node.style in ("'", '"'):
            source = source.part(1, len(source.text) - 1)
        return align(node.value, source, escapes=node.style == '"')


def _decoded(draft: Draft) -> Fragment:
    """The text of the file; a byte that is no UTF-8 is one character that stands for nothing."""
    data = draft.data
    start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    text = data[start:].decode("utf-8", "surrogateescape")
    if text.isascii():
        return Fragment(draft, text, range(start, len(data)))
    at = list(_offsets(text, start))
    return Fragment(draft, re.sub("[\ud800-\udfff]", "\ufffd", text), at)


def _offsets(text: str, start: int) -> Iterator[int]:
    for char in text:
        yield start
        start += 1 if char < "\x80" or "\ud800" <= char <= "\udfff" else len(char.encode())


def _compose(source: Fragment) -> Sequence[yaml.Node]:
    try:
        return list(yaml.compose_all(source.text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        index = error.problem_mark.index if error.problem_mark else 0
        raise NotYaml(error.problem or "not understood", source.place(index, index)[0]) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise NotYaml(str(error).partition("\n")[0] or type(error).__name__, 0) from error
