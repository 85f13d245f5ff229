"""Measures musa-port on published CUDA packages and prints tables (`make bench`).

Everything is measured as a user meets it: a command from its start to its end, interpreter and output included. The
packages are downloaded once into .corpus/. With `--page FILE`, the tables are also written as docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "porter")]

from benchmarks.porter.measure import chill, interleaved, peak_memory, seconds, warm  # noqa: E402
from examples.demo import fetch  # noqa: E402
from musa_port.options import C_FAMILY_SUFFIXES  # noqa: E402

PEERS = Path(__file__).with_name("peers.py")
FLASHINFER = ("flashinfer-python", "0.7.4")
TORCHADA = ("torchada", "0.1.103")


@dataclass
class Table:
    """A heading, a sentence on what was measured, and rows of cells."""

    title: str
    text: str
    header: Sequence[str]
    rows: list[Sequence[str]]


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


def main() -> None:
    """Measure, print, and write the page when asked to."""
    arguments = _parser().parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "porter"), os.environ.get("PYTHONPATH", "")]))
    data = fetch(*FLASHINFER) / "flashinfer" / "data"
    torchada = fetch(*TORCHADA) / "torchada"
    print(f"{machine()}\n")
    tables = []
    with tempfile.TemporaryDirectory(prefix="musa-port-bench-", dir=arguments.work) as work:
        bench = Bench(data, torchada, Path(work), arguments.repeats)
        for measure in [speed, processes, *([] if arguments.quick else [scale])]:
            tables.append(measure(bench))
            print(as_text(tables[-1]), flush=True)
    if arguments.page:
        arguments.page.write_text(page(tables), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure speed and memory of musa-port.")
    parser.add_argument(
        "--repeats", type=int, default=5, help="rounds of interleaved runs; medians are shown (default 5)"
    )
    parser.add_argument("--quick", action="store_true", help="leave the 20,000 files out")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="where output goes meanwhile; needs 2 GB")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the tables as a page, too")
    return parser


# ---- what is measured -------------------------------------------------------------------------------------------


def speed(bench: Bench) -> Table:
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
        (names[way], _time(taken), f"{size / taken / 1e6:.2f}", _ratio(taken / times["musa-port"]))
        for way, taken in times.items()
    ]
    rows.append(
        (
            "musa-port, sources not in the page cache (one run)",
            _time(cold),
            f"{size / cold / 1e6:.2f}",
            _ratio(cold / times["musa-port"]),
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
        warm(source)
        times = interleaved({str(jobs): bench.port(source, jobs) for jobs in (1, 2)}, bench.repeats, bench.clear)
        for jobs in (1, 2):
            bench.clear()
            memory = peak_memory(bench.port(source, jobs))
            taken = times[str(jobs)]
            title = f"{source.relative_to(bench.data)} ({files:,} files, {size / 1e6:.1f} MB)"
            speed = f"{size / taken / 1e6:.2f}"
            rows.append((title, str(jobs), _time(taken), speed, _ratio(times["1"] / taken), _memory(memory)))
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
        memory = peak_memory(bench.port(tree, 2))
        taken = time.perf_counter() - started
        first = first or taken / size
        speed = f"{size / taken / 1e6:.2f}"
        rows.append(
            (f"{files:,}", f"{size / 1e6:,.0f}", _time(taken), speed, _ratio(taken / size / first), _memory(memory))
        )
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


def _time(taken: float) -> str:
    return f"{taken:.2f} s"


def _ratio(value: float) -> str:
    return f"{value:.2f}"


def _memory(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


# ---- how it is shown --------------------------------------------------------------------------------------------


def machine() -> str:
    """The machine in one line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB of memory, "
        f"{platform.system()} {platform.release()}, {platform.python_implementation()} {platform.python_version()}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def as_text(table: Table) -> str:
    """The table for a terminal."""
    rows = [table.header, *table.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([table.title, table.text, "", *lines, ""])


def as_markdown(table: Table) -> str:
    """The table for the documentation."""
    cells: Callable[[Sequence[str]], str] = lambda row: f"| {' | '.join(row)} |"  # noqa: E731
    rule = cells(["---", *["---:"] * (len(table.header) - 1)])
    return "\n".join([f"## {table.title}", "", table.text, "", cells(table.header), rule, *map(cells, table.rows), ""])


def page(tables: Sequence[Table]) -> str:
    """docs/benchmarks.md."""
    head = (
        "# Benchmarks\n\n"
        "Written by `python benchmarks/porter/bench.py --page docs/benchmarks.md`; `make bench` prints the tables.\n"
        "Times are of the whole command: starting Python, loading the tables, parsing, deciding, writing the output.\n"
        "Sizes count sources of the C family only; 1 MB is 1,000,000 bytes.\n\n"
        f"Machine: {machine()}.\n\n"
    )
    return head + "\n".join(map(as_markdown, tables))


if __name__ == "__main__":
    main()
