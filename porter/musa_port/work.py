"""What the processes of a run do, file by file: scan, look for macro uses, decide and write, copy.

Every function here takes one task and returns a small result, so that it can run in this process or in another.
"""

from __future__ import annotations

import pickle
import zlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from musa_port import diff, languages
from musa_port import state as states
from musa_port.cuda import engine
from musa_port.cuda.facts import Facts
from musa_port.cuda.index import Index, declarations_of
from musa_port.cuda.rules.paste import Use
from musa_port.entry import C_FAMILY, Entry
from musa_port.model import FileResult, FileStatus, Finding, Severity
from musa_port.options import Options
from musa_port.rules import Rule, register
from musa_port.rules import get as get_rule
from musa_port.write import copy_file, make_folder, make_link, write_bytes

SYNTAX = register(
    Rule(
        "F9",
        "syntax-errors",
        Severity.INFO,
        "Notes that the grammar does not understand a good part of the file; its names are ported all the same.",
        why="Rules that look at whole statements may have missed something near the place.",
    )
)
INTERNAL = register(
    Rule(
        "F10",
        "internal-error",
        Severity.ERROR,
        "Reports that musa-port itself failed on a file, which is copied as it is.",
        advice="Port the file by hand, and please report it with the file.",
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

_TABLES: list[engine.Tables] = []


def prepare(options: Options) -> None:
    """Load the tables; runs once in each process."""
    _TABLES[:] = [engine.load(options)]


# ---- scanning ---------------------------------------------------------------------------------------------------


class ScanTask(NamedTuple):
    """A file to scan. `known` is the hash of the source whose facts the last run left, "" when it left none."""

    path: str
    file: str
    size: int
    known: str
    language: str


class Scanned(NamedTuple):
    """What scanning gave.

    source        hash of the source, "" when it cannot be read
    facts         packed facts (see `unpack_facts`); None when the hash is the known one
    declarations  what the index needs of them, as JSON; empty when the file declares nothing of interest
    failure       why the file cannot be ported, "" when it can
    """

    source: str
    facts: bytes | None
    declarations: bytes = b""
    failure: str = ""


def scan_file(task: ScanTask) -> Scanned:
    """Read and scan one file."""
    try:
        data = Path(task.file).read_bytes()
    except OSError as error:
        return Scanned("", None, failure=f"cannot be read: {error.strerror}")
    digest = states.hash_bytes(data)
    if digest == task.known:
        return Scanned(digest, None)
    try:
        facts = _facts(task.language, data)
    except Exception as error:  # one file must not end the run: it is reported and copied
        return Scanned(digest, None, failure=f"{type(error).__name__}: {error}")
    return Scanned(digest, pack_facts(facts), declarations(facts))


def _facts(language: str, data: bytes) -> Facts:
    """What the file holds; of a language other than the C family, only what the whole tree has to know."""
    if language == C_FAMILY:
        return engine.scan(data, _TABLES[0].vocabulary)
    notes = languages.get(language).notes
    return Facts(notes=notes(data) if notes else {})


def declarations(facts: Facts) -> bytes:
    """What the index needs of a file's facts, as JSON; empty when there is nothing."""
    part = declarations_of(facts, engine.SHARED_NOTES)
    return b"" if part.is_empty() else part.dumps()


def pack_facts(facts: Facts) -> bytes:
    """Facts as compressed JSON: those of a large tree have to fit into memory together."""
    return zlib.compress(facts.dumps(), 1)


def unpack_facts(packed: bytes) -> Facts:
    """The inverse of `pack_facts`."""
    return Facts.loads(zlib.decompress(packed))


class UsesTask(NamedTuple):
    """A file in which to look for uses of macros."""

    file: str
    size: int
    macros: frozenset[str]


def find_uses(task: UsesTask) -> list[Use]:
    """The uses of the macros in one file."""
    try:
        return engine.uses_of(Path(task.file).read_bytes(), task.macros)
    except OSError:
        return []


# ---- deciding and writing ---------------------------------------------------------------------------------------


class PortTask(NamedTuple):
    """A file to decide and write.

    source   hash that the source had when it was scanned
    written  hash of what the last run wrote here, "" to overwrite whatever is there
    """

    entry: Entry
    facts: bytes
    source: str
    index_file: str
    root: str
    output: str | None
    want_diff: bool
    written: str


class Ported(NamedTuple):
    """What porting gave: the result, the hash of what the port wrote, whether it may be used again, the difference."""

    result: FileResult
    written: str = ""
    reusable: bool = False
    diff: bytes = b""


def write_index(index: Index, path: str) -> None:
    """Leave the index where every process finds it."""
    with open(path, "wb") as file:
        pickle.dump(index, file)


@lru_cache(maxsize=1)
def _read_index(path: str) -> Index:
    with open(path, "rb") as file:
        index: Index = pickle.load(file)
    return index


def port_file(task: PortTask) -> Ported:
    """Decide one file and write it, unless nothing is to be written."""
    entry = task.entry
    result = FileResult(entry.path, entry.output_path, entry.language, FileStatus.UNCHANGED, size=entry.size)
    source = Path(task.root, entry.path)
    try:
        data = source.read_bytes()
    except OSError as error:
        return Ported(failed(result, f"cannot be read: {error.strerror}"))
    if states.hash_bytes(data) != task.source:
        return Ported(failed(result, "changed during the run"))
    new = _decide(result, data, task)
    try:
        return _write(result, source, data, new, task)
    except OSError as error:
        return Ported(failed(result, f"cannot be written: {error.strerror}"))


def _decide(result: FileResult, data: bytes, task: PortTask) -> bytes:
    facts = unpack_facts(task.facts)
    index = _read_index(task.index_file)
    try:
        if task.entry.language == C_FAMILY:
            outcome = engine.port(result.path, data, facts, index, _TABLES[0])
        else:
            outcome = languages.port(task.entry.language, result.path, data, index, _TABLES[0])
    except Exception as error:  # one file must not end the run: it is reported and copied
        add_finding(result, "internal-error", f"{type(error).__name__}: {error}")
        return data
    result.edit_count, result.edits = outcome.edit_count, outcome.edits
    result.findings, result.names = outcome.findings, outcome.names
    if result.output_path and task.entry.rule:
        add_finding(result, task.entry.rule, task.entry.note)
    if facts.error_at >= 0:
        line = data.count(b"\n", 0, facts.error_at) + 1
        add_finding(result, "syntax-errors", f"not understood from line {line} on; ported by token", line)
    if outcome.data != data:
        result.status = FileStatus.PORTED
    return outcome.data


def _write(result: FileResult, source: Path, data: bytes, new: bytes, task: PortTask) -> Ported:
    path = result.output_path or result.path
    text = diff.unified(result.path, path, data, new) if task.want_diff else b""
    if task.output is None:
        return Ported(result, diff=text)
    target = Path(task.output, path)
    if _is_edited(target, task.written):
        add_finding(result, "edited-output", _EDITED.format(path))
        return Ported(result, task.written)
    make_folder(Path(task.output), target.parent)
    write_bytes(target, new, like=source)
    if target != source and Path(task.output) == Path(task.root):
        source.unlink()
    return Ported(result, states.hash_bytes(new), reusable=True)


_EDITED = "{} was changed by hand since the last run and is kept"


def _is_edited(target: Path, written: str) -> bool:
    """Whether somebody changed what the last run wrote."""
    return bool(written) and target.is_file() and states.hash_file(target) != written


class CopyTask(NamedTuple):
    """A file, or a link, that goes to the output as it is. A link gets `link_target`."""

    entry: Entry
    root: str
    output: str
    link_target: str
    #: Hash of what the last run wrote here; None when no state is kept.
    written: str | None


class Copied(NamedTuple):
    """What copying gave: why it failed, or ""; whether an edited file was kept; the hash of what the run wrote."""

    failure: str = ""
    kept: bool = False
    written: str = ""


def copy(task: CopyTask) -> Copied:
    """Copy one file."""
    path = task.entry.output_path or task.entry.path
    source, target = Path(task.root, task.entry.path), Path(task.output, path)
    try:
        if _is_edited(target, task.written or ""):
            return Copied(kept=True, written=task.written or "")
        make_folder(Path(task.output), target.parent)
        if task.entry.language == "link":
            make_link(task.link_target, target)
            if source.is_symlink() and source != target and Path(task.root) == Path(task.output):
                source.unlink()
            return Copied()
        copy_file(source, target)
        return Copied(written=states.hash_file(target) if task.written is not None else "")
    except OSError as error:
        return Copied(f"cannot be copied: {error.strerror}")


def report_edited(result: FileResult) -> None:
    """Say that an edited copy was kept."""
    add_finding(result, "edited-output", _EDITED.format(result.output_path))


def failed(result: FileResult, reason: str) -> FileResult:
    """The result, as one that failed."""
    result.status, result.reason, result.output_path = FileStatus.FAILED, reason, None
    add_finding(result, "unreadable-file", f"{result.path} {reason}")
    return result


def add_finding(result: FileResult, rule: str, message: str, line: int = 1) -> None:
    """A finding about the file as a whole."""
    entry = get_rule(rule)
    result.findings.append(Finding(entry.id, entry.severity, result.path, line, 1, message, entry.advice))
