"""What holds for every input: properties checked on random mixes of code, comments, strings and broken text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from musa_port import FilePort, FileStatus, Options, port_sources
from musa_port.mappings import all_rows

if TYPE_CHECKING:
    from tests.porter.conftest import ApplyEdits

#: Random but the same in every run, so that a failure is somebody's change.
PROFILE = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
API = sorted({row.cuda for row in all_rows() if row.confidence == "high" and _IDENTIFIER.fullmatch(row.cuda)})
OWN = ["my_cuda", "barracuda", "use_cuda", "x", "s", "CudaTimer", "cuda", "nccl", "Executes"]

names = st.sampled_from(API) | st.sampled_from(OWN)
prose = st.lists(
    names | st.sampled_from(["the CUDA", "é显", "https://a.b/cuda/cudaFree.html", "//", "'", "%s"]), max_size=4
).map(" ".join)
block_comments = prose.map(lambda text: f"/* {text.replace('//', '')} */")
line_comments = prose.map(lambda text: f"// {text}\n")
strings = prose.map(lambda text: f'"{text}"')
raw_strings = prose.map(lambda text: f'R"x({text})" )x"')
texts = st.one_of(block_comments, line_comments, strings, raw_strings)

LINES = [
    "#include <cuda_runtime.h>\n",
    "#include <cub/cub.cuh>\n",
    '#include "util.cuh"\n',
    "#if __CUDA_ARCH__ >= 800\n",
    "#if defined(__CUDACC__) && CUDA_VERSION >= 12000\n",
    "#ifdef USE_MUSA\n",
    "#else\n",
    "#endif\n",
    "#define CK(x) do { cudaError_t e = (x); } while (0)\n",
    "#define P(f) cuda##f\n",
    "#define S(x) #x\n",
    "#pragma unroll\n",
    "// musa-port: off\n",
    "// musa-port: on\n",
]
CODE = [
    "k<<<1, 32, 0, s>>>(p);",
    'asm volatile("membar.gl;" ::: "memory");',
    "at::cuda::getCurrentCUDAStream()",
    "cutlass::half_t h;",
    "P(Free)(p);",
    "S(cudaFree);",
    'getenv("CUDA_HOME");',
    'dlsym(h, "cuInit");',
    "namespace cuda { int x; }",
    "using namespace cuda;",
    "template <typename T> T f(T x) { return R<T>(x).Sum<4>(x); }",
    "threadIdx.x & 31;",
    "{", "}", "(", ")", ";", "->", ".", "::", "<", "'\"'", "\\\n", "\n", "\r\n", "\t",
]  # fmt: skip
calls = st.builds("{}({});".format, names, names)
fragments = st.one_of(st.sampled_from(CODE), calls, names, texts, st.sampled_from(LINES).map(lambda line: "\n" + line))
sources = st.lists(fragments, max_size=25).map(" ".join)
option_sets = st.sampled_from(
    [
        Options(),
        Options(rename_ext=False),
        Options(ptx="stub", cuda_version=12080),
        Options(guards="report", min_confidence="high"),
        Options(rename_project_names=True),
        Options(reverse=True),
    ]
)


def as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def port(source: bytes, options: Options) -> FilePort:
    """A .cc file, which is examined in both directions and never renamed."""
    return port_sources({"a.cc": source}, options)["a.cc"]


@PROFILE
@given(sources, option_sets)
def test_second_run_changes_nothing(source: str, options: Options) -> None:
    first = port(source.encode(), options)
    second = port(first.data, options)
    assert as_text(second.data) == as_text(first.data)


@PROFILE
@given(sources, st.booleans())
def test_second_run_with_text_options_changes_nothing(source: str, only_strings: bool) -> None:
    options = Options(strings=True, comments=not only_strings)
    first = port(source.encode(), options)
    assert as_text(port(first.data, options).data) == as_text(first.data)


@PROFILE
@given(sources | st.text() | st.binary(max_size=300), option_sets)
def test_edits_are_the_difference(apply_edits: ApplyEdits, source: str | bytes, options: Options) -> None:
    """Each edit names what the source holds at its line and column; together they give the output."""
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    result = port(data, options)
    assert apply_edits(data, result.edits) == result.data
    if result.status not in (FileStatus.PORTED, FileStatus.UNCHANGED):
        assert result.data == data


@PROFILE
@given(sources, option_sets)
def test_findings_point_into_the_source(source: str, options: Options) -> None:
    lines = source.split("\n")
    for finding in port(source.encode(), options).findings:
        assert finding.rule != "F10", finding
        assert 1 <= finding.line <= len(lines), finding
        assert lines[finding.line - 1][finding.column - 1 :].startswith(finding.old.split("\n")[0].rstrip("\r")), (
            finding
        )


TOKEN = re.compile(
    r"""(?P<text>//(?:\\\r?\n|[^\n])*|/\*.*?\*/|R"x\(.*?\)x"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\w+|\s+|.""", re.S
)
clean_code = st.one_of(calls, names, st.sampled_from([";", "\n", "(", ")", "{", "}", "->", "::", ".", "\r\n"]))
clean_sources = st.lists(st.one_of(clean_code, texts), max_size=30).map(" ".join)


