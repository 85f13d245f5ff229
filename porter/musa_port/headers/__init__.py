"""The compatibility headers, made from the mapping tables.

`musa_compat/X`               the CUDA header X on MUSA: the SDK's header, and CUDA's names for what it declares
`musa_compat/cuda_on_musa/X`  the same, for a directory on the include path: `#include <X>` finds it
`musa_compat/musa_on_cuda/X`  the MUSA header X on the CUDA toolkit, for a directory on the include path
`musa_compat/names/`          the names, one file per area and direction, which the headers share

`docs/headers.md` explains what is in them and what is not.
"""

from __future__ import annotations

from collections.abc import Iterator

from musa_port.headers import render, torch
from musa_port.headers.aliases import Alias, cuda_to_musa, musa_to_cuda, switches
from musa_port.headers.areas import (
    AREAS,
    CANONICAL_HEADERS,
    Area,
    architectures,
    headers,
    namespace_headers,
    with_needs,
)
from musa_port.names import invert

ROOT = "musa_compat"
#: Headers in the tree that no table gives: NVTX has no counterpart, its calls do nothing.
HAND_WRITTEN = (
    "nvToolsExt.h",
    "nvToolsExtCuda.h",
    "nvToolsExtCudaRt.h",
    "nvtx3/nvToolsExt.h",
    "nvtx3/nvToolsExtCuda.h",
    "nvtx3/nvToolsExtCudaRt.h",
    "nvtx3/nvtx3.hpp",
)
_FORWARD = "names/cuda_to_musa"
_REVERSE = "names/musa_to_cuda"
_CUDA_ON_MUSA = "cuda_on_musa"
_MUSA_ON_CUDA = "musa_on_cuda"


def generate() -> dict[str, str]:
    """Path below the include directory -> text, for every generated header."""
    files: dict[str, str] = {}
    for part in (_names(), _forward(), _forward_namespaces(), _reverse(), _reverse_namespaces(), _reverse_torch()):
        files.update(part)
    files.update(map(_forwarder, HAND_WRITTEN))
    return {f"{ROOT}/{path}": text for path, text in sorted(files.items())}


def _names() -> Iterator[tuple[str, str]]:
    for area in AREAS:
        yield _area_file(_FORWARD, area, cuda_to_musa(area))
        yield _area_file(_REVERSE, area, musa_to_cuda(area))
    yield _compiler(_FORWARD, _forward_compiler())
    yield _compiler(_REVERSE, _reverse_compiler())
    yield _switches(_FORWARD, switches())
    yield _switches(_REVERSE, [(musa, cuda) for cuda, musa in switches()])
    yield f"{_REVERSE}/torch.h", torch.names(f"{_REVERSE}/torch.h")


def _area_file(directory: str, area: Area, names: list[Alias]) -> tuple[str, str]:
    path = f"{directory}/{area.name}.h"
    return path, render.aliases(path, names)


def _compiler(directory: str, lines: list[str]) -> tuple[str, str]:
    return f"{directory}/compiler.h", "\n".join([render.MARK, *lines]) + "\n"


def _switches(directory: str, pairs: list[tuple[str, str]]) -> tuple[str, str]:
    """What the user defined for the other SDK's header is passed on, on each inclusion."""
    lines = [line for user, sdk in pairs for line in render.define_where(sdk, "", user)]
    return f"{directory}/switches.h", "\n".join([render.MARK, *(line.rstrip() for line in lines)]) + "\n"


# ---- what the compiler says about itself ------------------------------------------------------------------------


def _forward_compiler() -> list[str]:
    """`__CUDACC__`, `__CUDA_ARCH__` on CUDA's scale, and CUDA's version where the user names one."""
    greatest: dict[int, int] = {}
    for cuda, musa, note in architectures():
        if not note:  # a note is a reservation, such as "fp8 exists only from 310"
            greatest[musa] = cuda
    thresholds = sorted(greatest.items(), reverse=True)
    lines = render.define_where("__CUDACC__", "__MUSACC__", "__MUSACC__")
    lines += render.define_where("__CUDACC_RDC__", "__MUSACC_RDC__", "__MUSACC_RDC__")
    lines += render.define_where("__CUDACC_RTC__", "__MUSACC_RTC__", "__MUSACC_RTC__")
    lines += render.steps("__CUDA_ARCH__", "__MUSA_ARCH__", thresholds)
    version = "MUSA_COMPAT_CUDA_VERSION"
    for name in ("CUDA_VERSION", "CUDART_VERSION"):
        lines += render.define_where(name, version, version)
    lines += render.define_where("__CUDACC_VER_MAJOR__", f"({version} / 1000)", version)
    lines += render.define_where("__CUDACC_VER_MINOR__", f"({version} % 1000 / 10)", version)
    return lines


