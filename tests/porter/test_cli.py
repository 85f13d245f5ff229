"""The command line: exit codes, streams, one clear line for whatever is wrong, and nothing half-written."""

from __future__ import annotations

import errno
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from musa_port import __version__
from musa_port.cli import main

CLEAN = "void f(void* p) { cudaFree(p); }\n"
CLEAN_PORTED = CLEAN.replace("cuda", "musa")
ERROR = '__device__ void f() { asm volatile("membar.gl;"); }\n'
NOTHING = "int f();\n"


class Outcome(NamedTuple):
    """What a command gave."""

    code: int
    out: str
    err: str


Cli: TypeAlias = Callable[..., Outcome]


@pytest.fixture
def cli(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command in this process. Any exception that would be a traceback fails the test."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["musa-port", *map(str, arguments)])
        capfdbinary.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capfdbinary.readouterr()
        assert isinstance(exit_.value.code, int)
        return Outcome(exit_.value.code, _text(out), _text(err))

    return run


def process(*arguments: object, cwd: Path | None = None, **environment: str) -> Outcome:
    """The command in a process of its own."""
    done = subprocess.run(
        _command(*arguments), cwd=cwd, env=os.environ | environment, capture_output=True, check=False, timeout=60
    )
    return Outcome(done.returncode, _text(done.stdout), _text(done.stderr))


def _command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "musa_port", *map(str, arguments)]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def snapshot(folder: Path) -> dict[str, object]:
    """Everything below the folder that a run could change."""
    return {
        str(path.relative_to(folder)): (
            stat.st_mode,
            stat.st_ino,
            stat.st_mtime_ns,
            path.read_bytes() if path.is_file() else None,
        )
        for path in sorted(folder.rglob("*"))
        for stat in [path.lstat()]
    }


