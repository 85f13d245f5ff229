"""Packages of the system that install CUDA: apt, yum, conda, environment modules, downloads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from musa_port.build.fragment import Fragment
from musa_port.model import Severity
from musa_port.rules import Rule, register

PACKAGE = register(
    Rule(
        "B52",
        "system-package",
        Severity.WARNING,
        "Reports packages and downloads that install CUDA, its libraries, or the driver of NVIDIA.",
        why="The MUSA SDK is no package of the distributions; its installer depends on your vendor's release.",
        example=("RUN apt-get install -y cuda-toolkit-12-4", "RUN apt-get install -y cuda-toolkit-12-4"),
        advice="Install the MUSA SDK instead, or start from an image that holds it.",
    )
)

_LIBRARIES = (
    "cublas|cudnn|cufft|cufile|curand|cusolver|cusparse|cutensor|nccl|npp|nvinfer|nvjitlink|nvjpeg|nvonnxparsers|nvrtc"
    "|nvshmem"
)
_PACKAGE = re.compile(
    rf"(?:cuda|nvidia|cudatoolkit|cudnn|nccl|pytorch-cuda|libnvidia|datacenter-gpu-manager|nsight|tensorrt)(?:[-=_.\d].*)?"
    rf"|lib(?:{_LIBRARIES})[\w.+-]*(?:=.*)?"
)
_DOWNLOAD = re.compile(r"https?://\S*(?:nvidia|cuda|nvcr\.io|whl/cu\d{2,3})\S*", re.I)
#: Programs that install.
INSTALLERS = frozenset("apt apt-get aptitude yum dnf microdnf tdnf zypper apk conda mamba micromamba".split())
MODULES = frozenset("module ml spack".split())
DOWNLOADERS = frozenset("wget curl aria2c".split())
_VERBS = frozenset("install add create".split())


def installed(words: Sequence[Fragment]) -> None:
    """The words of an installer's command line."""
    if not any(word.text in _VERBS for word in words):
        return
    for word in words:
        name = word.text.rpartition("::")[2]
        if not word.text.startswith("-") and _PACKAGE.fullmatch(name):
            package(word)
        download(word)


def modules(words: Sequence[Fragment]) -> None:
    """The words of `module load`."""
    for word in words:
        if re.fullmatch(r"(?:\w+/)*(?:cuda|nccl|cudnn|nvhpc|cudatoolkit|nvidia)(?:[/@+-].*)?", word.text, re.I):
            package(word)


def package(word: Fragment) -> None:
    """Report a package."""
    word.report("system-package", 0, len(word.text), f"{word.text} is a package for CUDA", name=word.text)


def is_cuda_package(name: str) -> bool:
    """Whether a package of the system, or of conda, is for CUDA."""
    return _PACKAGE.fullmatch(name) is not None


def downloaded(words: Sequence[Fragment]) -> None:
    """The words of wget and curl."""
    for word in words:
        download(word)


def download(word: Fragment) -> None:
    """Report an address from which CUDA comes; addresses are never changed."""
    if match := _DOWNLOAD.search(word.text):
        word.report("system-package", *match.span(), f"{match.group()} is an address for CUDA", name=match.group())
