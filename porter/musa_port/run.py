"""One run: walk the tree, scan every source, index the whole, port every source, write, report."""

from __future__ import annotations

import os
import posixpath
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from musa_port import __version__, arch, build_files, diff
from musa_port import state as states
from musa_port.cuda import engine
from musa_port.cuda.facts import Facts
from musa_port.cuda.index import Index
from musa_port.cuda.rules.paste import Use
from musa_port.entry import C_FAMILY, Entry
from musa_port.errors import UsageError
from musa_port.model import FileResult, FileStatus, Report
from musa_port.names import read_map_file
from musa_port.options import Options
from musa_port.pool import Pool, WorkerDied
from musa_port.rules import get as get_rule
from musa_port.rules import load_all as load_rules
from musa_port.state import Record, State
from musa_port.walk import walk
from musa_port.work import (
    CopyTask,
    Ported,
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
    report_edited,
    scan_file,
    unpack_facts,
    write_index,
)
from musa_port.write import match_mode, require_clean_git

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
    load_rules()
    _check_tables(run.options)
    _check_paths(run)
    state = _load_state(run)
    _make_output(run)
    entries = list(walk(run.source, run.options))
    sources = [entry for entry in entries if entry.indexed]
    with Pool(_jobs(run.options.jobs, sources), prepare, run.options) as pool:
        try:
            scan = _scan(run, pool, sources, state)
            index = _index(run, pool, entries, sources, scan)
            results = _port(run, pool, entries, scan, index, state)
            _copy_rest(run, pool, entries, results, state)
        except WorkerDied as error:
            raise UsageError(str(error)) from error
    _remove_stale(run, entries, state)
    _save_state(run, state, index)
    build_files.report(run.root, entries, results)
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
    return cores if sum(entry.work for entry in sources) > 4_000_000 else 1


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
    try:
        found = run.source.exists()
    except OSError:
        found = False
    if not found:
        raise UsageError(f"{run.source}: no such file or folder")
    if run.mode == "in-place":
        if not run.options.force:
            require_clean_git(run.source)
    elif run.output is not None:
        _check_output(run, run.output)


def _check_output(run: Run, output: Path) -> None:
    """The output must be a folder of its own."""
    root, target = run.root.resolve(), output.resolve()
    if target == root or (root in target.parents and run.source.is_dir()):
        raise UsageError(f"{output}: the output must not be inside the source {run.root}; choose another folder")
    if target in root.parents:
        raise UsageError(f"{output}: the source {run.root} is inside the output; choose another folder")
    try:
        if output.exists() and not output.is_dir():
            raise UsageError(f"{output}: is a file; the output must be a folder")
    except OSError as error:
        raise UsageError(f"{output}: cannot be used: {error.strerror}") from error


def _make_output(run: Run) -> None:
    """Make the output folder, so that an unusable place is known before any work."""
    try:
        if run.output is not None:
            run.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{run.output}: cannot be made: {error.strerror}") from error


def _check_tables(options: Options) -> None:
    """Read the user's tables once before any process needs them."""
    for path in options.map_files:
        read_map_file(path)
    if options.arch_map is not None:
        arch.load(options.arch_map)


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
        tasks.append(
            ScanTask(
                entry.path, str(run.root / entry.path), entry.size, record.source if record else "", entry.language
            )
        )
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
    state.records = {path: state.records[path] for path in scan.facts}
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
    links = {entry.path: _named_by_link(run, entry) for entry in entries if entry.language == "link"}

    def uses_of(macros: frozenset[str]) -> Iterable[Use]:
        tasks = [
            UsesTask(str(run.root / entry.path), entry.size, macros) for entry in sources if entry.language == C_FAMILY
        ]
        for _, uses in pool.map(find_uses, tasks, lambda task: task.size):
            yield from uses

    return engine.build_index(map(Facts.loads, scan.declarations), files, links, uses_of)


def _port(run: Run, pool: Pool, entries: list[Entry], scan: _Scan, index: Index, state: State) -> dict[str, FileResult]:
    results = {entry.path: _untouched(entry) for entry in entries if entry.status is not None}
    waiting = [entry for entry in entries if entry.status is None]
    unchanged_index = state.index == index.digest()
    with _temporary_folder() as folder:
        index_file = str(Path(folder, "index"))
        write_index(index, index_file)
        tasks = []
        for entry in waiting:
            record = state.records[entry.path]
            if unchanged_index and record.result is not None and _is_current(run, record.result, state):
                results[entry.path] = states.unpack(record.result)
                match_mode(run.root / entry.path, _output(run, record.result["output_path"]))
            else:
                tasks.append(_port_task(run, entry, scan.facts[entry.path], record, index_file, state))
        done, total = 0, sum(task.entry.size for task in tasks)
        for task, ported in pool.map(port_file, tasks, lambda task: task.entry.work):
            done += task.entry.size
            run.progress("port", done, total)
            results[task.entry.path] = ported.result
            _remember(run, state, task.entry, ported)
            if ported.diff:
                run.diffs[task.entry.path] = ported.diff
    return results


