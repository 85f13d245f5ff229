"""`--diff`: what it prints is a patch that makes the source tree the ported tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from musa_port import Options, port_tree
from musa_port.diff import unified
from musa_port.run import Run, execute

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

CODE = "void f(void* p) { cudaFree(p); }\n"
NOTHING = "int f();\n"


def tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def contents(folder: Path) -> dict[str, tuple[object, int]]:
    """Bytes and mode of each file, target of each link."""
    return {
        str(path.relative_to(folder)): (os.readlink(path), 0)
        if path.is_symlink()
        else (path.read_bytes(), path.stat().st_mode & 0o100)
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def git(folder: Path, *arguments: str, data: bytes = b"") -> bytes:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, input=data, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def patch(source: Path, **options: Any) -> bytes:
    run = Run(source, None, Options(**options), "diff")
    execute(run)
    return b"".join(run.diffs[path] for path in sorted(run.diffs))


def check(tmp_path: Path, source: Path, **options: Any) -> bytes:
    """The patch; applied to a copy of the source, it gives what porting writes."""
    text = patch(source, **options)
    copy = tmp_path / "copy"
    shutil.copytree(source, copy, symlinks=True)
    if text:
        git(copy, "apply", "--whitespace=nowarn", "-", data=text)
    port_tree(source, tmp_path / "out", Options(**options))
    assert contents(copy) == contents(tmp_path / "out")
    return text


@pytest.mark.parametrize(
    "text",
    [
        CODE,
        CODE.rstrip(),
        CODE + CODE.rstrip(),
        "int x;\n" * 50 + CODE + "int y;\n" * 50 + CODE + "int z;\n" * 10,
        "int x;\n" * 5 + CODE.rstrip() + " // \u4e2d\u6587",
        CODE.replace("\n", "\r\n") * 3,
        CODE + CODE.replace("\n", "\r\n") + "int x;\r" + CODE,
        CODE.encode() + b"// \xe9\xff\n",
        b"\xef\xbb\xbf" + CODE.encode(),
        "// \u2028 \x85 \x0b \x0c \x1c \x1e\n" + CODE,
        "\n\n" + CODE + "\n\n",
        "\n",
        "",
        NOTHING,
        NOTHING.rstrip(),
        "-- a\n++ b\n@@ -1 +1 @@\n" + CODE + "--- a/x\n+++ b/x\n",
        "\\ No newline at end of file\n" + CODE.rstrip(),
    ],
)
@pytest.mark.parametrize("name", ["a.h", "a.cu"])
def test_text(tmp_path: Path, name: str, text: str | bytes) -> None:
    check(tmp_path, tree(tmp_path / "src", {name: text, "other.txt": "x"}))


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        " leading",
        "trailing ",
        "sub dir/deep er/x",
        "\u4e2d\u6587-gr\u00f6\u00dfe",
        'quo"te',
        '"quoted"',
        "apo'strophe",
        "back\\slash",
        "tab\there",
        "new\nline",
        "\x01control\x7f",
        "-o",
        "a b/a",
        "dev/null",
        os.fsdecode(b"\xe9\xff"),
    ],
)
@pytest.mark.parametrize("suffix", [".h", ".cu"])
@pytest.mark.parametrize("text", [CODE, NOTHING])
def test_name(tmp_path: Path, name: str, suffix: str, text: str) -> None:
    check(tmp_path, tree(tmp_path / "src", {name + suffix: text, "z.h": CODE}))


def test_tree(tmp_path: Path) -> None:
    src = tree(
        tmp_path / "src",
        {
            "a.cu": '#include "lib/b.cuh"\n' + CODE,
            "lib/b.cuh": CODE,
            "lib/c.h": NOTHING,
            "d.mu": "native",
            "e.cu": b"\0\1",
            "f.txt": CODE,
            "g.cu": CODE,
            "g.mu": "native",
            "thrust/h.cuh": CODE,
        },
    )
    (src / "a.cu").chmod(0o755)
    text = check(tmp_path, src)
    assert text.count(b"diff --git ") == 4
    assert text.count(b"rename to ") == 2


def test_keep_ext(tmp_path: Path) -> None:
    text = check(tmp_path, tree(tmp_path / "src", {"a.cu": CODE, "b.cu": NOTHING}), rename_ext=False)
    assert b"rename" not in text
    assert b"b.cu" not in text


def test_links(tmp_path: Path) -> None:
    """Links are renamed like files, so the patch renames them."""
    src = tree(tmp_path / "src", {"a.cu": CODE, "sub/b.cuh": CODE})
    (src / "link.cu").symlink_to("a.cu")
    (src / "folder").symlink_to("sub")
    check(tmp_path, src)


def test_patch_text() -> None:
    assert unified("a.cu", "a.mu", b"one\ntwo\nthree", b"one\n2\nthree") == (
        b"diff --git a/a.cu b/a.mu\n"
        b"rename from a.cu\n"
        b"rename to a.mu\n"
        b"--- a/a.cu\n"
        b"+++ b/a.mu\n"
        b"@@ -1,3 +1,3 @@\n"
        b" one\n"
        b"-two\n"
        b"+2\n"
        b" three\n"
        b"\\ No newline at end of file\n"
    )
    assert unified("a.h", "a.h", b"same", b"same") == b""


def test_back_and_forth(tmp_path: Path) -> None:
    """`git apply -R` undoes it."""
    src = tree(tmp_path / "src", {"a.cu": CODE + "int x;", "b.h": CODE.replace("\n", "\r\n")})
    text = patch(src)
    copy = tmp_path / "copy"
    shutil.copytree(src, copy)
    git(copy, "apply", "--whitespace=nowarn", "-", data=text)
    assert contents(copy) != contents(src)
    git(copy, "apply", "--whitespace=nowarn", "-R", "-", data=text)
    assert contents(copy) == contents(src)


@pytest.mark.parametrize("jobs", [1, 2])
def test_command(tmp_path: Path, jobs: int) -> None:
    """Stdout holds the patch and nothing else; nothing to say is no output."""
    src = tree(tmp_path / "src", {"b.cu": CODE, "a.h": b"// \xe9\r\ncudaFree(p);", "c.cu": NOTHING})
    command = [sys.executable, "-m", "musa_port", str(src), "--diff", "--jobs", str(jobs)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, patch(src), b"")
    assert done.stdout.index(b"a/a.h") < done.stdout.index(b"a/b.cu") < done.stdout.index(b"a/c.cu")


def test_command_without_changes(tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {"a.h": NOTHING})
    done = subprocess.run(
        [sys.executable, "-m", "musa_port", str(src), "--diff"], capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
