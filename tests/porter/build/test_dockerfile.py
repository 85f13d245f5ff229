"""Dockerfiles: images, variables, commands, and what is left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musa_port import Options, port_sources

if TYPE_CHECKING:
    from tests.porter.conftest import Check

PATH = "Dockerfile"


def case(before: str, after: str | None = None, *findings: str) -> Any:
    """One row; without `after`, nothing may change."""
    return pytest.param(before, after, findings, id=before.replace("\n", " ")[:60])


CASES = [
    case("FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n", None, "B50 error 1"),
    case("FROM --platform=linux/amd64 nvidia/cuda:${V}-base AS x\nFROM x\n", None, "B50 error 1"),
    case("FROM nvcr.io/nvidia/pytorch:24.05-py3\n", None, "B50 error 1"),
    case("FROM pytorch/pytorch:2.4.0-cuda12.1-cudnn9-devel\n", None, "B50 error 1"),
    case("FROM my.registry:5000/team/train:cuda12\n", None, "B50 warning 1"),
    case("FROM ubuntu:22.04 AS cuda\nFROM cuda\n"),
    case("ARG BASE=nvidia/cuda:12.4.1-base\nFROM ${BASE}\n", None, "B50 error 1"),
    case("ARG CUDA_VERSION=12.4\nRUN echo $CUDA_VERSION\n", None, "B41 info 1"),
    case("ARG CUDA_HOME\nENV X=$CUDA_HOME/lib64\n", "ARG MUSA_HOME\nENV X=$MUSA_HOME/lib\n"),
    case(
        "ENV CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH\n",
        "ENV MUSA_HOME=/usr/local/musa PATH=/usr/local/musa/bin:$PATH\n",
    ),
    case(
        "ENV CUDA_HOME /usr/local/cuda\nENV TORCH_CUDA_ARCH_LIST 8.0 9.0\n",
        "ENV MUSA_HOME /usr/local/musa\nENV TORCH_MUSA_ARCH_LIST 22;31\n",
        "B40 info 2",
        "B42 info 2",
    ),
    case(
        "env CUDA_HOME=\"/usr/local/cuda\" \\\n    # CUDA_HOME\n\n    NCCL_ROOT='a b'\n",
        "env MUSA_HOME=\"/usr/local/musa\" \\\n    # CUDA_HOME\n\n    MCCL_ROOT='a b'\n",
    ),
    case("ENV CUDA_HOME=/usr/local/cuda-12.4\n", "ENV MUSA_HOME=/usr/local/cuda-12.4\n", "B2 error 1"),
    case("ENV NVIDIA_VISIBLE_DEVICES=all\n", "ENV MTHREADS_VISIBLE_DEVICES=all\n", "B40 info 1"),
    case(
        "RUN export CUDA_HOME=1 && \\  \n  # nvcc\n  nvcc main.cpp \\\n\n  -lcudart\n",
        "RUN export MUSA_HOME=1 && \\  \n  # nvcc\n  mcc main.cpp \\\n\n  -lmusart\n",
        "B44 info 3",
    ),
    case(
        "RUN --mount=type=cache,target=/x --network=none CUDA_HOME=1 make\n",
        "RUN --mount=type=cache,target=/x --network=none MUSA_HOME=1 make\n",
    ),
    case(
        "RUN apt-get install -y cuda-toolkit-12-4 \\\n  # more\n  libcudnn9-dev-cuda-12 git\n",
        None,
        "B52 warning 1",
        "B52 warning 3",
    ),
    case(
        "RUN <<EOF\nexport CUDA_HOME=1\nEOF\nENV CUDA_HOME=2\n", "RUN <<EOF\nexport MUSA_HOME=1\nEOF\nENV MUSA_HOME=2\n"
    ),
    case(
        "RUN <<'EOF'\n#!/usr/bin/env ruby\nCUDA_HOME=1\nEOF\nENV CUDA_HOME=2\n",
        "RUN <<'EOF'\n#!/usr/bin/env ruby\nCUDA_HOME=1\nEOF\nENV MUSA_HOME=2\n",
        "B53 info 2",
    ),
    case("RUN python3 <<EOF\nCUDA_HOME\nEOF\n", None, "B49 warning 2"),
    case(
        'RUN ["nvcc", "main.cpp", "-lcudart"]\n',
        '["mcc", "main.cpp", "-lcudart"]\n'.join(["RUN ", ""]),
        "B1 warning 1",
        "B44 info 1",
    ),
    case(
        'CMD ["python", "t.py", "--device", "cuda:0", "--x=\\"cuda\\""]\n',
        'CMD ["python", "t.py", "--device", "musa:0", "--x=\\"cuda\\""]\n',
    ),
    case(
        'ENTRYPOINT ["bash", "-c", "CUDA_HOME=1 exec \\"$@\\" $CUDA_HOME"]\n',
        'ENTRYPOINT ["bash", "-c", "MUSA_HOME=1 exec \\"$@\\" $MUSA_HOME"]\n',
    ),
    case("ENTRYPOINT [ not json CUDA_HOME ]\n", None, "B49 info 1"),
    case("HEALTHCHECK --interval=5s CMD nvidia-smi || exit 1\n", None, "B46 warning 1"),
    case("ONBUILD ENV CUDA_HOME=1\n", "ONBUILD ENV MUSA_HOME=1\n"),
    case(
        "WORKDIR $CUDA_HOME/bin\nVOLUME /usr/local/cuda/bin\n", "WORKDIR $MUSA_HOME/bin\nVOLUME /usr/local/musa/bin\n"
    ),
    case("COPY --from=base /usr/local/cuda /usr/local/cuda\n", None, "B2 warning 1", "B2 warning 1"),
    case(
        "COPY <<EOF /etc/profile.d/x.sh\nexport CUDA_HOME=1\nEOF\n",
        "COPY <<EOF /etc/profile.d/x.sh\nexport MUSA_HOME=1\nEOF\n",
    ),
    case(
        "COPY <<EOF /x.txt\nexport CUDA_HOME=1\nEOF\nENV CUDA_HOME=1\n",
        "COPY <<EOF /x.txt\nexport CUDA_HOME=1\nEOF\nENV MUSA_HOME=1\n",
    ),
    case('LABEL com.nvidia.cuda="CUDA_HOME" x=$CUDA_HOME\n', 'LABEL com.nvidia.cuda="CUDA_HOME" x=$MUSA_HOME\n'),
    case("# CUDA_HOME=/usr/local/cuda\n# syntax=docker/dockerfile:1\nMAINTAINER CUDA_HOME\nEXPOSE 80\n"),
    case("cuda CUDA_HOME=1\nNOINSTRUCTION CUDA_HOME=1\n"),
    case("# escape=`\nFROM windows\nENV CUDA_HOME=1\n", None, "B53 info 1"),
    case('SHELL ["powershell"]\nRUN $CUDA_HOME = 1\n', None, "B53 info 1"),
    case(
        'SHELL ["/bin/bash", "-o", "pipefail", "-c"]\nRUN CUDA_HOME=1 x\n',
        'SHELL ["/bin/bash", "-o", "pipefail", "-c"]\nRUN MUSA_HOME=1 x\n',
    ),
    case("# musa-port: off\nENV CUDA_HOME=1\n# musa-port: on\n", None, "C60 info 1"),
    case("ENV CUDA_HOME=1 # musa-port: ignore\n", None, "C60 info 1"),
    case("# musa-port: off\nENV CUDA_HOME=1\n", None, "C60 info 1", "C61 warning 1"),
]


@pytest.mark.parametrize(("before", "after", "findings"), CASES)
def test_dockerfile(check: Check, before: str, after: str | None, findings: tuple[str, ...]) -> None:
    check({PATH: before}, None if after is None else {PATH: after}, findings)


@pytest.mark.parametrize(
    "name", ["Dockerfile", "Dockerfile.gpu", "gpu.Dockerfile", "gpu.dockerfile", "Containerfile", "docker/Dockerfile-x"]
)
def test_names(name: str) -> None:
    assert port_sources({name: b"ENV CUDA_HOME=1"})[name].data == b"ENV MUSA_HOME=1"


def test_copied_sources_follow() -> None:
    tree = {PATH: b"COPY csrc/*.cu csrc/a.cu lost.cu /src/\n", "csrc/a.cu": b""}
    assert port_sources(tree)[PATH].data == b"COPY csrc/*.mu csrc/a.mu lost.cu /src/\n"


@pytest.mark.parametrize(
    "data",
    [b"ENV CUDA_HOME=1 \\\r\n  X=\xe9\r\nRUN x\r\n", b"# \xff\nENV CUDA_HOME=1", b"\xef\xbb\xbf# x\nENV CUDA_HOME=1"],
)
def test_other_bytes_stay(data: bytes) -> None:
    assert port_sources({PATH: data})[PATH].data == data.replace(b"CUDA_HOME", b"MUSA_HOME")


LINES = st.sampled_from([row.values[0] for row in CASES]) | st.sampled_from(
    ["\\\n", "<<EOF\n", "EOF\n", '["', '"]\n', "RUN ", "ONBUILD ", "é\n"]
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(LINES, max_size=8).map("".join))
def test_any_mix_is_ported_once(text: str) -> None:
    once = port_sources({PATH: text.encode()}, Options())[PATH]
    assert not [finding for finding in once.findings if finding.rule == "F10"]
    assert port_sources({PATH: once.data})[PATH].data == once.data
