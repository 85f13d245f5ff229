"""Writing the output: every file whole or not at all, links as links, modes kept."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from musa_port import languages
from musa_port.errors import UsageError
from musa_port.options import C_FAMILY_SUFFIXES, IGNORED


def write_bytes(path: Path, data: bytes, like: Path | None = None) -> None:
    """Write a file atomically: a reader, or a crash, sees the old content or the new. Takes the mode of `like`.

    A file that holds the bytes already is not written, so that build tools see no change.
    """
    with contextlib.suppress(OSError):
        if not path.is_symlink() and path.stat().st_size == len(data) and path.read_bytes() == data:
            if like is not None:
                match_mode(like, path)
            return

    def fill(name: str) -> None:
        Path(name).write_bytes(data)

    _replace(path, fill, like)


def copy_file(source: Path, target: Path) -> None:
    """Copy bytes and mode, atomically, without reading the file into memory."""
    if _same(source, target):
        match_mode(source, target)
        return

    def fill(name: str) -> None:
        shutil.copyfile(source, name)

    _replace(target, fill, source)


def _replace(path: Path, fill: Callable[[str], None], like: Path | None) -> None:
    """Fill a temporary file beside `path` and put it in its place; leave nothing behind when that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".musa-port-", suffix=".tmp")
    try:
        os.close(handle)
        fill(name)
        if like is not None:
            shutil.copymode(like, name)
        else:
            os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def match_mode(source: Path, target: Path) -> None:
    """Give `target` the permissions of `source`."""
    mode = source.stat().st_mode & 0o7777
    if target.stat().st_mode & 0o7777 != mode:
        target.chmod(mode)


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


def make_folder(root: Path, folder: Path) -> None:
    """Make `folder`, which is `root` or below it. A link in its place gives way: it could lead anywhere."""
    for name in reversed([folder, *folder.parents][: len(folder.parts) - len(root.parts)]):
        if name.is_symlink():
            name.unlink()
        name.mkdir(exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)


def make_link(destination: str, target: Path) -> None:
    """Make a symbolic link, in the place of whatever file or link is there."""
    with contextlib.suppress(OSError):
        if target.is_symlink() and os.readlink(target) == destination:
            return
    temporary = target.parent / f".musa-port-{os.getpid()}.tmp"
    try:
        os.symlink(destination, temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


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
    ignored = ["git", "-C", str(folder), "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", "."]
    names = subprocess.run(ignored, capture_output=True, text=True, check=True).stdout.split("\0")
    sources = [name for name in names if _is_source(folder / name)]
    if sources:
        raise UsageError(f"--in-place: git ignores {sources[0]} and could not bring it back; move it, or use --force")


def _is_source(path: Path) -> bool:
    """Whether a run might change the file."""
    if IGNORED & set(path.parts):
        return False
    if path.suffix in C_FAMILY_SUFFIXES:
        return True
    language = languages.of_path(path.name)
    try:
        return language is not None and languages.is_candidate(path.read_bytes(), language)
    except OSError:
        return False