def _reverse_compiler() -> list[str]:
    """The same for MUSA: `__MUSA_ARCH__` on MUSA's scale, and MUSA's version where the user names one."""
    least: dict[int, int] = {}
    for cuda, musa, _ in architectures():
        least.setdefault(musa, cuda)
    thresholds = sorted(((cuda, musa) for musa, cuda in least.items()), reverse=True)
    lines = render.define_where("__MUSACC__", "__CUDACC__", "__CUDACC__")
    lines += render.define_where("__MUSACC_RDC__", "__CUDACC_RDC__", "__CUDACC_RDC__")
    lines += render.define_where("__MUSACC_RTC__", "__CUDACC_RTC__", "__CUDACC_RTC__")
    lines += render.steps("__MUSA_ARCH__", "__CUDA_ARCH__", thresholds)
    version = "MUSA_COMPAT_MUSA_VERSION"
    for name in ("MUSA_VERSION", "MUSART_VERSION"):
        lines += render.define_where(name, version, version)
    lines += render.define_where("__MUSACC_VER_MAJOR__", f"({version} / 10000)", version)
    lines += render.define_where("__MUSACC_VER_MINOR__", f"({version} / 100 % 100)", version)
    return lines


# ---- CUDA headers on MUSA ---------------------------------------------------------------------------------------


def _forward() -> Iterator[tuple[str, str]]:
    for row, area in headers():
        yield row.cuda, _sdk_header(row.cuda, row.musa, _FORWARD, area)
        if row.cuda != row.musa:
            yield _forwarder(row.cuda)


def _forward_namespaces() -> Iterator[tuple[str, str]]:
    for library, rows in namespace_headers().items():
        for row in rows:
            lines = [f"#include <{row.musa}>", *render.use_namespace(library, alias="cuda", target="musa")]
            yield row.cuda, render.guarded(row.cuda, lines)
            yield _forwarder(row.cuda)


def _forwarder(path: str) -> tuple[str, str]:
    return f"{_CUDA_ON_MUSA}/{path}", f'{render.MARK}\n#include "{"../" * (path.count("/") + 1)}{path}"\n'


# ---- MUSA headers on the CUDA toolkit ---------------------------------------------------------------------------


def _reverse() -> Iterator[tuple[str, str]]:
    areas = {row.cuda: area for row, area in headers()}
    for row in invert(row for row, _ in headers()):
        cuda = CANONICAL_HEADERS.get(row.cuda, row.musa)
        path = f"{_MUSA_ON_CUDA}/{row.cuda}"
        yield path, _sdk_header(path, cuda, _REVERSE, areas[cuda])


def _reverse_namespaces() -> Iterator[tuple[str, str]]:
    for library, rows in namespace_headers().items():
        for row in rows:
            path = f"{_MUSA_ON_CUDA}/{row.musa}"
            lines = [f"#include <{row.cuda}>", *render.use_namespace(library, alias="musa", target="cuda")]
            yield path, render.guarded(path, lines)


def _reverse_torch() -> Iterator[tuple[str, str]]:
    for musa, cuda in torch.headers().items():
        path = f"{_MUSA_ON_CUDA}/{musa}"
        yield path, _sdk_header(path, cuda, _REVERSE, torch.area(cuda), "torch")


# ---- both -------------------------------------------------------------------------------------------------------


def _sdk_header(path: str, sdk: str, directory: str, area: Area, *more: str) -> str:
    """Our header at `path`: the header `sdk` of the installed toolkit between our switches and our names."""
    up = "../" * path.count("/")
    names = ["compiler", *(needed.name for needed in with_needs(area)), *more]
    own = [f"{up}{directory}/{name}.h" for name in names]
    return render.guarded(path, render.includes([f"{up}{directory}/switches.h"], sdk, own))
