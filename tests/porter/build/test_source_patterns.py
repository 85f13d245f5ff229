"""Patterns of paths in MANIFEST.in, package data and the like: a distribution must hold the sources that were renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musa_port import Options

if TYPE_CHECKING:
    from tests.porter.conftest import Check

SOURCES = {"src/a.cu": "", "src/deep/b.cu": "", "src/u.cuh": "", "lib/thrust/c.cu": "", "src/h.h": ""}


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ("include README.md src/a.cu src/*.cuh\n", "include README.md src/a.mu src/*.muh\n", ()),
        ("recursive-include src *.cu *.cuh *.h\n", "recursive-include src *.mu *.muh *.h\n", ()),
        ("recursive-exclude src *.cu\nprune lib\n", "recursive-exclude src *.mu\nprune lib\n", ()),
        ("recursive-include src *.cu*\n", "recursive-include src *.mu*\n", ()),
        ("recursive-include src *.cu[h]\n", "recursive-include src *.mu[h]\n", ()),
        ("global-include *.cuh\r\n", "global-include *.muh\r\n", ()),
        # some files keep their name: both are needed
        ("global-include *.cu\n", "global-include *.cu *.mu\n", ()),
        ("recursive-include lib *.cu\n", "recursive-include lib *.cu\n", ()),
        ("include other.cu\n", "include other.cu\n", ("B45 warning MANIFEST.in:1",)),
        ("# include src/a.cu\ngraft src\ninclude x.cubin a.cu.txt\n", None, ()),
        ("recursive-include tests *.cu\n", None, ()),
    ],
)
def test_manifest(check: Check, before: str, after: str | None, findings: tuple[str, ...]) -> None:
    check({"MANIFEST.in": before, **SOURCES}, {"MANIFEST.in": after or before}, findings)


def test_manifest_stays_where_sources_keep_their_names(check: Check) -> None:
    check({"MANIFEST.in": "recursive-include src *.cu\n", **SOURCES}, None, (), Options(rename_ext=False))


def test_manifest_below_the_root(check: Check) -> None:
    before = {"py/MANIFEST.in": "recursive-include src *.cu\n", "py/src/a.cu": "", "src/thrust/b.cu": ""}
    check(before, {"py/MANIFEST.in": "recursive-include src *.mu\n"})


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ('[tool.setuptools.package-data]\n"*" = ["*.cuh"]\nsrc = ["a.cu", "**/b.cu"]\n', None, ()),
        ('[tool.setuptools]\npackage-data = { src = ["*.cuh"] }\n', None, ()),
        ('[tool.poetry]\ninclude = ["src/*.cu"]\n', None, ()),
        ('[tool.poetry]\ninclude = [{ path = "src/*.cu", format = "sdist" }]\n', None, ()),
        ('[tool.hatch.build.targets.sdist]\ninclude = ["/src/*.cu"]\n', None, ()),
        ('[tool.scikit-build]\nsdist.include = ["src/*.cu"]\n', None, ()),
        (
            '[tool.setuptools.package-data]\n"*" = ["*.cu"]\n',
            '[tool.setuptools.package-data]\n"*" = ["*.cu"]\n',
            ("B45 warning pyproject.toml:2",),
        ),
        ('[tool.other]\nx = ["src/a.cu"]\n', '[tool.other]\nx = ["src/a.cu"]\n', ()),
    ],
)
def test_pyproject(check: Check, before: str, after: str | None, findings: tuple[str, ...]) -> None:
    check({"pyproject.toml": before, **SOURCES}, {"pyproject.toml": after or before.replace(".cu", ".mu")}, findings)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[options.package_data]\n* = *.h, *.cuh\nsrc =\n    a.cu\n    *.h\n", None),
        ("[options.data_files]\nshare = src/a.cu\n", None),
        ("[options]\ninclude = src/a.cu\n", "[options]\ninclude = src/a.cu\n"),
    ],
)
def test_setup_cfg(check: Check, before: str, after: str | None) -> None:
    check({"setup.cfg": before, **SOURCES}, {"setup.cfg": after or before.replace(".cu", ".mu")})


@pytest.mark.parametrize("name", [".gitattributes", "CODEOWNERS", ".clang-format-ignore"])
def test_attributes_of_files(check: Check, name: str) -> None:
    before = "# *.cuh\n*.cuh x=*.cuh\n/src/a.cu @cuda\n"
    check({name: before, **SOURCES}, {name: "# *.cuh\n*.muh x=*.cuh\n/src/a.mu @cuda\n"})
