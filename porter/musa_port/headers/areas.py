"""What the compatibility headers consist of: areas of names, and the SDK headers that bring each area."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from musa_port.mappings import Row, read_rows, read_table

#: Parameter blocks of the profiler's callbacks, declared beside each API function.
_PARAMETERS = r"\w+_v\d+_params(_st)?"
#: Declarations that the toolkit makes for itself.
_INTERNAL = r"__cuda\w+"
_FUNCTION_POINTERS = r"PFN_\w+"


@dataclass(frozen=True, slots=True)
class Area:
    """A set of names that come into a source together.

    tables   mapping table -> pattern of the CUDA names to take from it
    headers  pattern of the CUDA headers that declare these names
    needs    areas that those headers include themselves
    """

    name: str
    headers: str
    tables: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    def owns(self, header: str) -> bool:
        """Whether the CUDA header of this path brings this area."""
        return re.fullmatch(self.headers, header) is not None

    def rows(self) -> Iterator[Row]:
        """The rows of this area, in the order of the tables."""
        for table, pattern in self.tables.items():
            yield from (row for row in read_rows(table) if re.fullmatch(pattern, row.cuda))


_EVERYTHING = r"\w+"
_RUNTIME_HEADERS = (
    r"cuda_(runtime|runtime_api|device_runtime_api|occupancy|profiler_api|surface_types|texture_types|stdint)\.h"
    r"|cuda_(awbarrier|pipeline)(_primitives)?\.h|cuda_(gl|egl|vdpau)_interop\.h|cudart_platform\.h|cudalibxt\.h"
    r"|(channel_descriptor|driver_types|library_types|math_constants|math_functions|mma|vector_\w+|device_\w+)\.h"
    r"|cooperative_groups(/\w+)?\.h|sm_\d\d_\w+\.h"
)
_MATHS = ("runtime", "complex")
_FLOATS = ("fp16", "bf16")

#: Each area after those that it needs.
AREAS = (
    Area(
        "runtime",
        _RUNTIME_HEADERS,
        {
            "runtime": rf"(?!{_PARAMETERS}$|{_INTERNAL}$)\w+",
            "macros": r"CUDART(API|_CB)|__CUDA_(ALIGN|DEPRECATED|RUNTIME_H|RUNTIME_API_H|PROFILER_API_H)(__)?",
        },
    ),
    Area(
        "driver",
        r"cuda\.h|cudaProfiler\.h|cuda(EGL|GL|VDPAU)\.h",
        {"driver": rf"(?!{_PARAMETERS}$|{_FUNCTION_POINTERS}$)\w+", "macros": r"CUDAAPI|CUDA_CB"},
    ),
    Area("typedefs", r"cuda\w*Typedefs\.h", {"driver": _FUNCTION_POINTERS, "runtime": _FUNCTION_POINTERS}, ("driver",)),
    Area("complex", r"cuComplex\.h", {"complex": _EVERYTHING}),
    Area("fp16", r"cuda_fp16\.h", {"types": r"(__)?nv_half\w*", "macros": r"__CUDA_FP16_(TYPES_EXIST|H)__"}),
    Area(
        "bf16", r"cuda_bf16\.h", {"types": r"(__)?nv_bfloat\w*", "macros": r"__CUDA_BF16_(TYPES_EXIST|H)__"}, ("fp16",)
    ),
    Area(
        "fp8",
        r"cuda_fp8\.h",
        {"types": r"__nv_(fp8|cvt_|saturation)\w+|__NV_(E4M3|E5M2|NOSAT|SATFINITE)"},
        _FLOATS,
    ),
    Area("cublas", r"cublas(_v2|_api|Lt|Xt)?\.h|nvblas\.h", {"cublas": _EVERYTHING}, (*_MATHS, *_FLOATS)),
    Area(
        "curand", r"curand(?!_(discrete2|globals|normal_static|precalc))\w*\.h", {"curand": _EVERYTHING}, ("runtime",)
    ),
    Area("cufft", r"cufft(Xt|w)?\.h", {"cufft": _EVERYTHING}, _MATHS),
    Area("cusparse", r"cusparse(_v2)?\.h", {"cusparse": _EVERYTHING}, _MATHS),
    Area("cusolver", r"cusolver\w*\.h", {"cusolver": _EVERYTHING}, ("cublas", "cusparse")),
    Area("nccl", r"nccl\.h", {"nccl": _EVERYTHING}, ("runtime", *_FLOATS)),
    Area("nvrtc", r"nvrtc\.h", {"nvrtc": _EVERYTHING}),
    Area("nvjpeg", r"nvjpeg\.h", {"nvjpeg": _EVERYTHING}, ("runtime",)),
    Area(
        "cupti",
        r"cupti(?!_\w+_cbid)\w*\.h",
        {"cupti": _EVERYTHING, "runtime": _PARAMETERS, "driver": _PARAMETERS},
        ("runtime", "driver"),
    ),
)
_BY_NAME = {area.name: area for area in AREAS}

#: Where several CUDA headers became one MUSA header: the one that a port means.
CANONICAL_HEADERS = {"mublas.h": "cublas_v2.h", "musolver.h": "cusolverDn.h", "musparse.h": "cusparse.h"}


def area_by_name(name: str) -> Area:
    """The area called `name`. Raises KeyError."""
    return _BY_NAME[name]


def with_needs(area: Area) -> list[Area]:
    """The area after everything that it needs, each once."""
    found: dict[str, Area] = {}
    for name in area.needs:
        found.update((needed.name, needed) for needed in with_needs(area_by_name(name)))
    return [*found.values(), area]


def headers() -> list[tuple[Row, Area]]:
    """The SDK headers that have a MUSA counterpart and an area, by CUDA path."""
    rows = sorted(row for row in read_rows("headers") if row.kind == "header" and row.supported)
    return [(row, area) for row in rows for area in AREAS if area.owns(row.cuda)]


def namespace_headers() -> dict[str, list[Row]]:
    """Headers whose names differ only in a namespace, by the library that declares it: libcudacxx and Thrust."""
    library = [row for row in read_rows("headers") if row.kind == "header" and row.cuda.startswith("cuda/")]
    thrust = [row for row in read_rows("thrust_cub") if row.kind == "header"]
    return {"libcudacxx": _usable(library), "thrust": _usable(thrust)}


def _usable(rows: list[Row]) -> list[Row]:
    return sorted((row for row in rows if row.supported), key=lambda row: row.cuda)


def architectures() -> list[tuple[int, int, str]]:
    """(CUDA, MUSA, note) for the values of `__CUDA_ARCH__` that have a counterpart, ascending."""
    pairs = []
    for cells in read_table("arch"):
        cuda = re.fullmatch(r"__CUDA_ARCH__ (\d+)", cells["cuda_name"])
        musa = re.fullmatch(r"__MUSA_ARCH__ (\d+)", cells["musa_name"])
        if cuda and musa:
            pairs.append((int(cuda[1]), int(musa[1]), cells["note"]))
    return sorted(pairs)