def files(folder: Path) -> dict[str, str]:
    """The text of each file below the folder, hidden ones too."""
    return {str(path.relative_to(folder)): _text(path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def refused(outcome: Outcome, *words: str) -> None:
    """Exit status 2, nothing on stdout, one line on stderr that holds the words."""
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("musa-port: ")
    assert outcome.err.count("\n") == 1
    for word in words:
        assert word in outcome.err


# ---- exit codes and streams -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "options", "code"),
    [
        (CLEAN, [], 0),
        ("__device__ int f() { return threadIdx.x & 31; }\n", [], 0),  # a warning
        (ERROR, [], 1),
        ("void f() { cusolverDnCreateSyevjInfo(0); }\n", [], 1),
        (CLEAN, ["--no-default-map"], 0),
    ],
)
def test_exit_code(cli: Cli, tmp_path: Path, source: str, options: list[str], code: int) -> None:
    src = tree(tmp_path / "src", {"a.cu": source})
    outcome = cli(src, "-o", tmp_path / "out", *options)
    assert outcome.code == code
    assert outcome.out.splitlines()[-1].startswith("ported ")
    assert outcome.err == ""


@pytest.mark.parametrize(
    ("sources", "options", "code"),
    [
        ({"a.cu": CLEAN}, [], 1),
        ({"a.cu": NOTHING}, [], 1),  # it would be renamed
        ({"a.cu": NOTHING}, ["--keep-ext"], 0),
        ({"a.h": CLEAN}, [], 1),
        ({"a.h": NOTHING, "b.mu": CLEAN_PORTED, "c.txt": CLEAN}, [], 0),
        ({"a.h": ERROR}, [], 1),
        ({}, [], 0),
    ],
)
def test_exit_code_of_check(cli: Cli, tmp_path: Path, sources: dict[str, str], options: list[str], code: int) -> None:
    (tmp_path / "src").mkdir()
    src = tree(tmp_path / "src", sources)
    assert cli(src, "--check", *options).code == code


def test_check_lists_what_would_change(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    src = tree(tmp_path / "src", {"a.cu": CLEAN, "b.h": CLEAN, "c.h": NOTHING, "d.cu": NOTHING, "e.txt": CLEAN})
    lines = cli(src, "--check").out.splitlines()
    assert [line for line in lines if line.startswith("would port ")][:3] == [
        "would port a.cu as a.mu",
        "would port b.h",
        "would port d.cu as d.mu",
    ]


@pytest.mark.parametrize("option", ["--diff", "--list-names"])
def test_exit_code_when_nothing_is_written(cli: Cli, tmp_path: Path, option: str) -> None:
    assert cli(tree(tmp_path / "good", {"a.cu": CLEAN}), option).code == 0
    assert cli(tree(tmp_path / "bad", {"a.cu": ERROR}), option).code == 1


def test_process(tmp_path: Path) -> None:
    """What the other tests see in this process is what a shell sees."""
    tree(tmp_path, {"good/a.cu": CLEAN, "bad/a.cu": ERROR})
    good = process("good", "-o", "out", cwd=tmp_path)
    assert (good.code, good.err) == (0, "")
    bad = process("bad", "-o", "out2", cwd=tmp_path)
    assert (bad.code, bad.err) == (1, "")
    missing = process("no", "-o", "out3", cwd=tmp_path)
    assert (missing.code, missing.out) == (2, "")
    assert missing.err.count("\n") == 1
    assert sorted(files(tmp_path)) == ["bad/a.cu", "good/a.cu", "out/a.mu", "out2/a.mu"]


def test_quiet(cli: Cli, tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {"a.cu": ERROR})
    outcome = cli(src, "-o", tmp_path / "out", "-q")
    assert (outcome.code, outcome.out) == (1, "")
    assert re.fullmatch(r"musa-port: 1 error to mend by hand, first a\.cu:\d+:\d+: .+ \[\w+\]\n", outcome.err)
    clean = tree(tmp_path / "clean", {"a.cu": CLEAN, "b.h": NOTHING})
    assert cli(clean, "-o", tmp_path / "out2", "-q") == Outcome(0, "", "")
    assert cli(clean, "--check", "-q") == Outcome(1, "", "musa-port: 1 file would change\n")
    refused(cli(tmp_path / "no", "-o", tmp_path / "out", "-q"))


def test_version_and_help(cli: Cli) -> None:
    assert cli("--version") == Outcome(0, f"musa-port, version {__version__}\n", "")
    for option in ("-h", "--help"):
        outcome = cli(option)
        assert outcome.code == 0
        assert "--in-place" in outcome.out


def test_list_names(cli: Cli, tmp_path: Path) -> None:
    src = tree(
        tmp_path / "src",
        {
            "a.cu": "void f() { cudaFree(a); cudaFree(b); cusolverDnCreateSyevjInfo(0); }\n",
            "b.cu": "void g() { cudaFree(c); // cudaMalloc\n }\n",
        },
    )
    outcome = cli(src, "--list-names")
    assert outcome.out == (
        "name\tuses\tfiles\tstatus\ncudaFree\t3\t2\thigh\ncusolverDnCreateSyevjInfo\t1\t1\tunsupported\n"
    )
    assert outcome.err == ""


@pytest.mark.parametrize("name", ["json", "sarif"])
def test_format_on_stdout(cli: Cli, tmp_path: Path, name: str) -> None:
    src = tree(tmp_path / "src", {"a.cu": CLEAN})
    outcome = cli(src, "--check", "--format", name)
    assert isinstance(json.loads(outcome.out), dict)
    assert outcome.err == ""


def test_reports(cli: Cli, tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {"a.cu": CLEAN})
    outcome = cli(src, "-o", tmp_path / "out", "--report", tmp_path / "r.json", "--report", tmp_path / "r.html")
    assert outcome.code == 0
    report = json.loads((tmp_path / "r.json").read_text())
    assert [(file["path"], file["output_path"], file["edit_count"]) for file in report["files"]] == [
        ("a.cu", "a.mu", 1)
    ]
    assert [edit["new"] for edit in report["files"][0]["edits"]] == ["musaFree"]
    assert (tmp_path / "r.html").read_text().startswith("<!")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "r.html", "r.json", "src"]


# ---- wrong use --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--nonsense"],
        ["-o", "out"],
        ["src", "more", "-o", "out"],
        ["src", "-o"],
        ["src", "-o", "out", "--format", "pdf"],
        ["src", "-o", "out", "--guards", "x"],
        ["src", "-o", "out", "--ptx", "x"],
        ["src", "-o", "out", "--min-confidence", "none"],
        ["src", "-o", "out", "--only", "cpp,rust"],
        ["src", "-o", "out", "--arch", "mp_99"],
        ["src", "-o", "out", "--jobs", "-1"],
        ["src", "-o", "out", "--jobs", "many"],
        ["src", "-o", "out", "--cuda-version", "12"],
        ["src", "-o", "out", "--max-file-size", "0"],
    ],
)
def test_wrong_option(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    tree(tmp_path / "src", {"a.cu": CLEAN})
    monkeypatch.chdir(tmp_path)
    outcome = cli(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.splitlines()[-1].startswith("Error: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["-o OUT", "--in-place"]),
        (["-o", "out", "--diff"], ["--diff", "-o"]),
        (["-o", "out", "--check"], ["--check", "-o"]),
        (["-o", "out", "--in-place"], ["--in-place", "-o"]),
        (["-o", "out", "--list-names"], ["--list-names", "-o"]),
        (["--diff", "--check"], ["--diff", "--check"]),
        (["--in-place", "--diff"], ["--in-place", "--diff"]),
        (["--check", "--state", "s"], ["--state", "-o"]),
        (["--in-place", "--state", "s"], ["--state", "-o"]),
    ],
)
def test_wrong_combination(cli: Cli, tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    src = tree(tmp_path / "src", {"a.cu": CLEAN})
    before = snapshot(tmp_path)
    refused(cli(src, *arguments), *words)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("source", "output", "word"),
    [
        ("no", "out", "no such file"),
        ("no/such/thing", "out", "no such file"),
        ("src/a.cu/b", "out", "no such file"),
        ("dangling", "out", "no such file"),
        ("loop", "out", "no such file"),
        ("n" * 300, "out", "n" * 300),
        ("src", "src", "inside the source"),
        ("src", "src/out", "inside the source"),
        ("src", "src/sub/../out", "inside the source"),
        ("src", "to-src/out", "inside the source"),
        ("to-src", "src/out", "inside the source"),
        ("src/sub", "src", "inside the output"),
        ("src/sub", ".", "inside the output"),
        ("src/a.h", "src", "inside the source"),  # it would replace src/a.h
        ("src", "file", "is a file"),
        ("src", "file/out", "file/out"),
        ("src", "dangling", "dangling"),
        ("src", "n" * 300, "n" * 300),
    ],
)
def test_wrong_path(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, output: str, word: str
) -> None:
    tree(tmp_path, {"src/a.cu": CLEAN, "src/a.h": CLEAN, "src/sub/b.cu": CLEAN, "file": "x"})
    (tmp_path / "to-src").symlink_to("src")
    (tmp_path / "dangling").symlink_to("no")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    before = snapshot(tmp_path)
    refused(cli(source, "-o", output), word)
    assert snapshot(tmp_path) == before


def test_one_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"src/a.cu": CLEAN, "src/b.cu": CLEAN})
    monkeypatch.chdir(tmp_path)
    assert cli("src/a.cu", "-o", "out").code == 0
    assert files(tmp_path / "out") == {"a.mu": CLEAN_PORTED}
    assert cli("src/a.cu", "--check").code == 1


