"""What it costs to import musa_compat, to enable the simulated device, and to build its library."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.porter.tables import Table

ROOT = Path(__file__).resolve().parents[2]

_IMPORT = """
import time
start = time.perf_counter()
import musa_compat
print(time.perf_counter() - start)
"""
_ENABLE = """
import time, torch
from musa_compat import sim
start = time.perf_counter()
sim.enable()
print(time.perf_counter() - start)
"""


def table(rounds: int) -> Table:
    """Each figure is of fresh processes. Builds the library once, in a folder that is removed again."""
    imports, enables = [], []
    _seconds(_ENABLE)  # fills the page cache, and the library's cache
    for _ in range(rounds):
        imports.append(_seconds(_IMPORT))
        enables.append(_seconds(_ENABLE))
    rows = [
        ["`import musa_compat`, which imports no torch", f"{statistics.median(imports) * 1e3:.1f} ms", "under 30 ms"],
        ["`sim.enable()`, library cached, torch imported", f"{statistics.median(enables) * 1e3:.1f} ms", "under 50 ms"],
        ["building the library, once for each torch", f"{_build():.1f} s", ""],
    ]
    text = f"Medians of {rounds} fresh processes, files in the page cache; the library was built once."
    return Table("Starting the simulated device", text, ("", "time", "asked"), [list(row) for row in rows])


def _seconds(program: str) -> float:
    result = subprocess.run(
        [sys.executable, "-c", program], env=_environment(), capture_output=True, text=True, check=True
    )
    return float(result.stdout)


def _build() -> float:
    with tempfile.TemporaryDirectory(prefix="musa-compat-bench-") as cache:
        program = "from musa_compat.sim import build; build.ensure()"
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], env=_environment(MUSA_COMPAT_CACHE=cache), check=True)
        return time.perf_counter() - start


def _environment(**variables: str) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MUSA_COMPAT_SIM")}
    return {**kept, "PYTHONPATH": path, **variables}
