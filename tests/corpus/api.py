"""The CUDA names that a port must not leave without a word, straight from the data files."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

MAPPINGS = Path(__file__).resolve().parents[2] / "porter" / "musa_port" / "mappings"

#: Tables of names that C-family sources use. The others are about build files, Python, hardware, PTX and paths.
TABLES = (
    "c10_aten complex cublas cudnn cufft cupti curand cusolver cusparse cutlass driver intrinsics macros nccl npp "
    "nvjpeg nvml nvrtc nvshmem nvtx runtime thrust_cub types"
).split()
#: Rows for the command line of a build, which are no names in sources.
_OTHER_KINDS = frozenset({"cmake", "python", "package", "target", "link-flag"})
_WORD = re.compile(r"[A-Za-z_]\w*")
_PATH = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+|[A-Za-z_]\w*::")


@dataclass(frozen=True)
class Api:
    """words      identifiers
    paths      qualified names, namespaces among them
    headers    include paths
    libraries  identifiers of libraries that a tree may hold itself: name -> library
    """

    words: frozenset[str]
    paths: frozenset[str]
    headers: frozenset[str]
    libraries: dict[str, str]


def rows(table: str) -> list[dict[str, str]]:
    with (MAPPINGS / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def column(table: str, name: str) -> list[str]:
    return [row[name] for row in rows(table)]


def load() -> Api:
    """Names whose MUSA spelling differs, and names that have none."""
    different = [
        row
        for table in TABLES
        for row in rows(table)
        if row["musa_name"] not in (row["cuda_name"], "same") and row["kind"] not in _OTHER_KINDS
    ]
    names = [row["cuda_name"] for row in different if not row["kind"].startswith("header")]
    headers = [row for row in [*rows("headers"), *different] if row["kind"] == "header" and "*" not in row["cuda_name"]]
    return Api(
        words=frozenset(name for name in names if _WORD.fullmatch(name)) - families(),
        paths=frozenset(name.removesuffix("::") for name in names if _PATH.fullmatch(name)),
        headers=frozenset(row["cuda_name"] for row in headers if row["musa_name"] != row["cuda_name"]),
        libraries={name: "cute" if "cute" in name.lower() else "cutlass" for name in column("cutlass", "cuda_name")},
    )


def families() -> frozenset[str]:
    """The bare words of libraries (`CUBLAS`, `nccl`): as identifiers they are no API, see docs/mappings.md."""
    prefixes = {row["cuda_prefix"].strip("_") for row in rows("families")}
    return frozenset(word for prefix in prefixes for word in (prefix, prefix.upper(), prefix.lower()))