def test_one_file_into_a_folder_beside_it(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`musa-port a.cu -o out` in the file's folder: out is not inside the source, for that is the file."""
    tree(tmp_path, {"a.cu": CLEAN, "b.cu": CLEAN})
    monkeypatch.chdir(tmp_path)
    assert cli("a.cu", "-o", "out").code == 0
    assert files(tmp_path) == {"a.cu": CLEAN, "b.cu": CLEAN, "out/a.mu": CLEAN_PORTED}


@pytest.mark.parametrize("pattern", ["!", "a/**b/[", "\\"])
@pytest.mark.parametrize("option", ["--include", "--exclude"])
def test_odd_pattern(cli: Cli, tmp_path: Path, option: str, pattern: str) -> None:
    """Not every odd pattern is wrong, but none is a traceback."""
    src = tree(tmp_path / "src", {"a.cu": CLEAN})
    outcome = cli(src, "-o", tmp_path / "out", option, pattern)
    if outcome.code:
        refused(outcome, option)


def test_in_place_without_git(cli: Cli, tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {"a.cu": CLEAN})
    before = snapshot(src)
    refused(cli(src, "--in-place"), "--in-place", "--force")
    assert snapshot(src) == before


@pytest.mark.parametrize(
    ("report", "word"), [("r.unknown", "r.unknown"), ("no/folder/r.json", "r.json"), ("src", "src"), ("r", "r")]
)
def test_wrong_report(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: str, word: str) -> None:
    """Said before the work, not after it."""
    tree(tmp_path, {"src/a.cu": CLEAN})
    monkeypatch.chdir(tmp_path)
    outcome = cli("src", "-o", "out", "--report", report, "-q")
    refused(outcome, word)
    assert files(tmp_path) == {"src/a.cu": CLEAN}


# ---- map files --------------------------------------------------------------------------------------------------

MAPS: list[tuple[str, bytes, list[str]]] = [
    ("m.json", b"", ["m.json:1", "JSON"]),
    ("m.json", b'{\n"cudaFree": "musaFree",\n}', ["m.json:3", "JSON"]),
    ("m.json", b'["cudaFree"]', ["m.json", "object", "list"]),
    ("m.json", b'"cudaFree"', ["m.json", "object"]),
    ("m.json", b'{"cudaFree": 1}', ["m.json", "cudaFree", "1"]),
    ("m.json", b'{"cudaFree": ["a"]}', ["m.json", "cudaFree"]),
    ("m.json", b'{"cudaFree": ""}', ["m.json", "cudaFree"]),
    ("m.json", b'{"cudaFree": "two words"}', ["m.json", "two words"]),
    ("m.json", b'{"cuda-Free": "musaFree"}', ["m.json", "cuda-Free"]),
    ("m.json", b'{"": "musaFree"}', ["m.json"]),
    ("m.json", b'{"cudaFree": "a();"}', ["m.json", "a();"]),
    ("m.json", b'{"cudaFree": "a\\nb"}', ["m.json"]),
    ("m.json", b'{"cudaFree": "\xff"}', ["m.json"]),
    ("m.json", b"[" * 100_000, ["m.json"]),
    ("m.json", b"\0\1\2", ["m.json"]),
    ("m.csv", b"", ["m.csv", "cuda_name", "musa_name"]),
    ("m.csv", b"cuda,musa\na,b\n", ["m.csv", "cuda_name", "musa_name"]),
    ("m.csv", b"cuda_name,musa_name\na,b,c\n", ["m.csv:2"]),
    ("m.csv", b"cuda_name,musa_name\na,b\n,c\n", ["m.csv:3"]),
    ("m.csv", b"cuda_name,musa_name,confidence\na,b,sure\n", ["m.csv:2", "sure", "high"]),
    ("m.csv", b"cuda_name,musa_name\na b,c\n", ["m.csv", "a b"]),
    ("m.csv", b'cuda_name,musa_name\n"a' + b"x" * 200_000, ["m.csv"]),
    ("m.csv", b"cuda_name,musa_name\n\xff,b\n", ["m.csv"]),
]


@pytest.mark.parametrize(("name", "content", "words"), MAPS)
def test_malformed_map(cli: Cli, tmp_path: Path, name: str, content: bytes, words: list[str]) -> None:
    src = tree(tmp_path / "src", {"a.cu": CLEAN})
    tree(tmp_path, {name: content})
    refused(cli(src, "-o", tmp_path / "out", "--map", tmp_path / name), "--map", *words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--map", "--arch-map"])
@pytest.mark.parametrize("name", ["missing.json", "folder"])
def test_map_that_cannot_be_read(cli: Cli, tmp_path: Path, option: str, name: str) -> None:
    src = tree(tmp_path / "src", {"a.cu": CLEAN})
    (tmp_path / "folder").mkdir()
    refused(cli(src, "-o", tmp_path / "out", option, tmp_path / name), option, name)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_malformed_map_in_a_process(tmp_path: Path, jobs: int) -> None:
    """The message is the same with worker processes, which read the map too."""
    tree(tmp_path, {"src/a.cu": CLEAN, "m.json": '{"a": 1}'})
    refused(process("src", "-o", "out", "--map", "m.json", "--jobs", jobs, cwd=tmp_path), "m.json", "'a'")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.json", '{"cudaFree": "myFree", "cudaMalloc": null}'),
        ("m.csv", "cuda_name,musa_name\ncudaFree,myFree\ncudaMalloc,cudaMalloc\n"),
        ("m.csv", "note,musa_name,cuda_name\r\nx,myFree,cudaFree\r\ny,cudaMalloc,cudaMalloc\r\n"),
        ("m.CSV", "cuda_name,musa_name,confidence\ncudaFree,myFree,medium\ncudaMalloc,cudaMalloc,high\n"),
        ("m.json", '\ufeff{"cudaFree": "myFree", "cudaMalloc": null}'),  # as some editors save it
        ("m.csv", "\ufeffcuda_name,musa_name\ncudaFree,myFree\ncudaMalloc,cudaMalloc\n"),  # as Excel saves it
    ],
)
def test_map(cli: Cli, tmp_path: Path, name: str, content: str) -> None:
    src = tree(tmp_path / "src", {"a.h": "void f() { cudaFree(a); cudaMalloc(b); cudaMemset(c); }\n"})
    tree(tmp_path, {name: content})
    assert cli(src, "-o", tmp_path / "out", "--map", tmp_path / name).code == 0
    assert files(tmp_path / "out") == {"a.h": "void f() { myFree(a); cudaMalloc(b); musaMemset(c); }\n"}


