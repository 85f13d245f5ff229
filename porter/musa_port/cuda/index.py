"""What the whole tree declares: the merged facts of all files."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from musa_port.cuda.facts import Facts

#: Libraries with a MUSA counterpart whose namespaces projects reopen. A tree owns one only when it holds this header.
LIBRARY_HEADERS = {
    "cutlass": "cutlass/cutlass.h",
    "cute": "cute/tensor.hpp",
    "thrust": "thrust/version.h",
    "cub": "cub/cub.cuh",
    "at": "ATen/ATen.h",
    "c10": "c10/core/Device.h",
    "torch": "torch/torch.h",
}


@dataclass(slots=True)
class Index:
    """Names that the project declares, files it holds, and what becomes of them."""

    defined: set[str] = field(default_factory=set)
    #: Name -> namespaces in which the project defines it.
    scoped: dict[str, set[str]] = field(default_factory=dict)
    prototypes: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    #: Full paths of namespaces that the project opens, without those of libraries it only extends.
    namespaces: set[str] = field(default_factory=set)
    #: Source path -> path in the output, for every file that includes may name.
    files: dict[str, str] = field(default_factory=dict)
    #: Symbolic links of the tree -> what they name.
    links: dict[str, str] = field(default_factory=dict)
    #: Libraries (`cutlass`, `cute`, ...) that are part of the tree itself.
    owned: set[str] = field(default_factory=set)
    #: Merged notes of the rules that need the whole tree, by rule name.
    notes: dict[str, list[Any]] = field(default_factory=dict)
    #: The single names of the project's namespaces.
    namespace_names: set[str] = field(default_factory=set)
    _by_name: dict[str, list[str]] = field(default_factory=dict)

    def digest(self) -> str:
        """Changes whenever a decision about some file could change."""
        content = [
            *(
                sorted(table)
                for table in (self.defined, self.prototypes, self.variables, self.fields, self.namespaces, self.owned)
            ),
            sorted((name, sorted(paths)) for name, paths in self.scoped.items()),
            sorted(self.files.items()),
            sorted(self.links.items()),
            sorted((key, sorted(map(repr, notes))) for key, notes in self.notes.items()),
        ]
        return hashlib.sha256(repr(content).encode()).hexdigest()

    def declares(self, name: str) -> bool:
        """Whether the project declares the name in any way."""
        return (
            name in self.defined
            or name in self.scoped
            or name in self.prototypes
            or name in self.variables
            or name in self.fields
        )

    def resolve(self, including: str, target: str) -> str | None:
        """The file of the tree that `#include "target"` in `including` means, or None.

        First relative to the including file, then any file whose path ends with the target: include directories of the
        build are not known here.
        """
        near = posixpath.normpath(posixpath.join(posixpath.dirname(including), target))
        if near in self.files:
            return near
        for link, named in self.links.items():
            if near.startswith(link + "/") and (followed := named + near[len(link) :]) in self.files:
                return followed
        target = posixpath.normpath(target)
        while target.startswith("../"):
            target = target[3:]
        found = [path for path in self._by_name.get(posixpath.basename(target), ()) if path.endswith("/" + target)]
        if target in self.files:
            found.append(target)
        return min(found, key=lambda path: (_distance(including, path), path)) if found else None


def _distance(one: str, other: str) -> int:
    """Steps between the folders of two files; a smaller number is nearer."""
    common = posixpath.commonpath(["/" + posixpath.dirname(one), "/" + posixpath.dirname(other)]).strip("/")
    depth = common.count("/") + 1 if common else 0
    return one.count("/") + other.count("/") - 2 * depth


def build(
    declarations: Iterable[Facts], files: Mapping[str, str], links: Mapping[str, str], shared_notes: Iterable[str]
) -> Index:
    """Merge facts. `files` maps the path of each file to its path in the output, `links` each link to what it names."""
    index = Index(files=dict(files), links=dict(links))
    for path in files:
        index._by_name.setdefault(posixpath.basename(path), []).append(path)
    for library, header in LIBRARY_HEADERS.items():
        if index.resolve("", header) is not None:
            index.owned.add(library)
    keys = list(shared_notes)
    for facts in declarations:
        _merge(index, facts, keys)
    index.namespace_names = {part for path in index.namespaces for part in path.split("::")}
    return index


def _merge(index: Index, facts: Facts, keys: list[str]) -> None:
    index.defined |= facts.defined
    index.defined |= {macro.name for macro in facts.macros if macro.kind == "definition"}
    for path in facts.scoped:
        scope, name = path.rsplit("::", 1)
        index.scoped.setdefault(name, set()).add(scope)
    index.prototypes |= facts.prototypes
    index.variables |= facts.variables
    index.fields |= facts.fields
    for path in facts.namespaces:
        library = path.split("::")[0]
        if library not in LIBRARY_HEADERS or library in index.owned:
            index.namespaces.add(path)
    for key in keys:
        if key in facts.notes:
            index.notes.setdefault(key, []).extend(tuple(note) for note in facts.notes[key])


def declarations_of(facts: Facts, shared_notes: Iterable[str]) -> Facts:
    """The part of the facts that the index needs: small enough to send between processes for every file."""
    return Facts(
        macros=[macro for macro in facts.macros if macro.kind == "definition"],
        defined=facts.defined,
        scoped=facts.scoped,
        variables=facts.variables,
        prototypes=facts.prototypes,
        fields=facts.fields,
        namespaces=facts.namespaces,
        notes={key: facts.notes[key] for key in shared_notes if key in facts.notes},
    )
