"""The report formats by name. Each format module registers one function that streams a report as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from musa_port.errors import UsageError
from musa_port.model import Report

#: Turns a report into pieces of text, in order, so that a large report is never held as one string.
Stream = Callable[[Report], Iterator[str]]


class ReportError(UsageError):
    """A report cannot be made or written."""


@dataclass(frozen=True, slots=True)
class Format:
    """A report format: its name on the command line, the file extensions that imply it, and its writer."""

    name: str
    extensions: tuple[str, ...]
    stream: Stream


_FORMATS: dict[str, Format] = {}


def register(name: str, *extensions: str) -> Callable[[Stream], Stream]:
    """Decorator that adds a format."""

    def add(stream: Stream) -> Stream:
        if name in _FORMATS:
            raise ValueError(f"report format {name!r} is registered twice")
        _FORMATS[name] = Format(name, extensions, stream)
        return stream

    return add


def names() -> tuple[str, ...]:
    """The names of all formats, sorted."""
    return tuple(sorted(_FORMATS))


def find(name: str) -> Format:
    """The format called `name`. Raises ReportError."""
    try:
        return _FORMATS[name]
    except KeyError:
        raise ReportError(f"unknown report format {name!r}: expected one of {', '.join(names())}") from None


def guess(path: Path) -> Format:
    """The format that the extension of `path` stands for. Raises ReportError."""
    lowered = path.name.lower()
    by_extension = {extension: known for known in _FORMATS.values() for extension in known.extensions}
    matches = [extension for extension in by_extension if lowered.endswith(extension)]
    if not matches:
        expected = ", ".join(sorted(by_extension))
        raise ReportError(f"no report format known for {path.name!r}: expected {expected}, or name one with --format")
    return by_extension[max(matches, key=len)]
