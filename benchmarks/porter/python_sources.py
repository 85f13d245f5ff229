"""What bench.py measures on Python: files that need rewriting, files without CUDA, and a whole package."""

from __future__ import annotations

import re
import shutil
import statistics
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.porter import tables
from benchmarks.porter.measure import interleaved, peak_memory, warm
from benchmarks.porter.tables import Table
from musa_port import languages

PEERS = Path(__file__).with_name("python_peers.py")
_CUDA = re.compile(
    rb"cu(da|dnn|blas|fft|py|tlass)|nccl|nv(cc|idia|ml|tx|rtc|shmem)|triton|tile_?lang|autocast|\.cuh?\b", re.I
)
_NAMES = {
    "musa-port": "musa-port",
    "rename": "libcst's RenameCommand, `torch.cuda` to `torch.musa` only",
    "parse": "libcst, parsing and writing only",
    "words": "one regular expression for the word `cuda`",
    "copy": "reading and writing only",
}


@dataclass
class Bench:
    """The packages to port, where output may go, and how often to repeat."""

    accelerate: Path
    lightning: Path
    torchmetrics: Path
    work: Path
    repeats: int

    @property
    def output(self) -> Path:
        return self.work / "output"

    def port(self, source: Path, jobs: int) -> list[str]:
        return [sys.executable, "-m", "musa_port", str(source), "-o", str(self.output), "--jobs", str(jobs), "--quiet"]

    def ways(self, source: Path, peers: Iterable[str]) -> dict[str, list[str]]:
        """musa-port in one process, and peers, on the same tree."""
        commands = {way: [sys.executable, str(PEERS), way, str(source), str(self.output)] for way in peers}
        return {"musa-port": self.port(source, 1), **commands}

    def clear(self) -> None:
        shutil.rmtree(self.output, ignore_errors=True)


def rewriting(bench: Bench) -> Table:
    """One process on files with CUDA words, beside the peers."""
    tree = bench.work / "with-cuda"
    files, size = select((bench.accelerate, bench.lightning), tree, with_cuda=True)
    text = (
        f"The Python files of accelerate and lightning with a word of CUDA ({files} files, {size / 1e6:.1f} MB), one "
        f"process, sources in the page cache, medians of {bench.repeats} interleaved runs. RenameCommand does one "
        "rewrite, which needs imports and scopes to be understood as those of musa-port do, and parses only the files "
        "that name `torch.cuda`; the regular expression changes comments and texts too. Neither reports anything."
    )
    rows = _compared(bench, tree, ("rename", "parse", "words"))
    return Table("Python files that need rewriting", text, _HEADER, rows)


def skipping(bench: Bench) -> Table:
    """One process on files without CUDA words."""
    tree = bench.work / "without-cuda"
    library = Path(sysconfig.get_path("stdlib"))
    files, size = select((library, bench.torchmetrics), tree, with_cuda=False)
    text = (
        f"The Python files of the standard library and of torchmetrics without a word of CUDA ({files:,} files, "
        f"{size / 1e6:.1f} MB), one process, sources in the page cache, medians of {bench.repeats} interleaved runs. "
        "musa-port reads each file, hashes it, looks for words, does not parse it, and writes it to the output. The "
        "last row is the look for words alone, in memory."
    )
    rows = _compared(bench, tree, ("copy",))
    looked = statistics.median(_looking(tree) for _ in range(bench.repeats))
    rows.append(("looking for words only", tables.time(looked), tables.speed(size, looked), ""))
    return Table("Python files without CUDA", text, _HEADER, rows)


def _looking(tree: Path) -> float:
    """Seconds that the test for words takes on all files."""
    languages.load_all()
    python = languages.of_path("a.py")
    texts = [path.read_bytes() for path in tree.rglob("*.py")]
    started = perf_counter()
    for text in texts:
        languages.is_candidate(text, python)
    return perf_counter() - started


_HEADER = ("", "time", "MB/s", "time, relative")


def _compared(bench: Bench, tree: Path, peers: Sequence[str]) -> list[Sequence[str]]:
    warm(tree)
    _, size = sizes(tree)
    times = interleaved(bench.ways(tree, peers), bench.repeats, bench.clear)
    return [
        (_NAMES[way], tables.time(taken), tables.speed(size, taken), tables.ratio(taken / times["musa-port"]))
        for way, taken in times.items()
    ]


def package(bench: Bench) -> Table:
    """All of lightning with one and two processes."""
    source = bench.lightning
    files, size = sizes(source)
    warm(source)
    commands = {str(jobs): bench.port(source, jobs) for jobs in (1, 2)}
    times = interleaved(commands, bench.repeats, bench.clear)
    rows: list[Sequence[str]] = []
    for jobs, command in commands.items():
        bench.clear()
        taken = times[jobs]
        peak = peak_memory(command)
        gain, memory = tables.ratio(times["1"] / taken), tables.memory(peak)
        rows.append((jobs, tables.time(taken), tables.speed(size, taken), gain, memory))
    bench.clear()
    text = (
        f"All of lightning ({files} Python files, {size / 1e6:.1f} MB), sources in the page cache, medians of "
        f"{bench.repeats} interleaved runs. Memory: the largest sum over all processes, in a run of its own."
    )
    return Table("A whole Python package", text, ("processes", "time", "MB/s", "speed-up", "peak memory"), rows)


def select(packages: Iterable[Path], target: Path, *, with_cuda: bool) -> tuple[int, int]:
    """Copy the Python files with, or without, a word of CUDA. Returns their number and size."""
    for root in packages:
        for path in root.rglob("*.py"):
            if "site-packages" not in path.parts and bool(_CUDA.search(path.read_bytes())) is with_cuda:
                copy = target / root.name / path.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
    return sizes(target)


def sizes(tree: Path) -> tuple[int, int]:
    """Number and bytes of the Python files in a tree."""
    found = [path.stat().st_size for path in tree.rglob("*.py")]
    return len(found), sum(found)
