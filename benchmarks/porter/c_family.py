"""What bench.py measures on C-family sources: one process beside other ways to port, processes, the size of a tree."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.porter import tables
from benchmarks.porter.measure import chill, interleaved, peak_memory, seconds, warm
from benchmarks.porter.tables import Table
from musa_port.options import C_FAMILY_SUFFIXES

PEERS = Path(__file__).with_name("peers.py")


@dataclass
class Bench:
    """Where the sources lie, where output may go, and how often to repeat."""

    data: Path
    torchada: Path
    work: Path
    repeats: int

    @property
    def headers(self) -> Path:
        return self.data / "include" / "flashinfer"

    @property
    def output(self) -> Path:
        return self.work / "output"

    def port(self, source: Path, jobs: int) -> list[str]:
        return [sys.executable, "-m", "musa_port", str(source), "-o", str(self.output), "--jobs", str(jobs), "--quiet"]

    def peer(self, way: str, source: Path) -> list[str]:
        return [sys.executable, str(PEERS), way, str(source), str(self.output), str(self.torchada)]

    def clear(self) -> None:
        shutil.rmtree(self.output, ignore_errors=True)


def one_process(bench: Bench) -> Table:
    """One process on the headers of flashinfer, beside the peers."""
    source = bench.headers
    size, files = sources(source)
    warm(source)
    ways = {
        "musa-port": bench.port(source, 1),
        "torchada": bench.peer("torchada", source),
        "trie": bench.peer("trie", source),
    }
    times = interleaved(ways, bench.repeats, bench.clear)
    bench.clear()
    chill(source)
    cold = seconds(ways["musa-port"])
    names = {
        "musa-port": "musa-port",
        "torchada": "torchada 0.1.103, its own porter and rules",
        "trie": "one substitution of all names (trie, as hipify_torch)",
    }
    rows: list[Sequence[str]] = [
        (names[way], tables.time(taken), tables.speed(size, taken), tables.ratio(taken / times["musa-port"]))
        for way, taken in times.items()
    ]
    rows.append(
        (
            "musa-port, sources not in the page cache (one run)",
            tables.time(cold),
            tables.speed(size, cold),
            tables.ratio(cold / times["musa-port"]),
        )
    )
    text = (
        f"The headers of flashinfer ({files} files, {size / 1e6:.1f} MB), one process, sources in the page cache, "
        f"medians of {bench.repeats} interleaved runs. torchada replaces substrings line by line and the trie replaces "
        "words; neither parses, looks for declarations or reports anything."
    )
    return Table("Speed of one process", text, ("", "time", "MB/s", "time, relative"), rows)


def processes(bench: Bench) -> Table:
    """One and two processes, time and memory."""
    rows: list[Sequence[str]] = []
    for source in (bench.headers, bench.data / "cutlass", bench.data / "cccl"):
        size, files = sources(source)
        title = f"{source.relative_to(bench.data)} ({files:,} files, {size / 1e6:.1f} MB)"
        warm(source)
        times = interleaved({str(jobs): bench.port(source, jobs) for jobs in (1, 2)}, bench.repeats, bench.clear)
        for jobs in (1, 2):
            bench.clear()
            memory = tables.memory(peak_memory(bench.port(source, jobs)))
            taken = times[str(jobs)]
            gain = tables.ratio(times["1"] / taken)
            rows.append((title, str(jobs), tables.time(taken), tables.speed(size, taken), gain, memory))
    text = (
        f"Parts of flashinfer, sources in the page cache, medians of {bench.repeats} interleaved runs. Memory: the "
        "largest sum over all processes, in a run of its own."
    )
    return Table("Processes", text, ("tree", "processes", "time", "MB/s", "speed-up", "peak memory"), rows)


def scale(bench: Bench) -> Table:
    """The cutlass headers of flashinfer once, five and 22 times: up to 20,000 sources."""
    tree = bench.work / "tree"
    rows: list[Sequence[str]] = []
    first = 0.0
    copies = 0
    for wanted in (1, 5, 22):
        for copy in range(copies, wanted):
            shutil.copytree(bench.data / "cutlass", tree / f"copy{copy}", copy_function=os.link)
        copies = wanted
        size, files = sources(tree)
        bench.clear()
        warm(tree)
        started = time.perf_counter()
        memory = tables.memory(peak_memory(bench.port(tree, 2)))
        taken = time.perf_counter() - started
        first = first or taken / size
        growth = tables.ratio(taken / size / first)
        row = (f"{files:,}", f"{size / 1e6:,.0f}", tables.time(taken), tables.speed(size, taken), growth, memory)
        rows.append(row)
    bench.clear()
    text = (
        "The cutlass headers of flashinfer and copies of them side by side in one tree, two processes, one run each, "
        "sources in the page cache (the copies are hard links). Memory is read while the time is taken."
    )
    return Table(
        "Size of the tree", text, ("sources", "MB", "time", "MB/s", "time per MB, relative", "peak memory"), rows
    )


def sources(tree: Path) -> tuple[int, int]:
    """Bytes and number of the C-family sources in a tree."""
    sizes = [path.stat().st_size for path in tree.rglob("*") if path.suffix in C_FAMILY_SUFFIXES and path.is_file()]
    return sum(sizes), len(sizes)
