"""Ports of the corpus: each tree is downloaded once, and ported once for all checks."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import api
from .port import Port, run
from .trees import TREES, Tree

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


@pytest.fixture(scope="session")
def names() -> api.Api:
    return api.load()


@pytest.fixture(scope="module", params=TREES, ids=lambda tree: tree.name)
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    """The port of one tree. It is removed after its last check: the largest take a hundred megabytes."""
    from examples.demo import fetch

    tree: Tree = request.param
    output = tmp_path_factory.mktemp("corpus") / tree.name
    yield run(fetch(tree.package, tree.version) / tree.folder, output)
    shutil.rmtree(output.parent)


@pytest.fixture(scope="module")
def again(port: Port) -> Port:
    """The port of the port."""
    return run(port.output, port.output.with_name("again"))
