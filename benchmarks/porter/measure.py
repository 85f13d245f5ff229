"""Time and memory of commands: wall-clock medians of interleaved runs, and the peak of a whole process tree."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Command = Sequence[str]

#: Exit statuses that are no failure: 1 says that the port left work to do by hand.
_EXPECTED = (0, 1)


def interleaved(commands: Mapping[str, Command], repeats: int, prepare: Callable[[], None]) -> dict[str, float]:
    """Median seconds of each command. Each round runs every command once, so that a noisy minute hits all alike.

    `prepare` runs before each command and is not counted.
    """
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            prepare()
            times[name].append(seconds(command))
    return {name: statistics.median(values) for name, values in times.items()}


def seconds(command: Command) -> float:
    """How long a command takes, from its start to its end."""
    started = time.perf_counter()
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    taken = time.perf_counter() - started
    if result.returncode not in _EXPECTED or "Traceback" in result.stderr:
        raise SystemExit(f"error: {' '.join(command)} ended with {result.returncode}\n{result.stdout}{result.stderr}")
    return taken


def peak_memory(command: Command) -> int:
    """The largest memory of a command and all its descendants together, in bytes.

    The proportional set size is read every 20 ms: memory that processes share counts once.
    """
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(_proportional, _session(process.pid))))
        time.sleep(0.02)
    if process.returncode not in _EXPECTED:
        raise SystemExit(f"error: {' '.join(command)} ended with {process.returncode}")
    return peak


def _session(leader: int) -> list[str]:
    """The processes of a session."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = Path(entry.path, "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:  # the process ended meanwhile
                continue
            if int(fields[3]) == leader:
                found.append(entry.name)
    return found


def _proportional(process: str) -> int:
    """The proportional set size of a process, in bytes; 0 when it has ended."""
    try:
        lines = Path("/proc", process, "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def warm(tree: Path) -> None:
    """Bring a tree into the page cache."""
    for path in tree.rglob("*"):
        if path.is_file():
            path.read_bytes()


def chill(tree: Path) -> None:
    """Ask the kernel to drop a tree from the page cache."""
    for path in tree.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