def test_later_map_wins(cli: Cli, tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {"a.h": CLEAN})
    tree(tmp_path, {"1.json": '{"cudaFree": "one"}', "2.json": '{"cudaFree": "two"}'})
    cli(src, "-o", tmp_path / "out", "--map", tmp_path / "1.json", "--map", tmp_path / "2.json")
    assert files(tmp_path / "out") == {"a.h": CLEAN.replace("cudaFree", "two")}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["cuda,musa"]),
        ("cuda,musa\n", ["cuda,musa"]),
        ("900,310\n800\n", ["arch.csv:2", "800"]),
        ("900,310\nx,220\n", ["arch.csv:2", "x,220"]),
        ("900,310,1\n", ["arch.csv:1"]),
        ("900,mp_31\n", ["arch.csv:1", "mp_31"]),
        ("-900,310\n800,220\n-1,2\n", ["arch.csv:"]),
        ("\u00b2,310\n", ["arch.csv"]),
        (b"\xff\xfe9\x000\x000\x00", ["arch.csv"]),
    ],
)
def test_malformed_arch_map(cli: Cli, tmp_path: Path, content: str | bytes, words: list[str]) -> None:
    src = tree(tmp_path / "src", {"a.cu": CLEAN})
    tree(tmp_path, {"arch.csv": content})
    refused(cli(src, "-o", tmp_path / "out", "--arch-map", tmp_path / "arch.csv"), "--arch-map", *words)
    assert not (tmp_path / "out").exists()


