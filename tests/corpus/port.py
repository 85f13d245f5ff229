"""A port of one tree as it lies on disk, and its JSON report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .declared import declared
from .includes import Tree
from .lexer import Source

#: What musa-port examines: the kinds of sources that its documentation lists.
EXTENSIONS = frozenset(
    ".cu .cuh .c .h .cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .inl .inc .ipp .tpp .tcc .ixx .cppm .cuinc .impl".split()
)


@dataclass
class Port:
    """Both trees and the report. `files` are the report's entries by source path."""

    source: Path
    output: Path
    report: dict[str, Any]

    @cached_property
    def files(self) -> dict[str, dict[str, Any]]:
        return {file["path"]: file for file in self.report["files"]}

    @cached_property
    def sources(self) -> list[str]:
        """Paths of the files of the source tree, links to folders among them."""
        return sorted(walk(self.source))

    def holds(self, header: str) -> bool:
        """Whether the tree holds a header under this path, below whatever include folder."""
        return any(f"/{path}".endswith(f"/{header}") for path in self.sources)

    def declared(self, names: set[str]) -> set[str]:
        """Those of the names that some source of the tree declares, other than libraries that the port leaves out."""
        found: set[str] = set()
        for path, file in self.files.items():
            if Path(path).suffix in EXTENSIONS and not file["reason"].startswith("vendored"):
                source = self.before(path)
                if not names <= found and source.words & (names - found):
                    found |= declared(source.tokens) & names
        return found

    def examined(self) -> Iterator[dict[str, Any]]:
        """The entries of files that were ported, or looked at and left alone."""
        return (file for file in self.report["files"] if file["status"] in ("ported", "unchanged"))

    def examined_sources(self) -> Iterator[dict[str, Any]]:
        """Those of C-family sources."""
        return (file for file in self.examined() if file["language"] == "c-family")

    def sources_in_output(self) -> Iterator[dict[str, Any]]:
        """The entries whose port must account for CUDA names: what was examined, and what other sources include."""
        included = self.included
        yield from self.examined_sources()
        for file in self.report["files"]:
            if file["status"] == "copied" and file["path"] in included:
                yield file

    @cached_property
    def included(self) -> set[str]:
        """Files that sources of the tree include: such a file is a source too, whatever its name ends with."""
        tree = Tree(self.sources)
        return {
            path
            for file in self.examined_sources()
            for target in self.before(file["path"]).includes
            for path in tree.find(file["path"], target)
        }

    def before(self, path: str) -> Source:
        return Source((self.source / path).read_bytes())

    def after(self, path: str) -> Source:
        """The port of the file `path` of the source tree."""
        return Source((self.output / self.files[path]["output_path"]).read_bytes())


def walk(root: Path) -> Iterator[str]:
    """Every file and link below a folder, with forward slashes. Version control is no part of the sources."""
    for folder, folders, files in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in [*(name for name in files if name != ".git"), *links]:
            yield Path(folder, name).relative_to(root).as_posix()


def run(source: Path, output: Path, *options: str) -> Port:
    """Port with the command line. Status 1 only says that something is left to do by hand."""
    report = output.with_name(f"{output.name}.json")
    command = [sys.executable, "-m", "musa_port", str(source), "-o", str(output), "--report", str(report), "--quiet"]
    command += options
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode in (0, 1), f"{' '.join(command)} ended with {result.returncode}\n{result.stderr}"
    assert re.fullmatch(r"(musa-port: [\d,]+ errors? to mend by hand, first .*\n)?", result.stderr), result.stderr
    return Port(source, output, json.loads(report.read_text(encoding="utf-8")))
