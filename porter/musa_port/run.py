"""One run: walk the tree, scan every source, index the whole, port every source, write, report."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from musa_port import __version__, diff
from musa_port import state as states
from musa_port.cuda import engine
from musa_port.cuda.facts import Facts
from musa_port.cuda.index import Index, declarations_of
from musa_port.cuda.rules.paste import Use
from musa_port.errors import UsageError
from musa_port.model import FileResult, FileStatus, Finding, Report, Severity
from musa_port.options import Options
from musa_port.pool import Pool, WorkerDied
from musa_port.rules import Rule, register
from musa_port.rules import get as get_rule
from musa_port.state import Record, State
from musa_port.walk import Entry, walk
from musa_port.write import copy_file, copy_link, require_clean_git, write_bytes

SYNTAX = register(
    Rule(
        "F9",
        "syntax-errors",
        Severity.INFO,
        "Notes that the grammar does not understand the whole file; its names are ported all the same.",
        why="Rules that look at whole statements may have missed something near the place.",
    )
)
INTERNAL = register(
    Rule(
        "F10",
        "internal-error",
        Severity.ERROR,
        "Reports that musa-port itself failed on a file, which is copied as it is.",
        advice="Please report it with the file.",
    )
)
EDITED = register(
    Rule(
        "F11",
        "edited-output",
        Severity.WARNING,
        "Keeps a file in the output that was changed by hand since the last run (with --state).",
        advice="Move the change to the source or to a kept region; --force overwrites it.",
    )
)

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
    with Pool(_jobs(run.options.jobs, sources), _prepare, run.options) as pool:
        try:
            facts = _scan(run, pool, sources, state)
            index = _index(run, pool, sources, facts)
            results = _port(run, pool, entries, facts, index, state)
        except WorkerDied as error:
            raise UsageError(str(error)) from error
    if run.mode == "port" or run.mode == "in-place":
        _copy_rest(run, entries, results)
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


# ---- what worker processes run ----------------------------------------------------------------------------------

_TABLES: list[engine.Tables] = []


def _prepare(options: Options) -> None:
    _TABLES[:] = [engine.load(options)]


class ScanTask(NamedTuple):
    """A file to scan."""

    path: str
    file: str
    size: int
    #: Hash of the source whose facts are known already; "" when none are.
    known: str


class Scanned(NamedTuple):
    """What scanning gave."""

    source: str
    #: Facts as JSON, or None when the hash is the known one; `failure` says why a file cannot be ported.
    facts: bytes | None
    failure: str = ""


def _scan_file(task: ScanTask) -> Scanned:
    try:
        data = Path(task.file).read_bytes()
    except OSError as error:
        return Scanned("", None, f"cannot be read: {error.strerror}")
    digest = states.hash_bytes(data)
    if digest == task.known:
        return Scanned(digest, None)
    try:
        return Scanned(digest, engine.scan(data, _TABLES[0].vocabulary).dumps())
    except Exception as error:  # one file must not end the run: it is reported and copied
        return Scanned(digest, None, f"{type(error).__name__}: {error}")


class UsesTask(NamedTuple):
    """A file in which to look for uses of macros."""

    file: str
    size: int
    macros: frozenset[str]


def _find_uses(task: UsesTask) -> list[Use]:
    try:
        return engine.uses_of(Path(task.file).read_bytes(), task.macros)
    except OSError:
        return []


class PortTask(NamedTuple):
    """A file to decide and write."""

    entry: Entry
    facts: bytes
    #: Hash that the source had when it was scanned.
    source: str
    index_file: str
    root: str
    output: str | None
    want_diff: bool
    #: Hash of what the last run wrote here, "" when unknown; None to overwrite whatever is there.
    written: str | None


class Ported(NamedTuple):
    """What porting gave: the result, the hash of what was written, the difference."""

    result: FileResult
    written: str
    diff: bytes


@lru_cache(maxsize=2)
def _read_index(path: str) -> Index:
    with open(path, "rb") as file:
        index: Index = pickle.load(file)
    return index


def _port_file(task: PortTask) -> Ported:
    entry = task.entry
    result = FileResult(entry.path, entry.output_path, entry.language, FileStatus.UNCHANGED, size=entry.size)
    source = Path(task.root, entry.path)
    try:
        data = source.read_bytes()
        if states.hash_bytes(data) != task.source:
            return _failed(result, "the file changed during the run", "unreadable-file")
        new = _decide(result, data, task)
        return _write(result, source, data, new, task)
    except OSError as error:
        return _failed(result, f"cannot be written: {error.strerror}", "unreadable-file")


def _decide(result: FileResult, data: bytes, task: PortTask) -> bytes:
    try:
        facts = Facts.loads(task.facts)
        outcome = engine.port(result.path, data, facts, _read_index(task.index_file), _TABLES[0])
    except Exception as error:  # one file must not end the run: it is reported and copied
        _add_finding(result, "internal-error", f"{type(error).__name__}: {error}")
        return data
    result.edit_count, result.edits = outcome.edit_count, outcome.edits
    result.findings, result.names = outcome.findings, outcome.names
    if result.output_path and task.entry.rule:
        _add_finding(result, task.entry.rule, task.entry.note)
    if facts.error_at >= 0:
        line = data.count(b"\n", 0, facts.error_at) + 1
        _add_finding(result, "syntax-errors", f"not understood from line {line} on; ported by token", line)
    if outcome.data != data:
        result.status = FileStatus.PORTED
    return outcome.data


def _write(result: FileResult, source: Path, data: bytes, new: bytes, task: PortTask) -> Ported:
    text = b""
    if task.want_diff:
        text = diff.unified(result.path, result.output_path or result.path, data, new)
    if task.output is None:
        return Ported(result, "", text)
    target = Path(task.output, result.output_path or result.path)
    if task.written and target.exists() and states.hash_file(target) != task.written:
        _add_finding(
            result, "edited-output", f"{result.output_path} was changed by hand since the last run and is kept"
        )
        return Ported(result, task.written, text)
    write_bytes(target, new, like=source)
    if target != source and Path(task.output) == Path(task.root):
        source.unlink()
    return Ported(result, states.hash_bytes(new), text)


def _failed(result: FileResult, reason: str, rule: str) -> Ported:
    result.status, result.reason, result.output_path = FileStatus.FAILED, reason, None
    _add_finding(result, rule, f"{result.path} {reason}")
    return Ported(result, "", b"")


def _add_finding(result: FileResult, rule: str, message: str, line: int = 1) -> None:
    entry = get_rule(rule)
    result.findings.append(Finding(entry.id, entry.severity, result.path, line, 1, message, entry.advice))


# ---- the phases -------------------------------------------------------------------------------------------------


def _scan(run: Run, pool: Pool, sources: list[Entry], state: State) -> dict[str, bytes]:
    """The facts of each source, as JSON. Entries that cannot be scanned are marked."""
    tasks = []
    for entry in sources:
        record = state.records.get(entry.path)
        tasks.append(ScanTask(entry.path, str(run.root / entry.path), entry.size, record.source if record else ""))
    by_path = {entry.path: entry for entry in sources}
    facts: dict[str, bytes] = {}
    done, total = 0, sum(entry.size for entry in sources)
    for task, scanned in pool.map(_scan_file, tasks, lambda task: task.size):
        done += task.size
        run.progress("scan", done, total)
        if scanned.failure:
            _mark_failed(by_path[task.path], scanned)
        elif scanned.facts is None:
            facts[task.path] = state.records[task.path].facts.encode()
        else:
            facts[task.path] = scanned.facts
            state.records[task.path] = Record(scanned.source, scanned.facts.decode())
    return facts


def _mark_failed(entry: Entry, scanned: Scanned) -> None:
    entry.indexed = False
    entry.status, entry.reason = (FileStatus.SKIPPED if scanned.source else FileStatus.FAILED), scanned.failure
    entry.rule = "internal-error" if scanned.source else "unreadable-file"
    entry.note = f"{entry.path}: {scanned.failure}"
    entry.output_path = entry.path if scanned.source else None


def _index(run: Run, pool: Pool, sources: list[Entry], facts: dict[str, bytes]) -> Index:
    files = {entry.path: entry.output_path or entry.path for entry in sources}

    def find_uses(macros: frozenset[str]) -> Iterable[Use]:
        tasks = [UsesTask(str(run.root / entry.path), entry.size, macros) for entry in sources]
        for _, uses in pool.map(_find_uses, tasks, lambda task: task.size):
            yield from uses

    # Files that were not parsed end with `false]`: they declare nothing of interest.
    declarations = (
        declarations_of(Facts.loads(text), engine.SHARED_NOTES) for text in facts.values() if text.endswith(b"true]")
    )
    return engine.build_index(declarations, files, find_uses)


def _port(
    run: Run, pool: Pool, entries: list[Entry], facts: dict[str, bytes], index: Index, state: State
) -> dict[str, FileResult]:
    results = {entry.path: _untouched(entry) for entry in entries if entry.status is not None}
    waiting = [entry for entry in entries if entry.status is None]
    unchanged_index = state.index == index.digest()
    with tempfile.TemporaryDirectory(prefix="musa-port-") as folder:
        index_file = str(Path(folder, "index"))
        with open(index_file, "wb") as file:
            pickle.dump(index, file)
        tasks = []
        for entry in waiting:
            record = state.records[entry.path]
            if unchanged_index and _is_current(run, record):
                results[entry.path] = states.unpack(record.result or {})
                continue
            tasks.append(_port_task(run, entry, facts[entry.path], record, index_file))
        done, total = 0, sum(entry.size for entry in waiting)
        for task, ported in pool.map(_port_file, tasks, lambda task: task.entry.size):
            done += task.entry.size
            run.progress("port", done, total)
            results[task.entry.path] = ported.result
            record = state.records[task.entry.path]
            record.written = ported.written
            if run.options.state is not None:
                record.result = states.pack(ported.result)
            if ported.diff:
                run.diffs[task.entry.path] = ported.diff
        run.progress("port", total, total)
    _read_index.cache_clear()
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
        _add_finding(result, entry.rule, entry.note or f"{entry.path} {entry.reason}")
    return result


def _copy_rest(run: Run, entries: list[Entry], results: dict[str, FileResult]) -> None:
    """Copy what is not ported, so that the output is a whole tree."""
    if run.output is None or run.mode == "in-place":
        return
    for entry in entries:
        if entry.status not in (FileStatus.COPIED, FileStatus.SKIPPED) or entry.output_path is None:
            continue
        source, target = run.root / entry.path, run.output / entry.output_path
        try:
            if entry.language == "link":
                copy_link(source, target, target.suffix if entry.output_path != entry.path else "")
            else:
                copy_file(source, target)
        except OSError as error:
            failed = _failed(results[entry.path], f"cannot be copied: {error.strerror}", "unreadable-file")
            results[entry.path] = failed.result


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
