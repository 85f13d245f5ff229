"""What an activation can choose, and the environment variables of the same choices."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: Group -> what it covers.
GROUPS = {
    "device": "device arguments of tensors, modules, generators, streams and scripts",
    "cuda": "the module torch.cuda and what belongs to it",
    "autocast": "mixed precision",
    "serialization": "torch.load and storages",
    "distributed": "process groups, device meshes, DDP",
    "profiler": "the profiler's activities",
    "library": "dispatch keys of operators",
    "extensions": "torch.utils.cpp_extension",
}

REDIRECT_GROUPS = "MUSA_COMPAT_REDIRECT_GROUPS"
CUDA_IS_AVAILABLE = "MUSA_COMPAT_CUDA_IS_AVAILABLE"
CUDA_VERSION = "MUSA_COMPAT_CUDA_VERSION"

_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class Options:
    """What `torch.cuda.is_available()` says (if there is a device), and what `torch.version.cuda` is."""

    cuda_is_available: bool = True
    cuda_version: str | None = None


def options(
    cuda_is_available: bool | None, cuda_version: str | None, environment: Mapping[str, str] = os.environ
) -> Options:
    """The options from arguments and, where those are None, from the environment. Raises ValueError."""
    if cuda_is_available is None:
        cuda_is_available = flag(CUDA_IS_AVAILABLE, Options.cuda_is_available, environment)
    cuda_version = cuda_version or environment.get(CUDA_VERSION) or None
    if cuda_version is not None and not re.fullmatch(r"\d+(\.\d+)+", cuda_version):
        raise ValueError(f"cuda_version: expected None or a version such as '12.4'; got {cuda_version!r}")
    return Options(bool(cuda_is_available), cuda_version)


def groups(chosen: Iterable[str] | str | None, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Names of groups, in their order. None: `MUSA_COMPAT_REDIRECT_GROUPS`, else all. Raises ValueError."""
    text = environment.get(REDIRECT_GROUPS) if chosen is None else chosen
    if text is None:
        return tuple(GROUPS)
    names = [name.strip() for name in text.split(",") if name.strip()] if isinstance(text, str) else list(text)
    unknown = [name for name in names if name not in GROUPS]
    if unknown or not names:
        raise ValueError(f"groups: expected some of {', '.join(GROUPS)}; got {', '.join(map(repr, unknown)) or 'none'}")
    return tuple(name for name in GROUPS if name in names)


def flag(name: str, default: bool, environment: Mapping[str, str] = os.environ) -> bool:
    """A yes or no from the environment. Raises ValueError."""
    text = environment.get(name, "").strip().lower()
    if text and text not in _WORDS:
        raise ValueError(f"{name}: expected 0 or 1; got {text!r}")
    return _WORDS.get(text, default)