@PROFILE
@given(clean_sources)
def test_only_identifiers_of_code_change(source: str) -> None:
    """Token by token: as many as before, texts as they were, and what changed was an identifier and is one."""
    before = list(TOKEN.finditer(source))
    after = list(TOKEN.finditer(as_text(port(source.encode(), Options()).data)))
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        if new.group() != old.group():
            assert not old.group("text")
            assert _IDENTIFIER.fullmatch(old.group())
            assert _IDENTIFIER.fullmatch(new.group())
            assert old.group() not in OWN


@PROFILE
@given(st.lists(texts, max_size=12).map("\n".join))
def test_comments_and_strings_alone_do_not_change(source: str) -> None:
    assert as_text(port(source.encode(), Options()).data) == source


@PROFILE
@given(st.lists(st.sampled_from(API), min_size=1, max_size=8))
def test_names_are_ported_wherever_they_stand(used: list[str]) -> None:
    """The result for a name depends on the name, not on its neighbours."""
    lines = [f"f({name});\n".encode() for name in used]
    together = port(b"".join(lines), Options()).data
    alone = port_sources({f"{number}.cc": line for number, line in enumerate(lines)})
    assert together == b"".join(result.data for result in alone.values())


@PROFILE
@given(
    st.binary(max_size=400) | st.lists(st.binary(max_size=20) | sources.map(str.encode), max_size=6).map(b"".join),
    option_sets,
)
def test_arbitrary_bytes_never_fail(data: bytes, options: Options) -> None:
    result = port(data, replace(options, comments=True, strings=True))
    assert result.status in (FileStatus.PORTED, FileStatus.UNCHANGED, FileStatus.SKIPPED)
    assert "F10" not in {finding.rule for finding in result.findings}


@PROFILE
@given(sources, st.integers(min_value=0, max_value=2000))
def test_cut_anywhere(apply_edits: ApplyEdits, source: str, length: int) -> None:
    """A file that ends in the middle of a token, a comment or a character."""
    data = source.encode()[:length]
    result = port(data, Options())
    assert apply_edits(data, result.edits) == result.data


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
@PROFILE
@given(source=sources)
def test_line_ends_are_kept(ending: bytes, source: str) -> None:
    data = source.encode().replace(b"\r\n", b"\n").replace(b"\n", ending)
    result = port(data, Options()).data
    assert re.findall(rb"\r\n|\r|\n", result) == re.findall(rb"\r\n|\r|\n", data)


@PROFILE
@given(sources)
def test_each_file_is_ported_as_alone(source: str) -> None:
    """A neighbour that declares nothing changes nothing."""
    alone = port(source.encode(), Options())
    beside = port_sources({"a.cc": source.encode(), "b.h": b"int unrelated;\n"})["a.cc"]
    assert (beside.data, beside.findings) == (alone.data, alone.findings)
