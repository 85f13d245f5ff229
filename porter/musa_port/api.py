"""The Python interface: port a tree on disk, or a few sources in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from musa_port.model import Edit, FileStatus, Finding, Report
from musa_port.options import Options


@dataclass(frozen=True, slots=True)
class FilePort:
    """One ported source. `output_path` differs from the source's path when the extension was renamed."""

    output_path: str | None
    data: bytes
    edits: list[Edit]
    findings: list[Finding]
    status: FileStatus
    reason: str


def port_tree(source: Path, output: Path, options: Options | None = None) -> Report:
    """Port the tree (or file) `source` into the folder `output`. Raises UsageError for unusable paths or options."""
    from musa_port.run import Run, execute

    return execute(Run(Path(source), Path(output), options or Options(), "port"))


def port_sources(sources: Mapping[str, bytes], options: Options | None = None) -> dict[str, FilePort]:
    """Port sources given as {relative path: bytes}, which see each other as one tree. Nothing is left on disk."""
    options = replace(options or Options(), keep_edits=True)
    with tempfile.TemporaryDirectory(prefix="musa-port-") as folder:
        source, output = Path(folder, "source"), Path(folder, "output")
        source.mkdir()
        for path, data in sources.items():
            file = source / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        report = port_tree(source, output, options)
        return {
            file.path: FilePort(
                file.output_path,
                (output / file.output_path).read_bytes() if file.output_path else b"",
                file.edits,
                file.findings,
                file.status,
                file.reason,
            )
            for file in report.files
        }
