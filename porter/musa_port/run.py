"""One run: walk the tree, scan every source, index the whole, port every source, write, report."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from musa_port import __version__
from musa_port import state as states
from musa_port.cuda import engine
from musa_port.cuda.facts import Facts
from musa_port.cuda.index import Index
from musa_port.cuda.rules.paste import Use
from musa_port.errors import UsageError
from musa_port.model import FileResult, FileStatus, Report
from musa_port.options import Options
from musa_port.pool import Pool, WorkerDied
from musa_port.rules import get as get_rule
from musa_port.state import Record, State
from musa_port.walk import Entry, walk
from musa_port.work import (
    CopyTask,
    PortTask,
    Scanned,
    ScanTask,
    UsesTask,
    add_finding,
    copy,
    declarations,
    failed,
    find_uses,
    pack_facts,
    port_file,
    prepare,
    scan_file,
    unpack_facts,
    write_index,
)
from musa_port.write import require_clean_git

#: `progress(phase, done_bytes, total_bytes)`; phases are "scan" and "port".
Progress = Callable[[str, int, int], None]


def _no_progress(phase: str, done: int, total: int) -> None:
    pass


@dataclass(slots=True)
class Run:
    """The places and options of one run. `output` is None when nothing is written (check, diff)."""

    source: Path
    output: Path | None
    options: Options
    mode: str
    progress: Progress = _no_progress
    diffs: dict[str, bytes] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.source if self.source.is_dir() else self.source.parent


def execute(run: Run) -> Report:
    """Do it. Raises UsageError for unusable paths and options."""
    started = time.monotonic()
    _check_paths(run)
    state = _load_state(run)
    entries = list(walk(run.source, run.options))
    sources = [entry for entry in entries if entry.indexed]
    with Pool(_jobs(run.options.jobs, sources), prepare, run.options) as pool:
        try:
            scan = _scan(run, pool, sources, state)
            index = _index(run, pool, entries, sources, scan)
            results = _port(run, pool, entries, scan, index, state)
            _copy_rest(run, pool, entries, results)
        except WorkerDied as error:
            raise UsageError(str(error)) from error
    _save_state(run, state, index)
    files = [results[entry.path] for entry in entries]
    _merge_look_at(files)
    return Report(
        version=__version__,
        source=str(run.source),
        output=str(run.output) if run.output else None,
        mode=run.mode,
        files=files,
        elapsed_seconds=time.monotonic() - started,
        options=changed_options(run.options),
    )


def _jobs(wanted: int, sources: list[Entry]) -> int:
    """The number of processes: as asked, or one for each core when there is enough to do."""
    if wanted:
        return wanted
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores if sum(entry.size for entry in sources) > 4_000_000 else 1


def changed_options(options: Options) -> dict[str, Any]:
    """The options that are not at their default, as JSON values."""
    default = Options()
    table = {}
    for item in fields(Options):
        value = getattr(options, item.name)
        if value != getattr(default, item.name) and item.name not in ("jobs", "keep_edits"):
            table[item.name] = sorted(value) if isinstance(value, (frozenset, set)) else _plain(value)
    return table


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _check_paths(run: Run) -> None:
    if not run.source.exists():
        raise UsageError(f"{run.source}: no such file or folder")
    if run.mode == "in-place":
        if not run.options.force:
            require_clean_git(run.source)
        return
    if run.output is None:
        return
    source, output = run.root.resolve(), run.output.resolve()
    if output == source or source in output.parents:
        raise UsageError(f"{run.output}: the output must not be inside the source {run.root}; choose another folder")
    if output in source.parents:
        raise UsageError(f"{run.output}: the source {run.root} is inside the output; choose another folder")
    if run.output.exists() and not run.output.is_dir():
        raise UsageError(f"{run.output}: is a file; the output must be a folder")


@dataclass(slots=True)
class _Scan:
    """What scanning the sources gave: packed facts by path, and declarations for the index."""

    facts: dict[str, bytes] = field(default_factory=dict)
    declarations: list[bytes] = field(default_factory=list)

    def add(self, path: str, facts: bytes, declared: bytes) -> None:
        self.facts[path] = facts
        if declared:
            self.declarations.append(declared)


def _scan(run: Run, pool: Pool, sources: list[Entry], state: State) -> _Scan:
    """Scan each source. Entries that cannot be scanned are marked."""
    tasks = []
    for entry in sources:
        record = state.records.get(entry.path)
        tasks.append(ScanTask(entry.path, str(run.root / entry.path), entry.size, record.source if record else ""))
    by_path = {entry.path: entry for entry in sources}
    scan = _Scan()
    done, total = 0, sum(entry.size for entry in sources)
    for task, scanned in pool.map(scan_file, tasks, lambda task: task.size):
        done += task.size
        run.progress("scan", done, total)
        if scanned.failure:
            _mark_failed(by_path[task.path], scanned)
        elif scanned.facts is None:
            facts = Facts.loads(state.records[task.path].facts.encode())
            scan.add(task.path, pack_facts(facts), declarations(facts))
        else:
            scan.add(task.path, scanned.facts, scanned.declarations)
            remembered = unpack_facts(scanned.facts).dumps().decode() if run.options.state else ""
            state.records[task.path] = Record(scanned.source, remembered)
    return scan


def _mark_failed(entry: Entry, scanned: Scanned) -> None:
    entry.indexed = False
    entry.status, entry.reason = (FileStatus.SKIPPED if scanned.source else FileStatus.FAILED), scanned.failure
    entry.rule = "internal-error" if scanned.source else "unreadable-file"
    entry.note = f"{entry.path}: {scanned.failure}"
    entry.output_path = entry.path if scanned.source else None


def _index(run: Run, pool: Pool, entries: list[Entry], sources: list[Entry], scan: _Scan) -> Index:
    """Includes may name any file of the tree, but for those of libraries that something else replaces."""
    files = {entry.path: entry.output_path for entry in entries if entry.output_path and not entry.replaced}

    def uses_of(macros: frozenset[str]) -> Iterable[Use]:
        tasks = [UsesTask(str(run.root / entry.path), entry.size, macros) for entry in sources]
        for _, uses in pool.map(find_uses, tasks, lambda task: task.size):
            yield from uses

    return engine.build_index(map(Facts.loads, scan.declarations), files, uses_of)


def _port(run: Run, pool: Pool, entries: list[Entry], scan: _Scan, index: Index, state: State) -> dict[str, FileResult]:
    results = {entry.path: _untouched(entry) for entry in entries if entry.status is not None}
    waiting = [entry for entry in entries if entry.status is None]
    unchanged_index = state.index == index.digest()
    with tempfile.TemporaryDirectory(prefix="musa-port-") as folder:
        index_file = str(Path(folder, "index"))
        write_index(index, index_file)
        tasks = []
        for entry in waiting:
            record = state.records[entry.path]
            if unchanged_index and _is_current(run, record):
                results[entry.path] = states.unpack(record.result or {})
            else:
                tasks.append(_port_task(run, entry, scan.facts[entry.path], record, index_file))
        done, total = 0, sum(task.entry.size for task in tasks)
        for task, ported in pool.map(port_file, tasks, lambda task: task.entry.size):
            done += task.entry.size
            run.progress("port", done, total)
            results[task.entry.path] = ported.result
            record = state.records[task.entry.path]
            record.written = ported.written
            if run.options.state is not None:
                record.result = states.pack(ported.result)
            if ported.diff:
                run.diffs[task.entry.path] = ported.diff
    return results


def _port_task(run: Run, entry: Entry, facts: bytes, record: Record, index_file: str) -> PortTask:
    protect = run.options.state is not None and not run.options.force
    return PortTask(
        entry,
        facts,
        record.source,
        index_file,
        str(run.root),
        str(run.output) if run.output else None,
        run.mode == "diff",
        record.written if protect else None,
    )


def _is_current(run: Run, record: Record) -> bool:
    """Whether the last run's result, and what it wrote, still stand."""
    if record.result is None or run.output is None or not record.written:
        return False
    target = run.output / str(record.result["output_path"])
    return states.hash_file(target) == record.written


