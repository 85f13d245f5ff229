"""Names as the rewriters look them up: built once from the mapping tables, the user's map files and the options."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from musa_port.errors import UsageError
from musa_port.mappings import CONFIDENCE, Row, all_rows, read_rows, read_table

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_PATH = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")
_METHOD = re.compile(r"(?:\w+::)?(\w+)\(\)")
#: Names of toolkits and libraries are no API names: as identifiers they are somebody's namespace or variable.
_FAMILY_WORDS = frozenset(
    "cuda cu cublas cublasLt cudnn cufft curand cusolver cusparse cupti nccl nvrtc nvjpeg nvml npp nvtx nvshmem "
    "cutlass cute CUDA CU CUBLAS CUDNN CUFFT CURAND CUSOLVER CUSPARSE CUPTI NCCL NVRTC NVJPEG NVML NPP NVTX NVSHMEM "
    "CUTLASS CUTE Cutlass".split()
)
#: Macros that a project's own build defines; they move only with the build files.
BUILD_FLAGS = frozenset({"USE_CUDA", "WITH_CUDA"})
#: Kinds of rows that are about build files and Python, not about C-family sources.
_NOT_SOURCE = frozenset("cmake cmake-target cmake-genex python python-package package target link-flag".split())
#: Inner words of names that a family rule changes.
_INNER = (("Cuda", "Musa"), ("CUDA", "MUSA"), ("NVLINK", "MTLINK"), ("NvSci", "MtSci"))
_SUSPECT = re.compile(r"cuda|CUDA|Cuda|cublas|CUBLAS|cudnn|CUDNN|nccl|NCCL|nvrtc|cutlass|CUTLASS")
_SUSPECT_REVERSE = re.compile(r"musa|MUSA|Musa|mublas|MUBLAS|mudnn|MUDNN|mccl|MCCL|mtrtc|mutlass|MUTLASS")


@dataclass(frozen=True, slots=True)
class Family:
    """A rename rule for names in no table: `prefix`, followed by a character of class `following`."""

    prefix: str
    replacement: str
    following: str
    area: str

    def matches(self, name: str) -> bool:
        if not name.startswith(self.prefix) or len(name) == len(self.prefix):
            return False
        if self.prefix.startswith("__CUDA") or self.prefix.startswith("__MUSA"):
            return name.endswith("__")
        char = name[len(self.prefix)]
        return {"upper": char.isupper(), "lower": char.islower() or char.isdigit()}.get(self.following, True)

    def rename(self, name: str) -> str:
        return self.replacement + rename_inner_words(name[len(self.prefix) :])


def rename_inner_words(text: str, reverse: bool = False) -> str:
    """`getCUDAStream` to `getMUSAStream`; other text is unchanged."""
    for cuda, musa in _INNER:
        text = text.replace(musa, cuda) if reverse else text.replace(cuda, musa)
    return text


@dataclass(slots=True)
class Names:
    """The look-up tables of one run. Names of the source side are keys.

    identifiers  single identifiers
    paths        qualified names (`at::cuda::CUDAStream`, and `cutlass` for the namespace)
    methods      member functions (`is_cuda`)
    headers      include paths; header_prefixes are (prefix, replacement, row), longest first
    prefixes     macro prefixes (`CUTE_`)
    environment  environment variables; libraries are shared objects named in strings
    """

    identifiers: dict[str, Row] = field(default_factory=dict)
    paths: dict[str, Row] = field(default_factory=dict)
    methods: dict[str, Row] = field(default_factory=dict)
    headers: dict[str, Row] = field(default_factory=dict)
    header_prefixes: list[tuple[str, str, Row]] = field(default_factory=list)
    prefixes: list[tuple[str, str, Row]] = field(default_factory=list)
    environment: dict[str, Row] = field(default_factory=dict)
    libraries: dict[str, Row] = field(default_factory=dict)
    macro_arguments: dict[str, dict[str, Row]] = field(default_factory=dict)
    #: Family rules by the first letter of their prefix.
    families: dict[str, list[Family]] = field(default_factory=dict)
    keep: frozenset[str] = frozenset()
    #: Names that the user's map gave, whatever the project declares.
    forced: frozenset[str] = frozenset()
    min_confidence: str = "derived"
    reverse: bool = False

    def find(self, name: str) -> Row | None:
        """The row of an identifier: exact, or by macro prefix."""
        row = self.identifiers.get(name)
        if row is None:
            for prefix, replacement, prefix_row in self.prefixes:
                if name.startswith(prefix) and len(name) > len(prefix):
                    return prefix_row._replace(cuda=name, musa=replacement + name[len(prefix) :])
        return row

    def family(self, name: str) -> Family | None:
        """The family rule that would rename a name in no table."""
        return next((family for family in self.families.get(name[0], ()) if family.matches(name)), None)

    def suspect(self, name: str) -> bool:
        """Whether the identifier holds a family word at all."""
        return (_SUSPECT_REVERSE if self.reverse else _SUSPECT).search(name) is not None

    def allowed(self, row: Row) -> bool:
        """Whether `--min-confidence` lets this row be applied."""
        return CONFIDENCE.index(row.confidence) <= CONFIDENCE.index(self.min_confidence)

    def header(self, path: str) -> Row | None:
        """The row of an include path: exact, or by the longest prefix."""
        row = self.headers.get(path)
        if row is not None:
            return row
        for prefix, replacement, prefix_row in self.header_prefixes:
            if path.startswith(prefix):
                return prefix_row._replace(cuda=path, musa=replacement + path[len(prefix) :])
        return None


def load(
    map_files: Sequence[Path] = (),
    *,
    default_map: bool = True,
    keep: Iterable[str] = (),
    min_confidence: str = "derived",
    reverse: bool = False,
) -> Names:
    """The tables. Raises UsageError when a map file is malformed.

    Callers share what is returned and must not change it.
    """
    if not map_files:
        return _shared(default_map, frozenset(keep), min_confidence, reverse)
    names = _build(default_map, frozenset(keep), min_confidence, reverse)
    forced: set[str] = set()
    for path in map_files:
        for row in read_map_file(path):
            _add(names, row, replace=True)
            forced.add(row.cuda)
    names.forced = frozenset(forced)
    names.header_prefixes.sort(key=lambda item: -len(item[0]))
    return names


@lru_cache(maxsize=4)
def _shared(default_map: bool, keep: frozenset[str], min_confidence: str, reverse: bool) -> Names:
    return _build(default_map, keep, min_confidence, reverse)


def _build(default_map: bool, keep: frozenset[str], min_confidence: str, reverse: bool) -> Names:
    names = Names(keep=keep, min_confidence=min_confidence, reverse=reverse)
    if default_map:
        for row in invert(_every_row()) if reverse else _every_row():
            _add(names, row)
        for family in _families(reverse):
            names.families.setdefault(family.prefix[0], []).append(family)
    names.header_prefixes.sort(key=lambda item: -len(item[0]))
    return names


def _every_row() -> Iterable[Row]:
    yield from read_rows("headers")
    yield from all_rows()
    yield from read_rows("env")
    yield from read_rows("libraries")


def invert(rows: Iterable[Row]) -> list[Row]:
    """The tables from MUSA to CUDA.

    A MUSA name that CUDA has too (`__half`) stays. Where several CUDA names have the same MUSA name, rows that change
    the meaning come last, then the highest confidence counts, and of headers the one with more kinds of evidence; among
    equals the name whose length is nearest to that of the MUSA name, then the first in the table.
    """
    rows = list(rows)
    kept = {row.cuda for row in rows if row.musa == row.cuda}
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row.musa in kept or not _is_invertible(row):
            continue
        key = (_shape(row), row.musa)
        candidate = row._replace(cuda=row.musa, musa=row.cuda)
        held = best.get(key)
        if held is None or _inverse_rank(candidate) < _inverse_rank(held):
            best[key] = candidate
    return list(best.values())


def _is_invertible(row: Row) -> bool:
    """Whether both sides are names, and not the name of a family or a macro of the build."""
    if not row.supported or row.musa in ("same", "(drop)", "(none)"):
        return False
    if " " in row.cuda and row.kind != "macro-arg":
        return False
    return row.cuda not in BUILD_FLAGS and (row.cuda not in _FAMILY_WORDS or row.kind == "namespace")


def _inverse_rank(row: Row) -> tuple[bool, int, int, int]:
    evidence = -len(row.evidence.split(";")) if row.kind == "header" else 0
    return row.flag == "semantic", CONFIDENCE.index(row.confidence), evidence, abs(len(row.cuda) - len(row.musa))


def _shape(row: Row) -> str:
    return "header" if row.kind.startswith("header") else "env" if row.kind == "env" else "name"


def _families(reverse: bool) -> Iterable[Family]:
    for row in read_table("families"):
        pair = row["cuda_prefix"], row["musa_prefix"]
        source, target = reversed(pair) if reverse else pair
        yield Family(source, target, row["next"], row["area"])


def _add(names: Names, row: Row, replace: bool = False) -> None:
    """Put a row where the rewriters look for it. Rows that are descriptions of a construct have no place here."""

    def put(table: dict[str, Row], key: str) -> None:
        if replace or key not in table:
            table[key] = row

    if row.kind in _NOT_SOURCE:
        return
    if row.kind == "header":
        put(names.headers, row.cuda)
    elif row.kind == "header-prefix":
        names.header_prefixes.append((row.cuda.rstrip("*"), row.musa.rstrip("*"), row))
    elif row.kind == "macro-prefix":
        names.prefixes.append((row.cuda, row.musa, row))
    elif row.kind == "env":
        put(names.environment, row.cuda)
    elif row.kind == "shared-object":
        put(names.libraries, row.cuda)
    elif row.kind == "method":
        match = _METHOD.fullmatch(row.cuda)
        put(names.methods, match.group(1) if match else row.cuda)
    elif row.kind == "macro-arg":
        _add_macro_argument(names, row)
    elif _PATH.fullmatch(row.cuda):
        put(names.paths, row.cuda)
        _add_suffixes(names, row)
    elif row.kind == "namespace" and row.cuda.endswith("::"):
        row = row._replace(cuda=row.cuda[:-2], musa=row.musa[:-2])
        put(names.paths, row.cuda)
    elif row.cuda == "libcudacxx cuda::std":
        put(names.paths, "cuda::std")
    elif _IDENTIFIER.fullmatch(row.cuda) and (replace or _is_api_name(row)):
        put(names.identifiers, row.cuda)


def _is_api_name(row: Row) -> bool:
    return row.cuda not in _FAMILY_WORDS and row.cuda not in BUILD_FLAGS


def _add_suffixes(names: Names, row: Row) -> None:
    """`DeviceType::CUDA` is as good as `at::DeviceType::CUDA` in code that opened the namespace."""
    cuda, musa = row.cuda.split("::"), row.musa.split("::")
    if cuda[0] in ("at", "c10", "torch") and len(cuda) >= 3 and len(cuda) == len(musa):
        suffix = "::".join(cuda[1:])
        names.paths.setdefault(suffix, row._replace(cuda=suffix, musa="::".join(musa[1:])))


_MACRO_ARGUMENT = re.compile(r"(\w+)\(\w+, (\w+), \w+\)")


def _add_macro_argument(names: Names, row: Row) -> None:
    source, target = _MACRO_ARGUMENT.fullmatch(row.cuda), _MACRO_ARGUMENT.fullmatch(row.musa)
    if source and target:
        change = row._replace(cuda=source.group(2), musa=target.group(2))
        names.macro_arguments.setdefault(source.group(1), {})[source.group(2)] = change


# ---- the user's own tables --------------------------------------------------------------------------------------


def read_map_file(path: Path) -> list[Row]:
    """Read `--map FILE`: JSON `{"cudaName": "musaName" | null}`, or CSV with the columns of the shipped tables.

    A JSON null keeps the name as it is. Raises UsageError with the file and the place.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--map {path}: cannot be read: {error}") from error
    return _parse_csv(path, text) if path.suffix.lower() == ".csv" else _parse_json(path, text)


