"""Files with patterns of paths: MANIFEST.in and its kind. Patterns for sources follow those that this run renames."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from musa_port import renames
from musa_port.build.fragment import Fragment
from musa_port.draft import Draft
from musa_port.languages import Language, register
from musa_port.model import Severity

_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\S+")
#: Where a suffix of CUDA begins; what follows may be a pattern too (`*.cu*`).
_SUFFIX = re.compile(r"\.cu(?=h?[*?\[]|h?$)")
_WILD = re.compile(r"[*?\[]")
_NEAR = frozenset({"include", "exclude"})
_BELOW = frozenset({"recursive-include", "recursive-exclude"})
_ANYWHERE = frozenset({"global-include", "global-exclude"})


#: The root of the tree, and any folder in it.
ANYWHERE = ("", "*")


def decide(word: Fragment, folders: Sequence[str] = ANYWHERE, joiner: str = "") -> None:
    """Decide one pattern, relative to `folders`, which may be patterns.

    Where it also matches sources that keep their names, both patterns are needed: `joiner` is what separates them here;
    without one the pattern stays and is reported.
    """
    match = _SUFFIX.search(word.text)
    if match is None:
        return
    draft, new = word.draft, _SUFFIX.sub(".mu", word.text)
    files = draft.index.files
    matched = _matched(draft, folders, word.text)
    renamed = [file for file in matched if files[file] != file]
    if not matched:
        _report_missing(word)
    elif len(renamed) == len(matched):
        word.edit(*match.span(), ".mu", "source-in-script")
    elif renamed and joiner:
        word.edit(0, len(word.text), f"{word.text}{joiner}{new}", "source-in-script")
    elif renamed:
        message = f"{word.text} is left: some of the files that it means are {new} in the output, others keep their name"
        word.report("source-in-script", 0, len(word.text), message, severity=Severity.WARNING, name=word.text)


def _matched(draft: Draft, folders: Sequence[str], pattern: str) -> list[str]:
    """The sources of the tree that the pattern means, among those whose names a run may change."""
    relative = pattern.lstrip("/").replace("**/", "*")
    patterns = [posixpath.normpath(posixpath.join(folder, relative)) for folder in folders]
    return [
        file
        for file in draft.index.files
        if file.endswith(renames.SUFFIXES) and any(fnmatchcase(file, text) for text in patterns)
    ]


def _report_missing(word: Fragment) -> None:
    if not _WILD.search(word.text):
        message = f"{word.text} is left: the tree has no such file"
        word.report("source-in-script", 0, len(word.text), message, severity=Severity.WARNING, name=word.text)


# ---- files that hold such patterns --------------------------------------------------------------------------------


def _lines(draft: Draft) -> Iterator[list[Fragment]]:
    """The words of each line."""
    whole = Fragment.of_file(draft)
    for line in _LINE.finditer(whole.text):
        if not line.group().lstrip().startswith("#"):
            yield [whole.part(*match.span()) for match in _WORD.finditer(whole.text, *line.span())]


def _manifest(draft: Draft) -> None:
    """MANIFEST.in: a command, for some a folder, and patterns."""
    root = posixpath.dirname(draft.path)
    for words in _lines(draft):
        command = words[0].text if words else ""
        below = command in _BELOW and len(words) > 1
        top = posixpath.join(root, words[1].text) if below else root
        if command in _NEAR | _BELOW | _ANYWHERE:
            for word in words[2 if below else 1 :]:
                decide(word, (top,) if command in _NEAR else (top, posixpath.join(top, "*")), " ")


def _attributes(draft: Draft) -> None:
    """A pattern, and what holds of the files that it matches."""
    for words in _lines(draft):
        for word in words[:1]:
            decide(word)


MANIFEST = register(Language("manifest", "python", ("MANIFEST.in",), _manifest))
ATTRIBUTES = register(
    Language("path-patterns", "shell", (".gitattributes", "CODEOWNERS", ".clang-format-ignore"), _attributes)
)
