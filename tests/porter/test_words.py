"""The test for words that decides which files are parsed: nothing of CUDA is missed, nothing else is looked at."""

from __future__ import annotations

import pytest

from musa_port import languages, mappings

languages.load_all()
PYTHON = languages.get("python")


@pytest.mark.parametrize(
    "text",
    [
        "import cupy",
        "x = 'k.cu'",
        "glob('*.cuh')",
        "open('a.cubin')",
        "torch.CUDA",
        "import apex",
        "run('nsys profile a')",
        "torch.get_autocast_gpu_dtype()",
    ],
)
def test_found(text: str) -> None:
    assert languages.is_candidate(text.encode(), PYTHON)


@pytest.mark.parametrize(
    "text",
    [
        "occupy = 1",
        "x.current",
        "x.cursor",
        "a.cut",
        "unsys = 1",
        "nsystem",
        "import appex",
        "install_requires=['numpy']",
    ],
)
def test_passed_over(text: str) -> None:
    assert not languages.is_candidate(text.encode(), PYTHON)


def test_every_name_of_the_python_table_is_found() -> None:
    """A row that the look for words misses would never be used. Builders of extensions need none for plain C++."""
    rows = [row for row in mappings.read_rows("torch_python") if row.kind in ("attribute", "import")]
    rows = [row for row in rows if "torch.utils.cpp_extension import" not in row.cuda and row.cuda != "import torch"]
    missed = [row.cuda for row in rows if not languages.is_candidate(row.cuda.encode(), PYTHON)]
    assert len(rows) > 100
    assert missed == []
