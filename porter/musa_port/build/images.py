"""Container images with CUDA inside, and the ways to give a container GPUs of NVIDIA."""

from __future__ import annotations

import re

from musa_port.build.fragment import Fragment
from musa_port.model import Severity
from musa_port.rules import Rule, register

IMAGE = register(
    Rule(
        "B50",
        "cuda-image",
        Severity.ERROR,
        "Reports a container image that holds CUDA.",
        why="Names and tags of images with the MUSA SDK follow no rule that could be derived.",
        example=("FROM nvidia/cuda:12.4.1-devel-ubuntu22.04", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04"),
        advice="Name an image with the MUSA SDK, such as one of your vendor's registry.",
    )
)
GPU = register(
    Rule(
        "B51",
        "container-gpu",
        Severity.WARNING,
        "Reports how a container gets GPUs of NVIDIA: --gpus, the nvidia runtime, nvidia.com/gpu.",
        why="The container toolkit of Moore Threads has its own runtime and resource names.",
        example=("docker run --runtime=nvidia img", "docker run --runtime=nvidia img"),
        advice="Use the runtime and the resource name of the Moore Threads container toolkit.",
        file="run.sh",
    )
)

_NAME = r"[a-z0-9][a-z0-9._-]*(?::\d+)?/(?:[a-z0-9._-]+/)*"
_TAG = r"(?::[\w.${}-]+)?(?:@\S+)?"
#: Repositories whose every image holds CUDA, and names and tags that say so.
_IMAGE = re.compile(
    rf"(?:{_NAME})?(?:nvidia|nvcr\.io|rapidsai)/[\w./-]+{_TAG}"
    rf"|(?:docker\.io/)?(?:pytorch/pytorch|vllm/vllm-openai|lmsysorg/sglang){_TAG}"
    rf"|{_NAME}[\w.-]*cuda[\w.-]*{_TAG}"
    r"|[a-z0-9._/-]+(?::\d+/[a-z0-9._/-]+)?:[\w.-]*(?:cuda|cu1[0-9]{2})[\w.-]*"
    r"|cuda:\d+\.[\w.-]+"
)
#: Those of others, not of the project.
_KNOWN = re.compile(r"(?:[\w.:-]+/)*(?:nvidia|nvcr\.io|rapidsai|pytorch|vllm|lmsysorg)/|cuda:")


def is_cuda_image(text: str) -> bool:
    """Whether a name of an image says that CUDA is inside."""
    return "://" not in text and not text.startswith((".", "/")) and _IMAGE.fullmatch(text) is not None


def is_known(text: str) -> bool:
    """Whether the image is one of a well-known repository with CUDA."""
    return _KNOWN.match(text) is not None and is_cuda_image(text)


def image(name: Fragment) -> bool:
    """Report a text that names such an image; whether it does."""
    if not is_cuda_image(name.text):
        return False
    severity = Severity.ERROR if _KNOWN.match(name.text) else Severity.WARNING
    name.report(
        "cuda-image", 0, len(name.text), f"{name.text} is an image with CUDA", severity=severity, name=name.text
    )
    return True


def gpu(word: Fragment, message: str) -> None:
    """Report a word that asks for GPUs of NVIDIA."""
    word.report("container-gpu", 0, len(word.text), message, name=word.text)
