"""Measures musa-port on published packages and prints tables (`make bench`).

Everything is measured as a user meets it: a command from its start to its end, interpreter and output included. The
packages are downloaded once into .corpus/. With `--page FILE`, the tables are also written as docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "porter")]

from benchmarks.page import machine, replace  # noqa: E402
from benchmarks.porter import c_family, python_sources  # noqa: E402
from benchmarks.porter.tables import Table, as_markdown, as_text  # noqa: E402
from examples.demo import fetch  # noqa: E402

FLASHINFER = ("flashinfer-python", "0.7.4")
TORCHADA = ("torchada", "0.1.103")
PYTHON = {"accelerate": "1.15.0", "lightning": "2.6.6", "torchmetrics": "1.9.0"}


def main() -> None:
    """Measure, print, and write the page when asked to."""
    arguments = _parser().parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "porter"), os.environ.get("PYTHONPATH", "")]))
    print(f"{machine()}\n")
    measured = []
    with tempfile.TemporaryDirectory(prefix="musa-port-bench-", dir=arguments.work) as work:
        for measure in measures(arguments, Path(work)):
            measured.append(measure())
            print(as_text(measured[-1]), flush=True)
    if arguments.page:
        replace(arguments.page, "porter", page(measured))


def measures(arguments: argparse.Namespace, work: Path) -> list[Callable[[], Table]]:
    """What is to be measured, in order."""
    found: list[Callable[[], Table]] = []
    if "c-family" in arguments.only:
        data, torchada = fetch(*FLASHINFER) / "flashinfer" / "data", fetch(*TORCHADA) / "torchada"
        bench = c_family.Bench(data, torchada, work, arguments.repeats)
        kinds = [c_family.one_process, c_family.processes, *([] if arguments.quick else [c_family.scale])]
        found += [partial(measure, bench) for measure in kinds]
    if "python" in arguments.only:
        roots = {name: fetch(name, version) / name for name, version in PYTHON.items()}
        python = python_sources.Bench(**roots, work=work, repeats=arguments.repeats)
        kinds_of_python = (python_sources.rewriting, python_sources.skipping, python_sources.package)
        found += [partial(measure, python) for measure in kinds_of_python]
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure speed and memory of musa-port.")
    parser.add_argument(
        "--repeats", type=int, default=5, help="rounds of interleaved runs; medians are shown (default 5)"
    )
    parser.add_argument("--quick", action="store_true", help="leave the 20,000 files out")
    parser.add_argument(
        "--only", nargs="+", choices=["c-family", "python"], default=["c-family", "python"], help="kinds of sources"
    )
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="where output goes meanwhile; needs 2 GB")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the tables as a page, too")
    return parser


def page(measured: Sequence[Table]) -> str:
    """The part of docs/benchmarks.md."""
    head = (
        "Written by `python benchmarks/porter/bench.py --page docs/benchmarks.md`; `make bench` prints the tables.\n"
        "Times are of the whole command: starting Python, loading the tables, parsing, deciding, writing the output.\n"
        "Sizes count the sources of the kind that a table is about; 1 MB is 1,000,000 bytes.\n\n"
        f"Machine: {machine()}.\n\n"
    )
    return head + "\n".join(map(as_markdown, measured))


if __name__ == "__main__":
    main()
