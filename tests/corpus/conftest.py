"""Ports of the corpus: each tree is downloaded once, and ported once for all checks."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import api
from .port import Port, run
from .trees import PYTHON_TREES, TREES, Tree

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
#: Some of these trees have many megabytes of generated Python beside the sources that they are here for.
C_FAMILY = ("--only", "cpp")


@pytest.fixture(scope="session")
def names() -> api.Api:
    return api.load()


@pytest.fixture(scope="module", params=TREES, ids=lambda tree: tree.name)
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    """The port of the C-family sources of one tree."""
    yield from _port(request.param, tmp_path_factory, *C_FAMILY)


@pytest.fixture(scope="module")
def again(port: Port) -> Port:
    """The port of the port."""
    return run(port.output, port.output.with_name("again"), *C_FAMILY)


@pytest.fixture(scope="module", params=PYTHON_TREES, ids=lambda tree: tree.name)
def python_port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    """The port of one tree with its Python."""
    yield from _port(request.param, tmp_path_factory)


@pytest.fixture(scope="module")
def python_again(python_port: Port) -> Port:
    return run(python_port.output, python_port.output.with_name("again"))


def _port(tree: Tree, tmp_path_factory: pytest.TempPathFactory, *options: str) -> Iterator[Port]:
    """Port a tree; remove the port after its last check: the largest take a hundred megabytes."""
    from examples.demo import fetch

    output = tmp_path_factory.mktemp("corpus") / tree.name
    yield run(fetch(tree.package, tree.version) / tree.folder, output, *options)
    shutil.rmtree(output.parent)
