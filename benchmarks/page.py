"""docs/benchmarks.md: parts that different scripts write, between comments that name them, and the machine's line."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def replace(page: Path, part: str, text: str) -> None:
    """Put `text` in the place of the named part of the page, or at its end if there is no such part yet."""
    begin, end = f"<!-- begin {part} -->", f"<!-- end {part} -->"
    old = page.read_text(encoding="utf-8") if page.exists() else "# Benchmarks\n"
    new = f"{begin}\n\n{text.strip()}\n\n{end}"
    found = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if found.search(old):
        page.write_text(found.sub(lambda _: new, old), encoding="utf-8")
    else:
        page.write_text(f"{old.rstrip()}\n\n{new}\n", encoding="utf-8")


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