@contextmanager
def _temporary_folder() -> Iterator[str]:
    try:
        with tempfile.TemporaryDirectory(prefix="musa-port-") as folder:
            yield folder
    except OSError as error:
        raise UsageError(f"the folder for temporary files cannot be used: {error.strerror}") from error


def _port_task(run: Run, entry: Entry, facts: bytes, record: Record, index_file: str, state: State) -> PortTask:
    return PortTask(
        entry,
        facts,
        record.source,
        index_file,
        str(run.root),
        str(run.output) if run.output else None,
        run.mode == "diff",
        _protected(run, state, entry),
    )


def _protected(run: Run, state: State, entry: Entry) -> str:
    """The hash of what the last run wrote for this file, "" when it may be overwritten."""
    return "" if run.options.force else state.written.get(entry.output_path or "", "")


def _output(run: Run, path: str) -> Path:
    assert run.output is not None
    return run.output / path


def _is_current(run: Run, result: dict[str, Any], state: State) -> bool:
    """Whether what the last run wrote still stands."""
    path = str(result["output_path"])
    return path in state.written and states.hash_file(_output(run, path)) == state.written[path]


def _remember(run: Run, state: State, entry: Entry, ported: Ported) -> None:
    if run.options.state is None:
        return
    state.records[entry.path].result = states.pack(ported.result) if ported.reusable else None
    if ported.written and entry.output_path:
        state.written[entry.output_path] = ported.written


def _untouched(entry: Entry) -> FileResult:
    assert entry.status is not None
    result = FileResult(entry.path, entry.output_path, entry.language, entry.status, entry.reason, entry.size)
    if entry.rule:
        add_finding(result, entry.rule, entry.note or f"{entry.path} {entry.reason}")
    return result


def _copy_rest(run: Run, pool: Pool, entries: list[Entry], results: dict[str, FileResult], state: State) -> None:
    """Copy what is not ported, so that the output is a whole tree. In place, only links are renamed."""
    outputs = {entry.path: entry.output_path for entry in entries}
    if run.mode == "diff":
        _diff_links(run, entries, outputs)
    if run.output is None:
        return
    tasks = []
    for entry in entries:
        if entry.status not in (FileStatus.COPIED, FileStatus.SKIPPED) or entry.output_path is None:
            continue
        if run.mode == "in-place" and entry.language != "link":
            continue
        written = _protected(run, state, entry) if run.options.state is not None else None
        link = _link_target(run, entry, outputs) if entry.language == "link" else ""
        tasks.append(CopyTask(entry, str(run.root), str(run.output), link, written))
    for task, copied in pool.map(copy, tasks, lambda task: task.entry.size):
        result = results[task.entry.path]
        if copied.failure:
            failed(result, copied.failure)
        elif copied.kept:
            report_edited(result)
        if copied.written and task.entry.output_path:
            state.written[task.entry.output_path] = copied.written


def _diff_links(run: Run, entries: list[Entry], outputs: dict[str, str | None]) -> None:
    for entry in entries:
        if entry.language == "link" and entry.output_path is not None:
            old, new = os.readlink(run.root / entry.path), _link_target(run, entry, outputs)
            run.diffs[entry.path] = diff.unified(entry.path, entry.output_path, os.fsencode(old), os.fsencode(new))


def _named_by_link(run: Run, entry: Entry) -> str:
    target = os.readlink(run.root / entry.path)
    return posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), target))


def _link_target(run: Run, entry: Entry, outputs: dict[str, str | None]) -> str:
    """Where the link points in the output: to the new name of the file that it named."""
    target = os.readlink(run.root / entry.path)
    renamed = outputs.get(_named_by_link(run, entry))
    return posixpath.join(posixpath.dirname(target), posixpath.basename(renamed)) if renamed else target


def _remove_stale(run: Run, entries: list[Entry], state: State) -> None:
    """Remove outputs of sources that are gone, unless somebody changed them since."""
    if run.options.state is None or run.output is None:
        return
    current = {entry.output_path for entry in entries}
    for path in [path for path in state.written if path not in current]:
        if states.hash_file(run.output / path) == state.written.pop(path):
            (run.output / path).unlink()


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
