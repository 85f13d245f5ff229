"""PyTorch's C++ names: torch_musa spellings on a PyTorch that was built with CUDA."""

from __future__ import annotations

import re

from musa_port.headers import render
from musa_port.headers.aliases import Alias
from musa_port.headers.areas import Area, area_by_name
from musa_port.mappings import Row, read_rows
from musa_port.names import invert, rename_inner_words

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_KINDS = frozenset({"class", "function", "macro", "method", "namespace", "symbol"})
#: `getCurrentCUDAStream`, `PhiloxCudaState`, `aoti_torch_get_current_cuda_stream`: a word of the name changes.
_WORD = (("CUDA", "MUSA"), ("Cuda", "Musa"), ("cuda", "musa"))
_BUILD_FLAGS = frozenset({"USE_CUDA", "WITH_CUDA"})
_NAMESPACES = ("at", "c10", "torch")

#: Device types and dispatch keys. PyTorch's own headers spell both sides, so that these are macros only for code that
#: asks for them, and only after the headers that use the names.
_DEVICE = """\
#ifdef MUSA_COMPAT_PRIVATEUSE1_IS_CUDA
#include <ATen/ATen.h>
#include <torch/library.h>
#define PrivateUse1 CUDA
#define AutogradPrivateUse1 AutogradCUDA
#define kPrivateUse1 kCUDA
#define kMUSA kCUDA
#define is_privateuseone is_cuda
#endif""".splitlines()


def headers() -> dict[str, str]:
    """MUSA path -> CUDA path of the headers of PyTorch: the torch_musa path and the short one."""
    rows = [row for row in read_rows("c10_aten") if row.kind == "header" and row.supported and "musa" in row.musa]
    found = {row.cuda: row.musa for row in invert(rows)}
    for row in rows:
        found.setdefault(_short_path(row.cuda), row.cuda)
    return {musa: cuda for musa, cuda in sorted(found.items()) if musa != cuda and not cuda.startswith("THC/")}


def area(cuda: str) -> Area:
    """The area of SDK names that one of PyTorch's headers brings."""
    names = {"c10": "runtime", "ATen": "cusolver", "torch": "nccl"}
    return area_by_name(names[cuda.split("/")[0]])


def names(path: str) -> str:
    """The header that gives the names their CUDA meaning."""
    namespaces = ["#ifdef __cplusplus"]
    for outer in _NAMESPACES:
        musa = f"namespace musa {{ using namespace ::{outer}::cuda; }}"
        namespaces += [f"namespace {outer} {{ namespace cuda {{}} {musa} }}"]
    namespaces += ["#endif"]
    defines = [f"#define {alias.old} {alias.new}" for alias in _aliases()]
    return render.guarded(path, [*namespaces, *defines, *_DEVICE])


def _aliases() -> list[Alias]:
    candidates = [_last_component(row) for row in read_rows("c10_aten") if row.kind in _KINDS and row.supported]
    rows = [row for row in candidates if _renames_word(row) and row.cuda not in _BUILD_FLAGS]
    return sorted((Alias(row.cuda, row.musa) for row in invert(rows)), key=lambda alias: alias.old)


def _last_component(row: Row) -> Row:
    return row._replace(cuda=row.cuda.split("::")[-1], musa=row.musa.split("::")[-1])


def _renames_word(row: Row) -> bool:
    if row.cuda in ("cuda", "musa") or not (_IDENTIFIER.fullmatch(row.cuda) and _IDENTIFIER.fullmatch(row.musa)):
        return False
    return any(row.cuda.replace(cuda, musa) == row.musa != row.cuda for cuda, musa in _WORD)


def _short_path(cuda: str) -> str:
    """`ATen/cuda/CUDAEvent.h` to `ATen/musa/MUSAEvent.h`."""
    return re.sub(r"\.cuh$", ".muh", rename_inner_words(cuda).replace("cuda", "musa"))
