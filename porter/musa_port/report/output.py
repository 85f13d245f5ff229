"""Writing a report to a file: completely or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from musa_port.report.registry import ReportError


def write_atomically(path: Path, pieces: Iterator[str]) -> None:
    """Write UTF-8 text to `path`, which is either replaced as a whole or left as it was. Raises ReportError."""
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            _write_special(target, pieces)
        else:
            _replace(target, pieces)
    except OSError as error:
        problem = error.strerror or error
        raise ReportError(f"cannot write report {str(path)!r}: {problem}; give --report a writable file") from error


def _write_special(target: Path, pieces: Iterator[str]) -> None:
    """A pipe or a device such as /dev/stdout: replacing it would destroy it."""
    with target.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(pieces)


def _replace(target: Path, pieces: Iterator[str]) -> None:
    # Not from `tempfile`: its files are readable by their owner only, and the report would inherit that.
    temporary = target.with_name(f".musa-port-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as stream:
            stream.writelines(pieces)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
