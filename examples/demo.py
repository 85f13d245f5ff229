"""Ports a small project and two published CUDA packages, and says what was done (`make demo`).

The packages are downloaded once into .corpus/, so that a second run needs no network.
"""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / ".corpus"
OUTPUT = ROOT / "demo-output"
PROJECT = ROOT / "examples" / "mixed_project"
PACKAGES = {"gsplat": "1.5.3", "nerfacc": "0.5.3"}
MUSA_PORT = Path(sysconfig.get_path("scripts")) / "musa-port"


def main() -> None:
    """Fetch, port, check and tell, tree by tree."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir()
    demonstrate("examples/mixed_project", PROJECT, OUTPUT / PROJECT.name)
    for name, version in PACKAGES.items():
        demonstrate(f"{name} {version}", fetch(name, version) / name, OUTPUT / name)


def demonstrate(title: str, source: Path, output: Path) -> None:
    """Port one tree, tell about it, and port the port."""
    tell(title, port(source, output), output)
    changes = second_run(output)
    print(f"  again     a second run over the output: {changes or 'changes nothing'}\n")
    if changes:
        sys.exit(f"error: the port of {title} is not stable: {changes}")


def fetch(name: str, version: str) -> Path:
    """The unpacked wheel of a package, downloaded when it is not there yet."""
    stem = f"{name.replace('-', '_')}-{version}"  # as wheels are named
    target = CORPUS / stem
    if not target.exists():
        wheels = CORPUS / "wheels"
        if not list(wheels.glob(f"{stem}-*.whl")):
            print(f"downloading {name} {version} ...", flush=True)
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
            run([*pip, "--only-binary=:all:", "--dest", str(wheels), f"{name}=={version}"])
        partial = target.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        with zipfile.ZipFile(next(wheels.glob(f"{stem}-*.whl"))) as archive:
            archive.extractall(partial)
        partial.rename(target)
    return target


def port(source: Path, output: Path, *options: str) -> dict[str, Any]:
    """Run musa-port; returns its JSON report. Exit code 1 only says that work is left to do by hand."""
    report = output.with_suffix(".json")
    page = output.with_suffix(".html")
    command = [str(MUSA_PORT), str(source), "-o", str(output), "--report", str(report), "--report", str(page)]
    command += options
    run(command, accept=(0, 1))
    result: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return result


def tell(title: str, report: dict[str, Any], output: Path) -> None:
    """Print what one port did, in numbers, and the first places that are left to do by hand."""
    summary = report["summary"]
    print(f"{title}: {summary['verdict']}, in {report['run']['elapsed_seconds']:.1f} s")
    print(f"  files     {counts(summary['statuses'])}")
    print(f"  edits     {summary['edits']:,}")
    print(f"  findings  {counts(summary['findings'])}")
    errors = [finding for file in report["files"] for finding in file["findings"] if finding["severity"] == "error"]
    for finding in errors[:3]:
        print(f"  by hand   {finding['path']}:{finding['line']}: {finding['message']}")
    if len(errors) > 3:
        print(f"            and {len(errors) - 3} more")
    print(f"  output    {shown(output)}")
    print(f"  report    {shown(output.with_suffix('.html'))} (for a browser), {shown(output.with_suffix('.json'))}")


def counts(numbers: dict[str, int]) -> str:
    """`ported 31, unchanged 646`, without the zeros."""
    return ", ".join(f"{name} {number:,}" for name, number in numbers.items() if number) or "none"


def shown(path: Path) -> str:
    """The path as a user in the repository root would write it."""
    return path.relative_to(ROOT).as_posix()


def second_run(output: Path) -> str:
    """Port the port; returns the first difference, or an empty string."""
    again = output.with_name(f"{output.name}-again")
    port(output, again)
    try:
        return difference(output, again)
    finally:
        shutil.rmtree(again)
        for report in (again.with_suffix(".json"), again.with_suffix(".html")):
            report.unlink()


def difference(left: Path, right: Path) -> str:
    """The first file that differs between two trees, or an empty string."""
    files = [
        {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} for root in (left, right)
    ]
    if missing := files[0] ^ files[1]:
        return f"{min(missing)} is in one of the two only"
    _, different, unreadable = filecmp.cmpfiles(left, right, sorted(files[0]), shallow=False)
    return f"{(different + unreadable)[0]} differs" if different + unreadable else ""


def run(command: list[str], accept: tuple[int, ...] = (0,)) -> None:
    """Run a command quietly; end the program with its output when the exit code is not expected."""
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    if result.returncode not in accept:
        sys.exit(f"error: {' '.join(command)} ended with {result.returncode}\n{result.stdout}{result.stderr}")


if __name__ == "__main__":
    main()
