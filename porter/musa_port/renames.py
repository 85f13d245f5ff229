"""Sources that change their name in this run, as other files name them."""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

from musa_port.cuda.index import Index
from musa_port.options import RENAMED

#: Suffixes that a run may rename, longest first.
SUFFIXES = tuple(sorted(RENAMED, key=len, reverse=True))
_GLOB = re.compile(r"[*?\[]")
#: Text before the path that only the build knows: `${CMAKE_CURRENT_SOURCE_DIR}/`, `$(SRC)/`, `$PWD/`, `{root}/`.
_VARIABLE = re.compile(r"^(?:\$\{[^}]*\}|\$\([^)]*\)|\$\w+|\{[^}]*\})/")


def new_name(index: Index, path: str, text: str) -> str | None:
    """How `text`, which names a source in the file `path`, has to read in the output.

    The same text when the source keeps its name; None when no file of the tree is meant. A glob is renamed when every
    file that it matches is; a path may begin with variables of the build.
    """
    suffix = posixpath.splitext(text)[1]
    if suffix not in RENAMED:
        return text
    bare = _without_variables(text)
    return _new_glob(index, path, text, bare) if _GLOB.search(bare) else _new_path(index, path, text, bare)


def new_suffix(index: Index, path: str, suffix: str) -> str | None:
    """What the ending of sources becomes: the new one, if sources below the folder of `path`, or anywhere, get it.

    The same ending when they keep it; None when there are no such sources.
    """
    folder = posixpath.dirname(path)
    files = {old: new for old, new in index.files.items() if old.endswith(suffix)}
    near = {old: new for old, new in files.items() if not folder or old.startswith(folder + "/")} or files
    if any(old != new for old, new in near.items()):
        return RENAMED[suffix]
    return suffix if near else None


def _without_variables(text: str) -> str:
    while match := _VARIABLE.match(text):
        text = text[match.end() :]
    return text


def _new_path(index: Index, path: str, text: str, bare: str) -> str | None:
    found = index.resolve(path, bare.lstrip("/"))
    if found is None:
        return None
    old, new = posixpath.basename(found), posixpath.basename(index.files[found])
    return text[: len(text) - len(old)] + new if text.endswith(old) else text


def _new_glob(index: Index, path: str, text: str, bare: str) -> str | None:
    """The glob with the new suffix, unless it matches nothing or a file that keeps its name."""
    pattern = posixpath.normpath(posixpath.join(posixpath.dirname(path), bare))
    loose = "*/" + bare.lstrip("./")
    matched = [file for file in index.files if fnmatchcase(file, pattern)]
    matched = matched or [file for file in index.files if fnmatchcase("/" + file, loose)]
    if not matched:
        return None
    if any(index.files[file] == file for file in matched):
        return text
    stem, suffix = posixpath.splitext(text)
    return stem + RENAMED[suffix]