def _parse_json(path: Path, text: str) -> list[Row]:
    try:
        table = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"--map {path}:{error.lineno}: not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise UsageError(f"--map {path}: not a table of names: nested too deeply") from error
    if not isinstance(table, dict):
        raise UsageError(
            f'--map {path}: expected an object {{"cudaName": "musaName" or null}}, got {type(table).__name__}'
        )
    rows = []
    for name, target in table.items():
        if not (target is None or (isinstance(target, str) and target)):
            raise UsageError(f"--map {path}: {name!r} must map to a name or null, got {target!r}")
        rows.append(_user_row(path, name, target or name))
    return rows


def _parse_csv(path: Path, text: str) -> list[Row]:
    reader = csv.DictReader(text.splitlines())
    try:
        table = list(reader) if {"cuda_name", "musa_name"} <= set(reader.fieldnames or ()) else None
    except csv.Error as error:
        raise UsageError(f"--map {path}:{reader.line_num}: not valid CSV: {error}") from error
    if table is None:
        raise UsageError(f"--map {path}: the first line must name the columns cuda_name and musa_name")
    rows = []
    for number, cells in enumerate(table, 2):
        if None in cells or not cells["cuda_name"]:
            raise UsageError(f"--map {path}:{number}: wrong number of columns or empty cuda_name")
        confidence = cells.get("confidence") or ("high" if cells["musa_name"] else "none")
        if confidence not in CONFIDENCE:
            raise UsageError(f"--map {path}:{number}: confidence {confidence!r} is not one of {', '.join(CONFIDENCE)}")
        row = _user_row(path, cells["cuda_name"], cells["musa_name"] or "", cells.get("kind") or "")
        rows.append(
            row._replace(confidence=confidence, flag=cells.get("unsupported") or "", note=cells.get("note") or "")
        )
    return rows


def _user_row(path: Path, name: str, target: str, kind: str = "") -> Row:
    if not kind:
        kind = "header" if "." in name or "/" in name else "symbol"
    pattern = {"header": r"[\w./+*-]+", "header-prefix": r"[\w./+*-]+"}.get(kind, r"[A-Za-z_]\w*(::[A-Za-z_]\w*)*")
    for text in (name, *filter(None, [target])):
        if not re.fullmatch(pattern, text):
            raise UsageError(f"--map {path}: {text!r} is not a name (identifier, a::b path, or header path)")
    return Row(name, target, kind, f"user:{path.name}", "high", "", "", "user")
