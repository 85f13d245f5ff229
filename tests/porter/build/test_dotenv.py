"""Files of environment variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musa_port import port_sources

if TYPE_CHECKING:
    from tests.porter.conftest import Check

PATH = ".env"
CASES: list[tuple[str, str | None, tuple[str, ...]]] = [
    ("CUDA_HOME=/usr/local/cuda\n", "MUSA_HOME=/usr/local/musa\n", ()),
    (
        "  export CUDA_HOME = '/usr/local/cuda'  # CUDA_HOME\n",
        "  export MUSA_HOME = '/usr/local/musa'  # CUDA_HOME\n",
        (),
    ),
    ('CUDA_HOME="/usr/local/cuda"', 'MUSA_HOME="/usr/local/musa"', ()),
    ("X=${CUDA_HOME}/lib64:$CUDA_HOME\n", "X=${MUSA_HOME}/lib:$MUSA_HOME\n", ()),
    ("X='$CUDA_HOME'\n# $CUDA_HOME\n", None, ()),
    ("TORCH_CUDA_ARCH_LIST=8.0;9.0\n", "TORCH_MUSA_ARCH_LIST=22;31\n", ("B40 info 1", "B42 info 1")),
    ('TEXT="a\nCUDA_HOME=1\n"\nCUDA_HOME=2\n', 'TEXT="a\nCUDA_HOME=1\n"\nMUSA_HOME=2\n', ()),
    ('TEXT="never closed\nCUDA_HOME=1\n', None, ()),
    ("CUDA_HOME\nCUDA_HOME is text\n", "MUSA_HOME\nCUDA_HOME is text\n", ()),
    ("CUDA_DEVICE_ORDER=PCI_BUS_ID\n", None, ("B41 warning 1",)),
    ("CUDA_HOME=a\nMUSA_HOME=b\n", None, ("B41 info 1",)),
    ("CUDA_HOME=\nNCCL_ROOT=#x\n", "MUSA_HOME=\nMCCL_ROOT=#x\n", ()),
    ("# musa-port: off\nCUDA_HOME=1\n", None, ("C60 info 1", "C61 warning 1")),
]


@pytest.mark.parametrize(("before", "after", "findings"), CASES)
def test_dotenv(check: Check, before: str, after: str | None, findings: tuple[str, ...]) -> None:
    check({PATH: before}, None if after is None else {PATH: after}, findings)


@pytest.mark.parametrize("name", [".env", ".env.local", "gpu.env"])
@pytest.mark.parametrize("data", [b"CUDA_HOME=1\r\nX=\xe9\r\n", b"\xef\xbb\xbfCUDA_HOME=1", b"CUDA_HOME=\xff\n\n"])
def test_names_and_other_bytes(name: str, data: bytes) -> None:
    assert port_sources({name: data})[name].data == data.replace(b"CUDA_HOME", b"MUSA_HOME")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from([case[0] for case in CASES]) | st.sampled_from(["'", '"', "\\", "=", "é"]), max_size=8
    ).map("".join)
)
def test_any_mix_is_ported_once(text: str) -> None:
    once = port_sources({PATH: text.encode()})[PATH]
    assert not [finding for finding in once.findings if finding.rule == "F10"]
    assert port_sources({PATH: once.data})[PATH].data == once.data
