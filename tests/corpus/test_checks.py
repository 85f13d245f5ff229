"""The checks of the corpus find planted faults. (These tests need no download.)"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from . import checks
from .api import Api
from .declared import declared
from .lexer import Source
from .port import Port, run

TREE = {
    "kernel.cu": """#include <cuda_runtime.h>
#include "util.cuh"
void run() {
  cudaFree(0);  // frees
  cudaFree(nullptr);
}
""",
    "util.cuh": "#pragma once\nenum Kind { cudaDefaultKind };\n",
    "notes.txt": "cudaFree\n",
}


@pytest.fixture
def small(tmp_path: Path) -> Port:
    for name, text in TREE.items():
        (tmp_path / "source").mkdir(exist_ok=True)
        (tmp_path / "source" / name).write_text(text)
    return run(tmp_path / "source", tmp_path / "output")


def every_check(port: Port, names: Api) -> list[str]:
    return [
        *checks.crashes(port),
        *checks.lost_files(port),
        *checks.wrong_edits(port),
        *checks.broken_includes(port, names),
        *checks.silent_headers(port, names),
        *checks.silent_names(port, names),
        *checks.changes_again(port, port),
    ]


def test_a_good_port_passes(small: Port, names: Api) -> None:
    assert every_check(small, names) == []


def change(port: Port, name: str, old: str, new: str) -> None:
    path = port.output / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))


def test_a_name_that_was_missed(small: Port, names: Api) -> None:
    change(small, "kernel.mu", "musaFree(nullptr)", "cudaFree(nullptr)")
    assert list(checks.silent_names(small, names)) == ["kernel.cu:5: cudaFree in: cudaFree(nullptr);"]
    assert list(checks.wrong_edits(small)) == ["kernel.cu: its edits do not give kernel.mu"]


def test_a_finding_explains_a_name(small: Port, names: Api) -> None:
    change(small, "kernel.mu", "musaFree(nullptr)", "cudaFree(nullptr)")
    small.files["kernel.cu"]["findings"].append({"name": "cudaFree", "old": "cudaFree", "rule": "C4"})
    assert list(checks.silent_names(small, names)) == []


def test_a_header_that_was_missed(small: Port, names: Api) -> None:
    change(small, "kernel.mu", "musa_runtime.h", "cuda_runtime.h")
    assert list(checks.silent_headers(small, names)) == ["kernel.mu: includes <cuda_runtime.h>"]


def test_an_include_that_did_not_follow(small: Port, names: Api) -> None:
    change(small, "kernel.mu", "util.muh", "util.cuh")
    assert list(checks.broken_includes(small, names)) == [
        'kernel.cu: "util.cuh" became "util.cuh", which finds nothing'
    ]


def test_a_lost_file(small: Port) -> None:
    (small.output / "util.muh").unlink()
    assert list(checks.lost_files(small)) == ["util.cuh: there is no util.muh"]


def test_a_changed_copy_and_a_stray_file(small: Port) -> None:
    (small.output / "notes.txt").write_text("musaFree\n")
    (small.output / "stray").write_text("")
    assert list(checks.lost_files(small)) == [
        "notes.txt: is copied, but its bytes changed",
        "stray: is in the output for no reason",
    ]


def test_a_file_that_the_report_forgot(small: Port) -> None:
    small.report["files"] = [file for file in small.report["files"] if file["path"] != "notes.txt"]
    assert "notes.txt: is not in the report" in list(checks.lost_files(small))


def test_an_edit_at_the_wrong_place(small: Port) -> None:
    small.files["kernel.cu"]["edits"][0]["column"] += 1
    assert "does not match the source" in next(checks.wrong_edits(small))


def test_a_second_run_that_changes_something(small: Port) -> None:
    again = run(small.output, small.output.with_name("again"))
    assert list(checks.changes_again(small, again)) == []
    change(again, "kernel.mu", "musaFree", "musamusaFree")
    assert list(checks.changes_again(small, again)) == ["kernel.mu: differs"]


def test_a_failed_file(small: Port) -> None:
    small.files["kernel.cu"].update(status="failed", reason="cannot be read")
    assert list(checks.crashes(small)) == ["kernel.cu: failed: cannot be read"]


def words(text: str) -> list[str]:
    return [token.text for token in Source(text.encode("latin-1")).tokens if token.kind == "word"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a // b\nc /* d\n e */ f", ["a", "c", "f"]),
        ("a // b \\\n c\nd", ["a", "d"]),
        (r'"a \" b" c', ["c"]),
        ("'\"' a '\\'' b", ["a", "b"]),
        ('R"x(a )" b)x" c', ["c"]),
        ('u8R"(a\n)" b L"c"', ["b"]),
        ("1'000'000 a 0x1p-3f b 1.e+5 c", ["a", "b", "c"]),
        ("#error don't use cudaFree\na", ["a"]),
        ('#include "a/b.h" // c\nd', ["d"]),
        ("#if __has_include(<cuda.h>)\na", ["if", "a"]),
        ("\xe9cudaFree cudaFree\xe9 cudaFree", ["\xe9cudaFree", "cudaFree\xe9", "cudaFree"]),
    ],
)
def test_the_lexer(text: str, expected: list[str]) -> None:
    assert [word for word in words(text) if word not in ("include", "error")] == expected


def test_the_lexer_finds_includes() -> None:
    text = b'// #include "no.h"\n#include <a.h>\n"#include <no.h>"\n# include_next "b.h"\n#if __has_include(<c.h>)\n'
    source = Source(text)
    assert source.includes == ["<a.h>", '"b.h"', "<c.h>"]
    assert [token.text for token in source.tokens if token.kind == "include"] == source.includes


def test_the_scan_for_declarations() -> None:
    text = """
    #define macro 1
    struct alignas(8) tag final : Base { int member; };
    enum class kind : int { first, second = 2, third };
    typedef struct { int x; } alias; typedef void (CALL *callback)(int); using other = int;
    namespace outer::inner { void prototype(int parameter); int function(int a) const noexcept { return used(a); } }
    """
    names = declared(Source(text.encode()).tokens)
    expected = "macro tag member kind first second third alias callback other outer inner function parameter".split()
    assert set(expected) <= names
    assert not {"prototype", "used", "CALL"} & names


def test_the_names_are_those_of_the_data(names: Api) -> None:
    assert {"cudaMalloc", "CUstream", "cublasCreate", "ncclComm_t", "cusolverDnCreateSyevjInfo"} <= names.words
    assert {"cutlass", "at::cuda", "cuda::ptx"} <= names.paths
    assert "cuda_runtime.h" in names.headers
    assert not {"__syncthreads", "cuda", "CUDA", "nccl"} & names.words


def test_the_report_is_the_commands(small: Port) -> None:
    assert json.loads(small.output.with_name("output.json").read_text()) == small.report
