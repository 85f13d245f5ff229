"""Measures the simulated device: `python benchmarks/sim/bench.py`; needs torch and a C++ compiler.

Prints the cost of operations beside the CPU's, of starting, and of building the library, with what is asked of them.
With `--page FILE` the tables are also written into docs/benchmarks.md, in the place of the earlier ones.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.page import machine, replace
from benchmarks.porter.tables import as_markdown, as_text


def main() -> None:
    """Measure, print, and write the page when asked to."""
    parser = argparse.ArgumentParser(description="Measure the simulated device.")
    parser.add_argument("--rounds", type=int, default=15, help="interleaved rounds; medians are shown (default 15)")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the tables into this page, too")
    arguments = parser.parse_args()

    from benchmarks.sim import operations, starting
    from musa_compat import sim

    sim.enable()
    measured = [*operations.tables(arguments.rounds), starting.table(arguments.rounds)]
    print(f"{machine()}\n", *map(as_text, measured), sep="\n")
    if arguments.page:
        import torch

        head = (
            "## The simulated device\n\nWritten by `python benchmarks/sim/bench.py --page docs/benchmarks.md`.\n"
            f"Machine: {machine()}, torch {torch.__version__}.\n"
        )
        replace(arguments.page, "sim", "\n".join([head, *(as_markdown(table, 3) for table in measured)]))


if __name__ == "__main__":
    main()
