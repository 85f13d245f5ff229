"""Toolkits and compilers: where they are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path


def find_tools(variables: Mapping[str, str]) -> dict[str, str | None]:
    """Paths, or None for what is not there."""
    path = variables.get("PATH", os.defpath)
    return {
        "MUSA SDK": musa_home(variables),
        "mcc": shutil.which("mcc", path=path) or _inside(musa_home(variables), "bin/mcc"),
        "nvcc": shutil.which("nvcc", path=path),
        # What the simulated device is built with.
        "g++": shutil.which(variables.get("CXX") or "g++", path=path),
    }


def musa_home(variables: Mapping[str, str], default: str = "/usr/local/musa") -> str | None:
    """The MUSA toolkit, found as torch_musa finds it: by variable, by `mcc`, by its usual place."""
    for name in ("MUSA_HOME", "MUSA_PATH"):
        if variables.get(name):
            return variables[name]
    compiler = shutil.which("mcc", path=variables.get("PATH", os.defpath))
    if compiler:
        return str(Path(compiler).resolve().parent.parent)
    return default if Path(default).is_dir() else None


def _inside(folder: str | None, file: str) -> str | None:
    found = Path(folder, file) if folder else None
    return str(found) if found and found.is_file() else None
