"""Endings of sources in shell scripts: they follow the globs of the same script."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from musa_port import Options
from musa_port.api import port_tree

if TYPE_CHECKING:
    from tests.porter.conftest import Check

SOURCES = {"src/a.cu": "", "src/b.cu": "", "src/u.cuh": "", "src/c.cpp": ""}


def swap(text: str) -> str:
    return text.replace(".cu", ".mu")


@pytest.mark.parametrize(
    "line",
    [
        'o="${f%.cu}.o"',
        "o=${f%%.cu*}${g/.cu/.o}${h//.cu/.o}",
        'echo "building ${f%.cu}"',
        'b=$(basename "$f" .cu) c=`basename $f .cu`',
        "[[ $f == *.cu ]] && x",
        '[[ "${f: -3}" == ".cu" ]] && x',
        'case "$f" in\n  *.cu|*.cuh) x ;;\n  *.cpp) y ;;\nesac',
        "find . -name '*.cu' -o -iname \\*.cuh | xargs x",
        "find . -regex '.*\\.cu' | xargs x",
        "rsync --include='*.cu' a b",
        "ls | grep '\\.cu$' | sed 's/\\.cu$/.o/'",
        'x "src/${b}.cu" $b.cu $1.cuh',
        "ls | grep '\\.cuh?$'",
    ],
)
def test_endings_follow(check: Check, line: str) -> None:
    check({"run.sh": line + "\n", **SOURCES}, {"run.sh": swap(line) + "\n"})


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ("x src/*.{cu,cuh,cpp}", "x src/*.{mu,muh,cpp}", ()),
        ("find . -regex '.*\\.\\(cu\\|cuh\\|cpp\\)'", "find . -regex '.*\\.\\(mu\\|muh\\|cpp\\)'", ()),
        ("git ls-files | grep -E '\\.(cu|cuh)$'", "git ls-files | grep -E '\\.(mu|muh)$'", ()),
        ('[ "${f##*.}" = "cu" ] && x', '[ "${f##*.}" = "mu" ] && x', ()),
        ("case ${f##*.} in\n  cu|cuh) x;;\nesac", "case ${f##*.} in\n  mu|muh) x;;\nesac", ()),
        ("find . -name '*.cu' -exec nvcc -c {} \\;", "find . -name '*.mu' -exec mcc -c {} \\;", ("B44 info run.sh:1",)),
        # whether these are endings is not known
        ("for e in cu cpp; do x *.$e; done", "for e in cu cpp; do x *.$e; done", ("B45 warning run.sh:1",)),
        ('E="cu cpp"', 'E="cu cpp"', ("B45 warning run.sh:1",)),
        # text for people, names of what a build makes, other names
        ('echo "no *.cu here" "$f.cu"', 'echo "no *.cu here" "$f.cu"', ()),
        ("rm -f $f.cu.o *.cu.d # *.cu", "rm -f $f.cu.o *.cu.d # *.cu", ()),
        ("x other.cu *.cubin .cuda ${f%.cu_old}", "x other.cu *.cubin .cuda ${f%.cu_old}", ()),
        ("cat <<'E'\n*.cu\nE", "cat <<'E'\n*.cu\nE", ()),
    ],
)
def test_endings(check: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    check({"run.sh": before + "\n", **SOURCES}, {"run.sh": after + "\n"}, findings)


def test_endings_stay_where_no_source_is_renamed(check: Check) -> None:
    script = 'for f in *.cu; do x ${f%.cu} $(basename "$f" .cu); done\n'
    check({"run.sh": script, **SOURCES}, None, (), Options(rename_ext=False))
    check({"run.sh": script, "a.cpp": ""}, None)


SCRIPT = """#!/bin/bash
for f in src/*.cu; do
  b=$(basename "$f" .cu)
  case $f in *.cu) kind=device ;; *) kind=host ;; esac
  [[ $f == *.cu && ${f##*.} == cu ]] && kind+=+
  echo "${f%.cu}.o $b $kind"
done
find src -name '*.cu' | sed 's/\\.cu$/.o/' | sort
ls src/*.{cu,cuh} | wc -l
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_ported_script_prints_the_same(tmp_path: Path) -> None:
    for path, text in {"build.sh": SCRIPT, **SOURCES}.items():
        file = tmp_path / "in" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    port_tree(tmp_path / "in", tmp_path / "out")
    old, new = (
        subprocess.run(["bash", "build.sh"], cwd=tmp_path / folder, capture_output=True, text=True, check=True).stdout
        for folder in ("in", "out")
    )
    assert new == old
    assert "src/a.o a device+" in new
