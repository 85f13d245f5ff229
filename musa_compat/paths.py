"""Where the files that are not Python were installed.

In a wheel they lie beside this module. In an editable installation what CMake installed lies in site-packages and the
headers lie there and, up to date, in the source tree: `musa_compat.__path__` names both places.
"""

from __future__ import annotations

from pathlib import Path

import musa_compat

_HEADER = Path("include/musa_compat/cuda_runtime.h")
_CMAKE_CONFIG = Path("lib/cmake/musa_compat/musa_compat-config.cmake")


class MissingFilesError(RuntimeError):
    """Files that an installation has are not there."""


def include_dir() -> Path:
    """The directory to put on the include path, for `#include <musa_compat/cuda_runtime.h>`.

    Raises MissingFilesError.
    """
    return _find(_HEADER).parents[1]


def cmake_dir() -> Path:
    """The directory that holds the CMake package: the value for `musa_compat_DIR`.

    Raises MissingFilesError.
    """
    return _find(_CMAKE_CONFIG).parent


def _find(file: Path) -> Path:
    roots = list(dict.fromkeys([Path(__file__).parent, *map(Path, musa_compat.__path__)]))
    for root in roots:
        if (root / file).is_file():
            return root / file
    places = ", ".join(map(str, roots))
    raise MissingFilesError(
        f"{file} was expected under {places} and is not there; install musa-compat with `pip install .`"
    )