def test_arch_map(cli: Cli, tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {"a.h": "#if __CUDA_ARCH__ >= 900\nint f();\n#endif\n"})
    tree(tmp_path, {"arch.csv": "cuda,musa\n# ours\n800,220\n900,222\n"})
    cli(src, "-o", tmp_path / "out", "--arch-map", tmp_path / "arch.csv")
    assert files(tmp_path / "out") == {"a.h": "#if __MUSA_ARCH__ >= 222\nint f();\n#endif\n"}


# ---- files that cannot be ported --------------------------------------------------------------------------------

BAD_SOURCES = {
    "elf.cu": b"\x7fELF\x02\x01\x01\0cudaFree\xff",
    "le.cu": CLEAN.encode("utf-16"),
    "be.cu": b"\xfe\xff" + CLEAN.encode("utf-16-be"),
    "nomark.cuh": CLEAN.encode("utf-16-le"),
}


@pytest.mark.parametrize("name", BAD_SOURCES)
def test_no_text(cli: Cli, tmp_path: Path, name: str) -> None:
    src = tree(tmp_path / "src", {name: BAD_SOURCES[name], "good.cu": CLEAN})
    outcome = cli(src, "-o", tmp_path / "out")
    assert outcome.code == 0
    assert f"{name} is " in outcome.out
    assert ("[F13 other-encoding]" if name in ("le.cu", "be.cu") else "[F5 binary-file]") in outcome.out
    assert outcome.err == ""
    assert (tmp_path / "out" / name).read_bytes() == BAD_SOURCES[name]
    assert (tmp_path / "out" / "good.mu").read_text() == CLEAN_PORTED


