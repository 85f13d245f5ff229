"""The state file of incremental runs: what each file was, what it held, and what was made of it.

It is JSON, so that reading one that somebody else wrote runs no code. The records of another version of musa-port, or
of other options or map files, are not used; what was written where is remembered all the same, so that a file that
somebody changed by hand is known as such.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from musa_port.cuda.facts import Facts
from musa_port.errors import UsageError
from musa_port.model import Edit, FileResult, FileStatus, Finding, Severity
from musa_port.options import Options
from musa_port.write import write_bytes

_FORMAT = 1
#: Options that change how a run works, not what it writes.
_NO_EFFECT = frozenset({"jobs", "state", "force"})


@dataclass(slots=True)
class Record:
    """One source: its hash, its facts (JSON), and the result, None when there is none that may be used again."""

    source: str
    facts: str
    result: dict[str, Any] | None = None


@dataclass(slots=True)
class State:
    """What the last run left.

    digest   identifies version, options and tables; index the declarations of the whole tree
    records  by source path
    written  output path -> hash of what was written there
    """

    digest: str
    index: str = ""
    records: dict[str, Record] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)


def digest_of(options: Options, version: str) -> str:
    """Identifies everything but the sources that decides what is written."""
    table = {key: _ordered(value) for key, value in asdict(options).items() if key not in _NO_EFFECT}
    hasher = hashlib.sha256(repr((version, sorted(table.items(), key=lambda item: item[0]))).encode())
    for path in (*options.map_files, *filter(None, [options.arch_map])):
        hasher.update(hash_file(path).encode())
    return hasher.hexdigest()


def _ordered(value: Any) -> Any:
    return sorted(value) if isinstance(value, (set, frozenset)) else value


def hash_bytes(data: bytes) -> str:
    """The hash by which sources and outputs are compared."""
    return hashlib.sha256(data).hexdigest()


def hash_file(path: Path) -> str:
    """Hash of a file's bytes, or "" when it cannot be read."""
    try:
        return hash_bytes(path.read_bytes())
    except OSError:
        return ""


def load(path: Path, digest: str) -> State:
    """The state in `path`; an empty one when there is none. Raises UsageError when it is no state file."""
    try:
        if not path.exists():
            return State(digest)
        table = json.loads(path.read_text(encoding="utf-8"))
        if table["musa-port-state"] != _FORMAT:
            return State(digest)
        written = {str(name): str(hash_) for name, hash_ in table["written"].items()}
        if table["digest"] != digest:
            return State(digest, written=written)
        records = {name: _record(record) for name, record in table["records"].items()}
        return State(digest, str(table["index"]), records, written)
    except OSError as error:
        raise UsageError(f"--state {path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"--state {path}: is no state file of musa-port; delete it or name another") from error


def _record(table: dict[str, Any]) -> Record:
    """A record, looked through: what does not fit raises here and not in the middle of a run."""
    record = Record(**table)
    Facts.loads(record.facts.encode())
    if record.result is not None:
        unpack(record.result)
    return record


def save(path: Path, state: State) -> None:
    """Write the state atomically."""
    table = {
        "musa-port-state": _FORMAT,
        "digest": state.digest,
        "index": state.index,
        "records": {name: asdict(state.records[name]) for name in sorted(state.records)},
        "written": dict(sorted(state.written.items())),
    }
    try:
        write_bytes(path, json.dumps(table, separators=(",", ":")).encode())
    except OSError as error:
        raise UsageError(f"--state {path}: cannot be written: {error.strerror}") from error


def pack(result: FileResult) -> dict[str, Any]:
    """A result as JSON values."""
    table = asdict(result)
    table["edits"] = [list(edit) for edit in result.edits]
    table["findings"] = [list(finding) for finding in result.findings]
    return table


def unpack(table: dict[str, Any]) -> FileResult:
    """The inverse of `pack`."""
    return FileResult(
        **{
            **table,
            "status": FileStatus(table["status"]),
            "edits": [Edit(*edit) for edit in table["edits"]],
            "findings": [Finding(rule, Severity(level), *rest) for rule, level, *rest in table["findings"]],
            "names": {name: (uses, status) for name, (uses, status) in table["names"].items()},
        }
    )
