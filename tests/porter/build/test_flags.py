"""Compiler flags: what each group of tokens becomes, and that everything else stays."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import musa_port
from musa_port import flags
from musa_port.flags import Translation, translate

ARCHS = ("mp_22", "mp_31")
TABLE = Path(musa_port.__file__).parent / "mappings" / "compiler_flags.csv"


def rewritten(command: str, **options: bool) -> str:
    """The command line with every translation applied."""
    tokens = shlex.split(command)
    entries = {entry.start: entry for entry in translate(tokens, ARCHS, **options)}
    result: list[str] = []
    position = 0
    while position < len(tokens):
        entry = entries.get(position)
        result += entry.new if entry else [tokens[position]]
        position += entry.count if entry else 1
    return " ".join(result)


def only(command: str) -> Translation:
    """The one translation of a command line."""
    (entry,) = translate(shlex.split(command), ARCHS)
    return entry


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("-gencode arch=compute_80,code=sm_80", "--offload-arch=mp_22"),
        ("-gencode=arch=compute_80,code=sm_80", "--offload-arch=mp_22"),
        ("--generate-code arch=compute_90a,code=sm_90a", "--offload-arch=mp_31"),
        ("--generate-code=arch=compute_90,code=compute_90", "--offload-arch=mp_31"),
        ('-gencode=arch=compute_70,code=\\"sm_70,compute_70\\"', "--offload-arch=mp_22"),
        ("-arch=sm_80", "--offload-arch=mp_22"),
        ("-arch sm_90a", "--offload-arch=mp_31"),
        ("--gpu-architecture=compute_89 --gpu-code=sm_89", "--offload-arch=mp_22"),
        ("-arch=compute_80 -code=sm_80,sm_90", "--offload-arch=mp_22 --offload-arch=mp_31"),
        ("-arch=sm_87", "--offload-arch=mp_22"),
        ("--cuda-gpu-arch=sm_80 --cuda-path=/usr/local/cuda", "--cuda-gpu-arch=mp_22 --musa-path=/usr/local/musa"),
        ("--cuda-path=/data/cuda", "--musa-path=/data/cuda"),
        (
            "-gencode arch=compute_80,code=sm_80 -O2 -gencode arch=compute_86,code=sm_86 "
            "-gencode arch=compute_90,code=sm_90",
            "--offload-arch=mp_22 -O2 --offload-arch=mp_31",
        ),
        ("-Xcompiler -fPIC", "-fPIC"),
        ("-Xcompiler=-fPIC,-Wall", "-fPIC -Wall"),
        ('--compiler-options "-fPIC -Wall"', "-fPIC -Wall"),
        (r"-Xcompiler '-Wl\,-rpath\,/x'", "-Wl,-rpath,/x"),
        ("-Xcompiler $(CFLAGS)", "$(CFLAGS)"),
        ("-Xcompiler=-lcudart,-DX", "-lmusart -DX"),
        ("-Xlinker -rpath -Xlinker /x", "-Wl,-rpath -Wl,/x"),
        ("-Xptxas=-v,-O3 -Xptxas -v --ptxas-options=-v -Xcudafe --diag_suppress=1 -Xfatbin -compress-all", ""),
        ("-t 4 -t4 --threads=4 --threads 0", ""),
        ("-ccbin g++ --compiler-bindir=/usr/bin -diag-suppress 177 -res-usage", ""),
        ("--expt-relaxed-constexpr --expt-extended-lambda --extended-lambda -extended-lambda", ""),
        ("--use_fast_math", "-ffast-math"),
        ("-use_fast_math -lineinfo -G", "-ffast-math -gline-tables-only -g"),
        ("-ftz=true --fmad=false -prec-div=false", "-fmusa-flush-denormals-to-zero -ffp-contract=off"),
        ("-rdc=true -dc", "-fgpu-rdc -c -fgpu-rdc"),
        ("-x cu a.cu", "-x musa a.cu"),
        ("-I/usr/local/cuda/include -L /usr/local/cuda/lib64", "-I/usr/local/musa/include -L/usr/local/musa/lib"),
        ("-lcudart -lcublas -lcuda -lnccl", "-lmusart -lmublas -lmusa -lmccl"),
        (
            "-D__CUDA_NO_HALF_OPERATORS__ -U__CUDA_NO_HALF_CONVERSIONS__ -D__CUDA_NO_BFLOAT16_CONVERSIONS__=1",
            "-D__MUSA_NO_HALF_OPERATORS__ -U__MUSA_NO_HALF_CONVERSIONS__ -D__MUSA_NO_BFLOAT16_CONVERSIONS__=1",
        ),
        ("-D __CUDA_NO_HALF2_OPERATORS__", "-D __MUSA_NO_HALF2_OPERATORS__"),
    ],
)
def test_translated(before: str, after: str) -> None:
    assert rewritten(before) == after
    assert rewritten(after) == after, "a second run changes nothing"


@pytest.mark.parametrize(
    "command",
    [
        "-O3 -std=c++17 -Wall -fPIC -c a.cu -o a.o",
        "-I/opt/mine/cuda/include -I/usr/local/cuda-12.1/include -L/usr/local/cuda/targets/x86_64-linux/lib",
        "-DROOT=/usr/local/cuda -DNAME=cudart -DMY_CUDA_FLAG=1 -DCUDA",
        "-lcudart_mine -lmycudart -lm -lcublasXt",
        "-arch arm64 -march=native",
        "$(NVCC) ${CUDA_FLAGS} cudart nvcc",
        "-x c++ -x",
        "-gencode",
        "--offload-arch=mp_22 -lmusart",
        "-t x -thing -Gx -Xcompilerx",
        "",
    ],
)
def test_left_alone(command: str) -> None:
    assert translate(shlex.split(command), ARCHS) == []


@pytest.mark.parametrize(
    "command",
    [
        "-maxrregcount=64",
        "--maxrregcount 64",
        "-arch=native",
        "-arch=sm_100",
        "-arch=sm_50",
        "-gencode arch=compute_120,code=sm_120",
        "-gencode arch=compute_$(SM),code=sm_$(SM)",
        "-gencode arch=compute_${SM},code=sm_90",
        "-ptx",
        "-cubin",
        "-dlink",
        "-lcufile",
        "-lnvToolsExt",
        "--default-stream per-thread",
    ],
)
def test_no_counterpart(command: str) -> None:
    entry = only(command)
    if command.endswith("code=sm_90"):
        assert entry.new == ("--offload-arch=mp_31",), "the code that is made decides"
        return
    assert list(entry.new) == shlex.split(command)
    assert entry.severity is musa_port.Severity.ERROR
    assert entry.note


@pytest.mark.parametrize("command", ["-rdc=false", "-ftz=false", "--fmad=true"])
def test_option_with_another_value_is_reported(command: str) -> None:
    entry = only(command)
    assert (list(entry.new), entry.row, entry.severity) == ([command], None, musa_port.Severity.WARNING)


def test_value_that_commas_would_cut_is_left() -> None:
    entry = only("'-Xcompiler=$(subst a,b,$(CFLAGS))'")
    assert entry.new == ("-Xcompiler=$(subst a,b,$(CFLAGS))",)
    assert entry.severity is musa_port.Severity.ERROR


@pytest.mark.parametrize("value", ["-G", "-Xcompiler", "-t4"])
def test_host_flag_that_would_become_one_of_nvcc_is_left(value: str) -> None:
    assert only(f"-Xcompiler {value}").new == ("-Xcompiler", value)


def test_versions_keep_their_macro() -> None:
    entry = only("-DCUDA_VERSION=12080")
    assert (entry.new, entry.severity) == (("-DCUDA_VERSION=12080",), musa_port.Severity.WARNING)


def test_macro_of_the_project() -> None:
    assert rewritten("-DUSE_CUDA=1") == "-DUSE_CUDA=1"
    assert only("-DUSE_CUDA=1").severity is musa_port.Severity.INFO
    assert rewritten("-DUSE_CUDA=1 -UWITH_CUDA -DHAVE_CUDA", rename_project_names=True) == (
        "-DUSE_MUSA=1 -UWITH_MUSA -DHAVE_CUDA"
    )


def test_host_flags_only() -> None:
    command = "-G -t 4 -Xcompiler -fPIC -lcudart -D__CUDA_NO_HALF_OPERATORS__"
    assert rewritten(command, host=True) == "-G -t 4 -Xcompiler -fPIC -lmusart -D__MUSA_NO_HALF_OPERATORS__"


def test_places_and_rows() -> None:
    first, second = translate(["-c", "-Xptxas", "-v", "a.cu", "-lnccl"], ARCHS)
    assert (first.start, first.count, first.new) == (1, 2, ())
    assert first.row is not None
    assert first.row.musa == "(drop)"
    assert (second.start, second.count, second.new, second.severity) == (4, 1, ("-lmccl",), None)


def test_architecture_outside_of_the_choice_becomes_the_nearest_and_gets_a_note() -> None:
    (entry,) = translate(["-arch=sm_75"], ("mp_31",))
    assert entry.new == ("--offload-arch=mp_31",)
    assert "mp_21" in entry.note
    assert "--arch" in entry.note


def test_each_architecture_of_the_choice_is_written_once() -> None:
    flags_of_nvcc = ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90"]
    only, both = translate(flags_of_nvcc, ("mp_31",)), translate(flags_of_nvcc, ("mp_22", "mp_31"))
    assert [entry.new for entry in only] == [("--offload-arch=mp_31",), ()]
    assert [entry.new for entry in both] == [("--offload-arch=mp_22",), ("--offload-arch=mp_31",)]


ALL = ("mp_21", "mp_22", "mp_31")


@pytest.mark.parametrize(
    ("text", "items", "joined"),
    [
        ("80;90a", ("22", "31"), "22;31"),
        ("70 75 80", ("21", "22"), "21 22"),
        ("8.0;9.0+PTX", ("2.2", "3.1"), "2.2;3.1"),
        ("8.0, 8.6", ("2.2",), "2.2"),
        ("75-virtual;86-real", ("21", "22"), "21;22"),
        ("60", ("21",), "21"),
        ("90f", ("31",), "31"),
        ("100", None, None),
        ("80;100", None, None),
        ("50", None, None),
        ("native", None, None),
        ("Hopper", None, None),
        ("${ARCHS}", None, None),
        ("", None, None),
        ("22;31", None, None),
        ("2.2;3.1", None, None),
    ],
)
def test_lists_of_architectures(text: str, items: tuple[str, ...] | None, joined: str | None) -> None:
    assert flags.architectures(text, ALL) == items
    assert flags.architecture_text(text, ALL) == joined


@pytest.mark.parametrize(
    ("text", "archs", "expected"),
    [
        ("8.0;9.0", ("mp_22", "mp_31"), "22;31"),
        ("8.0 9.0+PTX", ("mp_22", "mp_31"), "22;31"),
        ("8.0;9.0", ("mp_31",), "31"),
        ("8.0", ("mp_31",), "31"),
        ("9.0", ("mp_22",), "22"),
        ("9.0", ("mp_21", "mp_22"), "22"),
        ("7.0 8.0 9.0", ("mp_22", "mp_31"), "22;31"),
        ("7.0,8.0", ALL, "21;22"),
        ("10.0", ALL, None),
    ],
)
def test_architectures_as_torch_musa_reads_them(text: str, archs: tuple[str, ...], expected: str | None) -> None:
    """Numbers without a point, separated by semicolons, and only of the choice."""
    assert flags.torch_architectures(text, archs) == expected


def test_tools_and_paths() -> None:
    nvcc, profiler = flags.tool("nvcc"), flags.tool("ncu")
    assert nvcc is not None
    assert profiler is not None
    assert (nvcc.musa, profiler.confidence) == ("mcc", "low")
    assert flags.tool("gcc") is None
    library = flags.path("/usr/local/cuda/lib64/")
    assert library is not None
    assert library.musa == "/usr/local/musa/lib"
    assert flags.path("/usr/local/cuda-12") is None


#: Rows that describe something else than a flag among other flags.
DESCRIPTIONS = {"-O3 (device)", "-std=c++17"}


def flag_rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "flag" and row["cuda_name"].startswith("-")]
    return [row for row in rows if row["cuda_name"] not in DESCRIPTIONS]


@pytest.mark.parametrize("row", flag_rows(), ids=lambda row: row["cuda_name"])
def test_every_row_of_the_table_is_understood(row: dict[str, str]) -> None:
    """As the CSV says, read here independently: something to write, nothing, or an error."""
    tokens = row["cuda_name"].replace("...", "-v").split()
    (entry,) = translate(tokens, ALL)
    assert entry.count == len(tokens)
    target = row["musa_name"]
    if not target or row["confidence"] == "none" or " -o x." in target:
        assert list(entry.new) == tokens
        assert entry.severity is musa_port.Severity.ERROR
    elif tokens[0] == "-code=sm_80":
        assert entry.new == ("--offload-arch=mp_22",)  # alone, it names an architecture that nothing else does
    elif target == "(drop)":
        assert entry.new == ()
    else:
        assert list(entry.new) == target.split()


TOKENS = st.one_of(
    st.sampled_from(
        "-gencode -arch -Xcompiler -Xptxas -t -D -I -lcudart -G --threads arch=compute_80,code=sm_80".split()
    ),
    st.text(alphabet="-=abcX,$(){}\"' 0123456789_", max_size=12),
)


@given(st.lists(TOKENS, max_size=8))
def test_any_tokens(tokens: list[str]) -> None:
    """Translations are in order, do not overlap, and a second run translates nothing further."""
    end = 0
    for entry in translate(tokens, ARCHS):
        assert entry.start >= end
        assert entry.count >= 1
        end = entry.start + entry.count
    assert end <= len(tokens)
