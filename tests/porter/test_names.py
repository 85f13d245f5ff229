"""The name tables: their form, what no table may hold, and the look-up structure that is built from them."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest

from musa_port import Options, mappings, names, port_sources
from musa_port.mappings import CONFIDENCE, NAME_AREAS, Row

ROOT = Path(__file__).resolve().parents[2]
FILES = {path.stem: path for path in sorted(Path(mappings.__file__).parent.glob("*.csv"))}
#: Files whose rows are not pairs of names; each has its own columns.
RULES = {
    "configuration_keys": ("key", "cuda", "musa", "note"),
    "device_properties": ("field", "note"),
    "families": ("cuda_prefix", "musa_prefix", "next", "area", "note"),
    "features": ("cuda_name", "kind", "severity", "feature", "note"),
    "nvcc_options": ("option", "short", "value"),
    "torch_devices": ("name", "kind", "note"),
    "tilelang_compile_flags": ("flag", "severity", "note"),
    "tilelang_dtypes": ("name", "spellings", "bits", "kind"),
    "tilelang_externs": ("name", "note"),
    "tilelang_features": ("feature", "archs", "note"),
    "tilelang_gemm": ("threads", "m", "n", "unit", "note"),
    "tilelang_language": ("word", "rule", "action", "severity", "message"),
    "tilelang_limits": ("arch", "limit", "value", "note"),
    "tilelang_pass_configs": ("name", "string", "exists", "action", "rule", "note"),
}
COLUMNS = ["cuda_name", "musa_name", "kind", "evidence", "confidence", "unsupported", "note"]

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
NAME = re.compile(r"(::)?[A-Za-z_]\w*(::[A-Za-z_]\w*)*")
EVIDENCE = re.compile(
    r"T|A(\(.+\))?|sym|hdrcopy|mupti|docs|hand|profiler-table-only|-|(use|alias)([:/].+)?|[\w+.-]+( .*)?"
)
#: Rows whose right side is an expression: they cannot be renamed, and the porter says so.
EXPRESSIONS = {"atomicSub_system"}
_LIBRARIES = "cublas cudnn cufft curand cusolver cusparse cupti nccl nvrtc nvjpeg nvml npp nvtx nvshmem cutlass cute"
FAMILY_WORDS = [*f"cuda cu {_LIBRARIES}".split(), *f"CUDA CU {_LIBRARIES}".upper().split(), "Cutlass"]


def table(area: str) -> list[dict[str, str]]:
    with FILES[area].open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def forward() -> names.Names:
    return names.load()


@pytest.fixture(scope="module")
def backward() -> names.Names:
    return names.load(reverse=True)


def identifier_rows() -> list[Row]:
    """The row that counts for each identifier: the first, in the order of the tables."""
    rows: dict[str, Row] = {}
    for row in mappings.all_rows():
        if IDENTIFIER.fullmatch(row.cuda):
            rows.setdefault(row.cuda, row)
    return list(rows.values())


# ---- the files --------------------------------------------------------------------------------------------------


def test_every_area_has_a_file() -> None:
    assert set(NAME_AREAS) <= set(FILES)


@pytest.mark.parametrize("area", sorted(FILES.keys() - RULES.keys()))
def test_schema(area: str) -> None:
    lines = list(csv.reader(FILES[area].read_text(encoding="utf-8").splitlines()))
    assert lines[0][: len(COLUMNS)] == COLUMNS
    for number, cells in enumerate(lines[1:], 2):
        place = f"{area}.csv:{number}: {cells}"
        assert len(cells) == len(lines[0]), place
        cuda, musa, kind, evidence, confidence, flag, _ = cells[: len(COLUMNS)]
        assert [cell.strip() for cell in cells] == cells, place
        assert cuda, place
        assert kind, place
        assert evidence, place
        assert confidence in CONFIDENCE, place
        assert flag in ("", "unsupported", "semantic", "partial", "stub"), place
        # A row without a right side says why; one that is marked as having none has none.
        assert musa or flag or confidence == "none", place
        if confidence == "none":
            assert not musa or musa.startswith("("), place


@pytest.mark.parametrize("area", sorted(FILES.keys() - RULES.keys()))
def test_no_name_twice_in_a_file(area: str) -> None:
    seen: set[tuple[str, str]] = set()
    for row in table(area):
        key = row["cuda_name"], row["kind"]
        assert key not in seen, key
        seen.add(key)


def test_tables_that_disagree_say_so() -> None:
    """When two tables have different targets for a name, the row that counts names the rival in its note."""
    rows = defaultdict(list)
    for row in mappings.all_rows():
        if IDENTIFIER.fullmatch(row.cuda):
            rows[row.cuda].append(row)
    for first, *others in rows.values():
        for other in others:
            assert other.musa == first.musa or other.musa in first.note, (first, other)


@pytest.mark.parametrize("area", sorted(RULES))
def test_schema_of_rules(area: str) -> None:
    lines = list(csv.reader(FILES[area].read_text(encoding="utf-8").splitlines()))
    assert tuple(lines[0]) == RULES[area]
    for number, cells in enumerate(lines[1:], 2):
        place = f"{area}.csv:{number}: {cells}"
        assert len(cells) == len(lines[0]), place
        assert [cell.strip() for cell in cells] == cells, place
        assert any(cells), place
    assert len({tuple(cells) for cells in lines}) == len(lines), "a row twice"


def test_families() -> None:
    rows = table("families")
    prefixes = [row["cuda_prefix"] for row in rows]
    assert len(set(zip(prefixes, (row["next"] for row in rows), strict=True))) == len(rows)
    for row in rows:
        assert row["next"] in ("upper", "lower", "any"), row
        assert row["area"] in NAME_AREAS, row
        assert row["cuda_prefix"] != row["musa_prefix"], row


def test_features() -> None:
    for row in table("features"):
        assert IDENTIFIER.fullmatch(row["cuda_name"]), row
        assert row["kind"] in ("name", "namespace", "prefix"), row
        assert row["severity"] in ("error", "warning", "info"), row
        assert row["feature"], row
        assert row["note"], row


def test_ptx_patterns_are_regular_expressions() -> None:
    for row in table("ptx"):
        if row["match"]:
            re.compile(row["match"])
        assert row["musa_name"] or row["unsupported"], row


def test_arch_thresholds_rise() -> None:
    pairs = []
    for row in table("arch"):
        source, target = (
            re.fullmatch(rf"__{side}_ARCH__ (\d+)", row[name])
            for side, name in (("CUDA", "cuda_name"), ("MUSA", "musa_name"))
        )
        if source and target:
            pairs.append((int(source.group(1)), int(target.group(1))))
    assert pairs == sorted(pairs)
    assert [musa for _, musa in pairs] == sorted(musa for _, musa in pairs)
    assert {musa for _, musa in pairs} == {210, 220, 310}


def test_counts_in_the_readmes() -> None:
    """The numbers that the READMEs give are those of the files, rounded."""
    rows = [row for area in FILES.keys() - RULES.keys() for row in table(area)]
    proven = sum(row["confidence"] in ("high", "medium") for row in rows)
    for readme in ("README.md", "README_CN.md"):
        text = (ROOT / readme).read_text(encoding="utf-8")
        assert f"{round(len(rows), -3):,}" in text, readme
        assert f"{round(proven, -2):,}" in text, readme


# ---- what the rows may say --------------------------------------------------------------------------------------


def test_targets_are_names() -> None:
    for row in identifier_rows():
        if row.supported and row.cuda not in EXPRESSIONS:
            assert NAME.fullmatch(row.musa), row


@pytest.mark.parametrize("name", sorted(EXPRESSIONS))
def test_expressions_are_not_put_in_place_of_a_name(name: str) -> None:
    result = port_sources({"a.cu": f"{name}(p, 1);\n".encode()})["a.cu"]
    assert result.data == f"{name}(p, 1);\n".encode()
    assert [finding.rule for finding in result.findings] == ["C4"]


def test_header_targets_are_paths(forward: names.Names) -> None:
    for row in forward.headers.values():
        if row.supported:
            assert re.fullmatch(r"[\w+.-]+(/[\w+.-]+)*", row.musa), row


def test_a_target_is_not_a_source_of_another_rename(forward: names.Names) -> None:
    """Otherwise a second run would rename again."""
    for table_ in (forward.identifiers, forward.paths, forward.headers, forward.environment, forward.libraries):
        for row in table_.values():
            again = table_.get(row.musa)
            assert again is None or not again.supported or again.musa == row.musa, (row, again)


@pytest.mark.parametrize("word", FAMILY_WORDS)
def test_family_words_are_no_api_names(forward: names.Names, word: str) -> None:
    assert forward.find(word) is None
    assert forward.family(word) is None
    assert port_sources({"a.cc": f"#include <cuda.h>\nint x = {word};\n".encode()})["a.cc"].data.endswith(
        f"= {word};\n".encode()
    )


def test_names_of_musa_are_not_renamed(forward: names.Names) -> None:
    for row in identifier_rows():
        if row.supported and row.musa.startswith(("musa", "mublas", "mccl", "MU", "__mt_")):
            assert forward.family(row.musa) is None, row


# ---- the tables as the porter looks them up ---------------------------------------------------------------------

#: Rows about build files and Python, which the tables hold as well, and rows that are a pattern.
OTHER_KINDS = {
    "macro-prefix",
    "cmake",
    "cmake-target",
    "cmake-genex",
    "python",
    "python-package",
    "target",
    "link-flag",
}
HIGH = [
    row
    for row in identifier_rows()
    if row.confidence == "high" and row.supported and row.musa != row.cuda
    if row.kind not in OTHER_KINDS and row.cuda not in FAMILY_WORDS
]


def test_every_high_confidence_name_is_ported_silently() -> None:
    """All of them, one use each in one file: the result is the row's right side, and only flagged rows are reported."""
    rows = [row for row in HIGH if row.kind not in ("method", "namespace")]
    rows = [row for row in rows if row.cuda not in names.BUILD_FLAGS and not row.cuda.startswith("__CUDA_ARCH__")]
    rows = [row for row in rows if "VERSION" not in row.cuda and "__CUDACC_VER" not in row.cuda]
    assert len(rows) > 500
    source = "".join(f"f({row.cuda});\n" for row in rows).encode()
    result = port_sources({"a.cc": source})["a.cc"]
    lines = result.data.decode().splitlines()
    assert [(row, line) for row, line in zip(rows, lines, strict=True) if line != f"f({row.musa});"] == []
    reported = {finding.name for finding in result.findings if finding.rule not in ("C8", "F9")}
    assert reported <= {row.cuda for row in rows if row.flag}