def _untouched(entry: Entry) -> FileResult:
    assert entry.status is not None
    result = FileResult(entry.path, entry.output_path, entry.language, entry.status, entry.reason, entry.size)
    if entry.rule:
        add_finding(result, entry.rule, entry.note or f"{entry.path} {entry.reason}")
    return result


def _copy_rest(run: Run, pool: Pool, entries: list[Entry], results: dict[str, FileResult]) -> None:
    """Copy what is not ported, so that the output is a whole tree."""
    if run.output is None or run.mode == "in-place":
        return
    copied = (FileStatus.COPIED, FileStatus.SKIPPED)
    rest = [entry for entry in entries if entry.status in copied and entry.output_path is not None]
    tasks = [CopyTask(entry, str(run.root), str(run.output)) for entry in rest]
    for task, reason in pool.map(copy, tasks, lambda task: task.entry.size):
        if reason:
            failed(results[task.entry.path], reason)


def _load_state(run: Run) -> State:
    digest = states.digest_of(run.options, __version__)
    path = run.options.state
    return states.load(path, digest) if path is not None else State(digest)


def _save_state(run: Run, state: State, index: Index) -> None:
    if run.options.state is not None and run.output is not None:
        state.index = index.digest()
        states.save(run.options.state, state)


def _merge_look_at(files: list[FileResult]) -> None:
    """One "look at this name" for the whole tree, with the number of its uses."""
    rule = get_rule("look-at-name").id
    uses: dict[str, int] = {}
    for file in files:
        for name, (count, status) in file.names.items():
            if status == "look":
                uses[name] = uses.get(name, 0) + count
    seen: set[str] = set()
    for file in files:
        kept = []
        for finding in file.findings:
            if finding.rule == rule:
                if finding.name in seen:
                    continue
                seen.add(finding.name)
                total = uses.get(finding.name, 1)
                finding = finding._replace(message=f"{finding.message} ({total} use{'s' if total > 1 else ''})")
            kept.append(finding)
        file.findings = kept
