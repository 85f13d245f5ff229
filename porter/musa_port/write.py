"""Writing the output: every file whole or not at all, links as links, modes kept."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from musa_port.errors import UsageError


def write_bytes(path: Path, data: bytes, like: Path | None = None) -> None:
    """Write a file atomically: a reader, or a crash, sees the old content or the new. Takes the mode of `like`.

    A file that holds the bytes already is not touched, so that build tools see no change.
    """
    with contextlib.suppress(OSError):
        if not path.is_symlink() and path.stat().st_size == len(data) and path.read_bytes() == data:
            return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if like is not None:
            shutil.copymode(like, name)
        else:
            os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def copy_file(source: Path, target: Path) -> None:
    """Copy bytes and mode, atomically, without reading the file into memory."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if _same(source, target):
        return
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    os.close(handle)
    try:
        shutil.copyfile(source, name)
        shutil.copymode(source, name)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _same(source: Path, target: Path) -> bool:
    try:
        if target.is_symlink() or source.stat().st_size != target.stat().st_size:
            return False
        with source.open("rb") as one, target.open("rb") as other:
            while chunk := one.read(1 << 20):
                if chunk != other.read(1 << 20):
                    return False
        return True
    except OSError:
        return False


def copy_link(source: Path, target: Path, renamed_suffix: str) -> None:
    """Make the same link; its target follows when the file it names was renamed."""
    destination = os.readlink(source)
    if renamed_suffix:
        destination = os.path.splitext(destination)[0] + renamed_suffix
    target.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        if target.is_symlink() and os.readlink(target) == destination:
            return
    temporary = target.parent / f".{target.name}.{os.getpid()}.tmp"
    os.symlink(destination, temporary)
    os.replace(temporary, target)


def require_clean_git(source: Path) -> None:
    """`--in-place` changes sources: refuse when git could not bring the old ones back."""
    folder = source if source.is_dir() else source.parent
    command = ["git", "-C", str(folder), "status", "--porcelain", "--untracked-files=all", "--ignored=no", "--", "."]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise UsageError("--in-place needs git to be sure that nothing is lost; use -o OUT, or --force") from None
    if result.returncode != 0:
        raise UsageError(f"--in-place: {source} is not in a git repository; use -o OUT, or --force")
    if result.stdout.strip():
        count = len(result.stdout.strip().splitlines())
        raise UsageError(f"--in-place: {source} has {count} uncommitted change(s); commit them, or use --force")