def test_inverse_is_a_right_inverse(forward: names.Names, backward: names.Names) -> None:
    """From MUSA to CUDA and back again is the same name: the inverse is a function, and undoes no other name."""
    for row in backward.identifiers.values():
        assert NAME.fullmatch(row.musa), row
        again = forward.find(row.musa)
        assert again is not None, row
        assert again.musa == row.cuda or row.cuda in again.note, (row, again)  # a rival spelling is in the note


def test_round_trip_of_high_confidence_names(forward: names.Names, backward: names.Names) -> None:
    """CUDA to MUSA and back is the same name, except where several CUDA names share one MUSA name."""
    shared = defaultdict(set)
    for row in identifier_rows():
        if row.supported:
            shared[row.musa].add(row.cuda)
    for row in HIGH:
        if row.cuda in names.BUILD_FLAGS:
            continue
        same = forward.find(row.musa)
        if same is not None and same.musa == row.musa:
            continue  # the MUSA name is a CUDA name too: it stays
        back = backward.find(row.musa)
        assert back is not None, row
        assert back.musa == row.cuda or back.musa in shared[row.musa], (row, back)
        assert back.confidence == "high", (row, back)


@pytest.mark.parametrize(
    "word", ["musa", "mu", "mublas", "MUBLAS", "mccl", "mudnn", "MUDNN", "mutlass", "mute", "MUTE", "mupti"]
)
def test_family_words_of_musa_are_no_api_names(backward: names.Names, word: str) -> None:
    assert backward.find(word) is None
    source = f"int x = {word};\n".encode()
    assert port_sources({"a.cc": source}, Options(reverse=True))["a.cc"].data == source


def test_reverse_headers(backward: names.Names) -> None:
    expected = {
        "musa_runtime.h": "cuda_runtime.h",
        "musa.h": "cuda.h",
        "musa_fp16.h": "cuda_fp16.h",
        "mccl.h": "nccl.h",
    }
    assert {name: backward.headers[name].musa for name in expected} == expected


def test_options_of_load() -> None:
    assert not names.load(default_map=False).identifiers
    assert not names.load(default_map=False).families
    assert names.load(keep=["cudaMalloc"]).keep == {"cudaMalloc"}
    kept = port_sources({"a.cu": b"cudaMalloc(p);\n"}, Options(keep_names=("cudaMalloc",)))["a.cu"]
    assert kept.data == b"cudaMalloc(p);\n"
