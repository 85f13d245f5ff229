"""Where an include leads in a tree, for a compiler with some include folders that nobody knows here."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable


class Tree:
    """The files of a tree, by name."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = set(paths)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in self._paths:
            self._by_name[posixpath.basename(path)].append(path)

    def find(self, including: str, include: str) -> list[str]:
        """What `"path"` or `<path>` means: the file beside the including one, or each that an include folder gives."""
        target = posixpath.normpath(include[1:-1])
        near = posixpath.normpath(posixpath.join(posixpath.dirname(including), target))
        if include[0] == '"' and near in self._paths:
            return [near]
        while target.startswith("../"):
            target = target[3:]
        return [path for path in self._by_name[posixpath.basename(target)] if f"/{path}".endswith(f"/{target}")]