def test_large_file(cli: Cli, tmp_path: Path) -> None:
    """50 MB of source is copied, not parsed; the limit is an option."""
    line = b"void f(void* p) { cudaFree(p); }\n"
    large = line * (50_000_000 // len(line) + 1)
    src = tree(tmp_path / "src", {"large.cu": large, "small.cu": CLEAN})
    outcome = cli(src, "-o", tmp_path / "out")
    assert outcome.code == 0
    assert "large.cu larger than 8,000,000 bytes" in outcome.out
    assert "[F6 too-large]" in outcome.out
    assert (tmp_path / "out/large.cu").read_bytes() == large
    assert (tmp_path / "out/small.mu").read_text() == CLEAN_PORTED


def test_large_file_takes_little_memory(tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {"small.cu": CLEAN})
    with (src / "large.cu").open("wb") as file:
        file.truncate(2_000_000_000)
    limit = 1_500_000_000
    done = subprocess.run(
        _command(src, "--check"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr == b""
    assert b"[F6 too-large]" in done.stdout


def test_fifo_is_not_opened(cli: Cli, tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {"good.cu": CLEAN, "folder.cu/inner.cu": CLEAN})
    os.mkfifo(src / "pipe.cu")
    outcome = cli(src, "-o", tmp_path / "out")
    assert outcome.code == 0
    assert "is no regular file  pipe.cu" in outcome.out
    assert files(tmp_path / "out") == {"good.mu": CLEAN_PORTED, "folder.cu/inner.mu": CLEAN_PORTED}


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files called bad.* cannot be opened. Permissions would not do: root may read everything."""

    def guard(original: Any) -> Any:
        def opened(path: Path, *arguments: Any, **options: Any) -> Any:
            if path.name.startswith("bad."):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return original(path, *arguments, **options)

        return opened

    for name in ("open", "read_bytes"):
        monkeypatch.setattr(Path, name, guard(getattr(Path, name)))


@pytest.mark.usefixtures("unreadable")
@pytest.mark.parametrize("mode", ["-o", "--check", "--diff"])
def test_unreadable_file(cli: Cli, tmp_path: Path, mode: str) -> None:
    src = tree(tmp_path / "src", {"good.cu": CLEAN})
    with open(src / "bad.cu", "w") as file:
        file.write(CLEAN)
    out = tmp_path / "out"
    outcome = cli(src, *([mode, out] if mode == "-o" else [mode]))
    assert outcome.code == 2  # docs/cli.md: an unreadable file
    assert "bad.cu" in outcome.out + outcome.err
    if mode == "-o":
        assert files(out) == {"good.mu": CLEAN_PORTED}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_unreadable_folder(cli: Cli, tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {"closed/a.cu": CLEAN})
    (src / "closed").chmod(0)
    try:
        refused(cli(src, "-o", tmp_path / "out"), "closed", "Permission denied")
    finally:
        (src / "closed").chmod(0o755)


# ---- outputs that cannot be written -----------------------------------------------------------------------------

BIG = "void f(void* p) { cudaFree(p); }\n" * 10_000


def limited(arguments: Sequence[object], largest: int, cwd: Path) -> Outcome:
    """The command on a disk that is full when a file reaches `largest` bytes."""
    done = subprocess.run(
        _command(*arguments),
        cwd=cwd,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(cwd / "tmp")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)),
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Outcome(done.returncode, _text(done.stdout), _text(done.stderr))


@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_full_disk(tmp_path: Path, jobs: int, old: str | None) -> None:
    """Each file is whole, or as it was: no part of a file, no temporary file."""
    tree(tmp_path, {"src/big.cu": BIG, "src/big.txt": BIG, "src/small.cu": CLEAN, "tmp/keep": ""})
    if old:
        tree(tmp_path / "out", {"big.mu": old, "big.txt": old})
    outcome = limited(["src", "-o", "out", "--jobs", jobs], 100_000, tmp_path)
    assert outcome.code == 2  # docs/cli.md: an output that cannot be written
    assert "big.cu" in outcome.out + outcome.err
    assert "big.txt" in outcome.out + outcome.err
    assert "Traceback" not in outcome.err
    assert files(tmp_path / "out") == {"small.mu": CLEAN_PORTED} | ({"big.mu": old, "big.txt": old} if old else {})
    assert files(tmp_path / "tmp") == {"keep": ""}


def test_full_disk_for_temporary_files(tmp_path: Path) -> None:
    tree(tmp_path, {"src/a.cu": CLEAN, "tmp/keep": ""})
    refused(limited(["src", "-o", "out"], 50, tmp_path), "File too large")
    assert files(tmp_path) == {"src/a.cu": CLEAN, "tmp/keep": ""}


def test_full_disk_for_report_and_state(tmp_path: Path) -> None:
    sources = {f"src/{number}.cu": CLEAN for number in range(40)}
    tree(tmp_path, {**sources, "tmp/keep": "", "r.json": "old", "s.json": "{}"})
    (tmp_path / "s.json").unlink()
    for option, name in (("--report", "r.json"), ("--state", "s.json")):
        outcome = limited(["src", "-o", "out", "-q", option, name], 3_000, tmp_path)
        refused(outcome, name, "File too large")
    assert (tmp_path / "r.json").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "r.json", "src", "tmp"]


@pytest.mark.parametrize(
    ("function", "code"),
    [("os.replace", errno.ENOSPC), ("tempfile.mkstemp", errno.EROFS), ("shutil.copymode", errno.EACCES)],
)
def test_failing_write(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, code: int) -> None:
    """A full disk, a read-only file system, a folder without permission."""
    src = tree(tmp_path / "src", {"a.cu": CLEAN, "a.txt": "text"})
    out = tree(tmp_path / "out", {"a.mu": "old", "a.txt": "older"})

    def fail(*arguments: object, **options: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(f"musa_port.write.{function}", fail)
        outcome = cli(src, "-o", out)
    assert outcome.code == 2
    assert os.strerror(code) in outcome.out + outcome.err
    assert files(out)["a.mu"] == "old"
    assert sorted(files(out)) == ["a.mu", "a.txt"]


def test_folder_where_a_file_or_link_goes(cli: Cli, tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {"a.cu": CLEAN, "b.txt": "text"})
    (src / "link").symlink_to("b.txt")
    out = tree(tmp_path / "out", {"a.mu/x": "1", "b.txt/x": "2", "link/x": "3"})
    before = snapshot(out)
    outcome = cli(src, "-o", out)
    assert outcome.code == 2
    assert "3 files failed" in outcome.out
    assert {path: entry for path, entry in snapshot(out).items() if "/" in path} == {
        path: entry for path, entry in before.items() if "/" in path
    }
    assert sorted(path.name for path in out.iterdir()) == ["a.mu", "b.txt", "link"]


# ---- interruption, pipes, terminals -----------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupt(tmp_path: Path, jobs: int) -> None:
    """Ctrl-C: no traceback, no temporary files, whole files only, and no exit status that means something else."""
    source = "void f(void* p) { cudaFree(p); }\n" * 600
    src = tree(tmp_path / "src", {f"{number}.cu": source for number in range(200)})
    out, temporary = tmp_path / "out", tree(tmp_path / "tmp", {"keep": ""})
    child = subprocess.Popen(
        _command(src, "-o", out, "--jobs", jobs),
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not any(out.glob("*.mu")) and child.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    os.killpg(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=30)
    written = files(out)
    if len(written) == 200:
        pytest.skip("the run was over before the signal")
    assert set(written.values()) <= {source.replace("cuda", "musa")}
    assert all(path.endswith(".mu") for path in written)
    assert files(temporary) == {"keep": ""}
    assert "Traceback" not in _text(err)
    assert child.returncode not in (0, 1)


def test_interrupt_while_a_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from musa_port import write

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    tree(tmp_path, {"a.mu": "old", "b.txt": "text"})
    (tmp_path / "link").symlink_to("b.txt")
    before = snapshot(tmp_path)
    monkeypatch.setattr("musa_port.write.os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write.write_bytes(tmp_path / "a.mu", b"new")
    with pytest.raises(KeyboardInterrupt):
        write.copy_file(tmp_path / "b.txt", tmp_path / "c.txt")
    with pytest.raises(KeyboardInterrupt):
        write.make_link("b.txt", tmp_path / "link2")
    assert snapshot(tmp_path) == before


def test_closed_pipe(tmp_path: Path) -> None:
    """`musa-port src --diff | head`."""
    src = tree(tmp_path / "src", {"a.cu": "void f(void* p) { cudaFree(p); }\n" * 20_000})
    child = subprocess.Popen(_command(src, "--diff"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.read(1)
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    child.wait(timeout=30)


def on_terminal(arguments: Sequence[object]) -> str:
    """What the command writes to stderr when that is a terminal."""
    master, slave = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "CI")}
    with subprocess.Popen(
        _command(*arguments), stdout=subprocess.PIPE, stderr=slave, env=environment | {"TERM": "xterm"}
    ) as child:
        os.close(slave)
        chunks = []
        try:
            while chunk := os.read(master, 65536):
                chunks.append(chunk)
        except OSError:  # what Linux says when the other end is closed
            pass
        os.close(master)
        assert child.wait(timeout=30) == 0
    return _text(b"".join(chunks))


def test_progress_on_a_terminal_only(tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {f"{number}.cu": CLEAN for number in range(5)})
    shown = on_terminal([src, "-o", tmp_path / "out"])
    assert "scan" in shown
    assert "port" in shown
    assert on_terminal([src, "-o", tmp_path / "quiet", "-q"]) == ""
    assert process(src, "-o", tmp_path / "piped").err == ""
    assert files(tmp_path / "out") == files(tmp_path / "piped") == files(tmp_path / "quiet")


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_names_that_are_no_text(tmp_path: Path, locale: str) -> None:
    """A file name that is no UTF-8 can be printed in every format."""
    src = tmp_path / "src"
    src.mkdir()
    (src / os.fsdecode(b"\xff.cu")).write_text(ERROR)
    (src / "\u4e2d.cu").write_text(ERROR)
    for arguments in (["--check"], ["--check", "--format", "json"], ["--diff"], ["-o", tmp_path / "out"]):
        outcome = process(src, *arguments, LC_ALL=locale, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        assert outcome.code == 1
        assert outcome.err == ""
    assert sorted(os.listdir(os.fsencode(tmp_path / "out"))) == ["\u4e2d.mu".encode(), b"\xff.mu"]


# ---- modes that write nothing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--check", "--diff", "--list-names"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_nothing_is_written(tmp_path: Path, option: str, jobs: int, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    tree(tmp_path, {"src/a.cu": CLEAN, "src/b.h": ERROR, "src/c.txt": "text", "tmp/keep": ""})
    (tmp_path / "src/link.cu").symlink_to("a.cu")
    monkeypatch.chdir(tmp_path)
    before = snapshot(tmp_path)
    if jobs == 1:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
        outcome = cli("src", option)
    else:
        outcome = process("src", option, "--jobs", jobs, cwd=tmp_path, TMPDIR=str(tmp_path / "tmp"))
    assert outcome.code == 1
    after = snapshot(tmp_path)
    del before["tmp"], after["tmp"]  # the folder's own time: temporary files came and went
    assert after == before


# ---- explain ----------------------------------------------------------------------------------------------------


def test_explain(cli: Cli) -> None:
    by_id, by_name = cli("explain", "C20"), cli("explain", "arch-guard")
    assert by_id == by_name
    assert by_id.code == 0
    assert by_id.out.startswith("C20 arch-guard (warning)\n")
    assert "Before:\n    #if __CUDA_ARCH__ >= 800\nAfter:\n    #if __MUSA_ARCH__ >= 220\n" in by_id.out


def test_explain_lists_the_rules(cli: Cli) -> None:
    outcome = cli("explain")
    assert outcome.code == 0
    ids = [line.split()[0] for line in outcome.out.splitlines()]
    assert len(ids) > 30
    assert ids == sorted(ids, key=lambda rule: (rule[0], int(rule[1:])))


@pytest.mark.parametrize("rule", ["C999", "no-such-rule", "c20x", ""])
def test_explain_unknown_rule(cli: Cli, rule: str) -> None:
    outcome = cli("explain", rule)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert repr(rule) in outcome.err
