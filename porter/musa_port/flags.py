"""Compiler flags by table: what mcc takes in place of a flag of nvcc.

The rows are data (compiler_flags.csv, the link flags of libraries.csv, the macros of macros.csv, sm to mp in arch.csv);
nvcc_options.csv says how nvcc spells its options. A flag in no table is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from musa_port.mappings import Row, read_rows, read_table
from musa_port.model import Severity
from musa_port.names import BUILD_FLAGS


@dataclass(frozen=True, slots=True)
class Translation:
    """What becomes of the `count` tokens from `start` on.

    new       the tokens to write: empty when the flag is dropped, the old ones when it has to stay
    row       the table row behind it
    note      what somebody should know, "" when there is nothing to say
    severity  of the finding to give; None when none is needed
    """

    start: int
    count: int
    new: tuple[str, ...]
    row: Row | None
    note: str
    severity: Severity | None


class _Group(NamedTuple):
    """An option of nvcc as it stands in a list of tokens: its long name, its value if it takes one, its tokens."""

    option: str
    value: str
    tokens: tuple[str, ...]


#: Values in the table that stand for any value.
_ANY = frozenset({"X", "N", "...", ""})
_SM = re.compile(r"(?:sm|compute|lto)_(\d+)[af]?(?![\w$])")
_LOOKS_LIKE_SM = re.compile(r"\b(?:sm|compute|lto)_|^(?:native|all|all-major)$|^\$")
_FILE = re.compile(r"\bx\.\w+")
_MP = re.compile(r"mp_(\d+)")
#: Options that host compilers and linkers have as well.
_HOST_OPTIONS = frozenset({"--define-macro", "--include-path", "--library", "--library-path", "--undefine-macro"})


def translate(
    tokens: Sequence[str], archs: Sequence[str], *, host: bool = False, rename_project_names: bool = False
) -> list[Translation]:
    """One entry for each group of tokens that the tables know, in order.

    archs                 what the port is for (`mp_22`); no other architecture comes out
    host                  look only at what a host compiler or linker takes too: -D, -U, -I, -L, -l
    rename_project_names  rename macros such as USE_CUDA, which are the project's own
    """
    translator = _Translator(archs, rename_project_names)
    found: list[Translation] = []
    position = 0
    while position < len(tokens):
        group = _group(tokens, position)
        entry = translator.decide(position, group) if group and (not host or group.option in _HOST_OPTIONS) else None
        if entry:
            found.append(entry)
        position += entry.count if entry else 1
    return found


def architecture(number: str) -> str | None:
    """`"80"` to `"22"`, `"9.0a"` to `"31"`: between two rows the lower one counts; None when unknown."""
    match = re.fullmatch(r"(\d+)(?:\.(\d))?[af]?", number)
    if not match:
        return None
    sm = int(match.group(1) + (match.group(2) or ""))
    rows = _sm_rows()
    below = [key for key in rows if key <= sm]
    return rows[max(below)] if below else None


def target(number: str, archs: Sequence[str]) -> str | None:
    """The architecture to build for in place of `number`: its counterpart, or the nearest of `archs` (`mp_31`) to it.

    The nearest is the greatest below the counterpart, or else the smallest; without `archs` everything counts.
    """
    wanted = architecture(number)
    chosen = sorted(arch.removeprefix("mp_") for arch in archs)
    if wanted is None or not chosen:
        return wanted
    return max((arch for arch in chosen if arch <= wanted), default=chosen[0])


def architectures(text: str, archs: Sequence[str]) -> tuple[str, ...] | None:
    """A list of architectures, without repetitions: `"80;90a"` to `("22", "31")`, `"8.0 9.0+PTX"` to `("2.2", "3.1")`.

    Only what is among `archs` comes out. None when something in the list is not understood.
    """
    found: dict[str, None] = {}
    for item in re.split(r"[;,\s]+", text.strip()):
        number = target(re.sub(r"(\+PTX|-real|-virtual)$", "", item), archs)
        if number is None:
            return None
        found[f"{number[:-1]}.{number[-1]}" if "." in item else number] = None
    return tuple(found)


def architecture_text(text: str, archs: Sequence[str]) -> str | None:
    """The list of `architectures` as text, with the separator that `text` has."""
    found = architectures(text, archs)
    separator = re.search(r"[;,\s]", text.strip())
    return (separator.group() if separator else ";").join(found) if found is not None else None


def torch_architectures(text: str, archs: Sequence[str]) -> str | None:
    """The value of TORCH_CUDA_ARCH_LIST as torch_musa reads it: `"8.0 9.0+PTX"` to `"22;31"`."""
    found = architectures(text, archs)
    return ";".join(dict.fromkeys(item.replace(".", "") for item in found)) if found is not None else None


_NVCC_ALONE = re.compile(
    r"(?<![\w-])(?:-gencode\b|--generate-code\b|-arch[= ](?:sm|compute)_|--gpu-architecture\b"
    r"|-X(?:ptxas|cudafe|fatbin)\b|--expt-)"
)


def is_for_nvcc(text: str) -> bool:
    """Whether the text holds an option that only nvcc has, so that all of it are flags of nvcc."""
    return _NVCC_ALONE.search(text) is not None


def tool(name: str) -> Row | None:
    """The row of a program of the toolkit, such as nvcc or nvidia-smi."""
    return _tools().get(name)


def path(text: str) -> Row | None:
    """The row of a folder of the toolkit: `/usr/local/cuda`, or with its `include` or `lib64`."""
    return _paths().get(text.rstrip("/"))


# ---- groups -----------------------------------------------------------------------------------------------------


def _group(tokens: Sequence[str], position: int) -> _Group | None:
    """The option that starts at `position`."""
    group = _any_group(tokens, position)
    # `-t` is an option of many programs: only with a number does it mean threads.
    is_other = group and group.option == "--threads" and not re.match(r"\d+$|\$|N$", group.value)
    return None if is_other else group


def _any_group(tokens: Sequence[str], position: int) -> _Group | None:
    token = tokens[position]
    head, equals, value = token.partition("=")
    option, kind = _options().get(head, ("", ""))
    if option and kind == "none":
        return None if equals else _Group(option, "", (token,))
    if option and equals:
        return _Group(option, value, (token,))
    if option and position + 1 < len(tokens):
        return _Group(option, tokens[position + 1], tuple(tokens[position : position + 2]))
    option, kind = _options().get(token[:2], ("", ""))
    return _Group(option, token[2:], (token,)) if kind == "glued" and len(token) > 2 else None


@cache
def _options() -> dict[str, tuple[str, str]]:
    """Each spelling of an option -> (its name, how it takes a value)."""
    spellings: dict[str, tuple[str, str]] = {}
    for row in read_table("nvcc_options"):
        name = row["option"] or row["short"]
        entry = (name, row["value"])
        for spelling in filter(None, (row["option"], row["short"])):
            spellings[spelling] = entry
        if len(name) > 3:  # nvcc takes long options with one dash as well
            spellings.setdefault("-" + name.lstrip("-"), entry)
    return spellings


# ---- rows -------------------------------------------------------------------------------------------------------


@cache
def _rows() -> dict[tuple[str, str], Row]:
    """Rows by option and value; the value is "" where the row stands for any value, "sm" for an architecture."""
    rows: dict[tuple[str, str], Row] = {}
    for row in _flag_rows():
        tokens = row.cuda.removeprefix("clang ").split()
        group = _group(tokens, 0)
        if group is None or list(group.tokens) != tokens or row.cuda == row.musa:
            continue
        value = "" if group.value in _ANY else "sm" if _SM.search(group.value) else group.value
        held = rows.get((group.option, value))
        # Of rows for several architectures, the first that has a counterpart gives the spelling.
        if held is None or (not held.supported and row.supported):
            rows[group.option, value] = row
    return rows


def _flag_rows() -> Iterator[Row]:
    yield from (row for row in read_rows("compiler_flags") if row.kind == "flag" or row.cuda.startswith("clang "))
    yield from (row for row in read_rows("libraries") if row.kind == "link-flag")


@cache
def _macros() -> dict[str, Row]:
    rows = {row.cuda: row for row in read_rows("macros") if row.kind == "macro" and row.cuda != row.musa}
    projects = {row.cuda: row for row in read_rows("env") if row.cuda in BUILD_FLAGS}
    return rows | projects


@cache
def _paths() -> dict[str, Row]:
    rows = {row.cuda: row for row in read_rows("env") if row.cuda.startswith("/")}
    for row in read_rows("compiler_flags"):
        if re.match(r"-[IL]/", row.cuda):
            rows[row.cuda[2:]] = row._replace(cuda=row.cuda[2:], musa=row.musa[2:])
    return rows


@cache
def _tools() -> dict[str, Row]:
    return {
        name: row
        for row in read_rows("compiler_flags")
        if row.kind == "tool"
        for name in row.cuda.split(" / ")
        if re.fullmatch(r"[\w-]+", name)
    }


@cache
def _sm_rows() -> dict[int, str | None]:
    """sm number -> mp number; None where there is no counterpart."""
    rows: dict[int, str | None] = {}
    for row in read_rows("arch"):
        if not row.cuda.startswith("sm_"):
            continue
        target = _MP.fullmatch(row.musa)
        for number in _SM.findall(row.cuda):
            rows[int(number)] = target.group(1) if target else None
    return rows


# ---- one group --------------------------------------------------------------------------------------------------


class _Translator:
    """Decides one list of tokens, group by group."""

    def __init__(self, archs: Sequence[str], rename_project_names: bool) -> None:
        self._archs = archs
        self._rename_project_names = rename_project_names
        #: The architectures that the list names so far.
        self._targets: set[str] = set()

    def decide(self, start: int, group: _Group) -> Translation | None:
        """What becomes of the group at `start`."""
        if group.option in ("--define-macro", "--undefine-macro"):
            return self._macro(start, group)
        row = _rows().get((group.option, group.value)) or _rows().get((group.option, ""))
        if row is None and _LOOKS_LIKE_SM.search(group.value) and (group.option, "sm") in _rows():
            return self._architecture(start, group)
        if row is None:
            return _unknown_value(start, group)
        new = _written(group, row) if row.supported else None
        if new is None:
            return _kept(start, group, row, _why_kept(row), Severity.ERROR)
        return Translation(start, len(group.tokens), new, row, row.note, _severity(row))

    def _macro(self, start: int, group: _Group) -> Translation | None:
        name = group.value.partition("=")[0]
        row = _macros().get(name)
        if row is None:
            return None
        if name in BUILD_FLAGS and not self._rename_project_names:
            return _kept(start, group, row, "the project's own macro, which its sources test", Severity.INFO)
        if not row.supported:
            return _kept(start, group, row, row.note or "no counterpart", Severity.ERROR)
        if row.flag == "semantic":
            return _kept(start, group, row, row.note or "its values differ on MUSA", Severity.WARNING)
        last = group.tokens[-1].removesuffix(group.value) + row.musa + group.value[len(name) :]
        return Translation(start, len(group.tokens), (*group.tokens[:-1], last), row, row.note, _severity(row))

    def _architecture(self, start: int, group: _Group) -> Translation:
        """Flags for the architectures that `-gencode` and its kind name, without those that stand there already."""
        text = group.value.rpartition("code=")[2]
        numbers = _SM.findall(text)
        meant = [architecture(number) for number in numbers]
        row = _rows()[group.option, "sm"]
        if not meant or None in meant or len(meant) < len(_LOOKS_LIKE_SM.findall(text)):
            return _kept(start, group, row, "no counterpart of this architecture is known", Severity.ERROR)
        targets = [target(number, self._archs) for number in numbers]
        fresh = [number for number in dict.fromkeys(targets) if number and number not in self._targets]
        self._targets.update(fresh)
        spelling = row.musa if _MP.search(row.musa) else _rows()["--gpu-architecture", "sm"].musa
        others = [f"mp_{number}" for number in dict.fromkeys(meant) if number not in targets]
        note = f"its counterpart {', '.join(others)} is not among --arch" if others else ""
        new = tuple(_MP.sub(f"mp_{number}", spelling) for number in fresh)
        return Translation(start, len(group.tokens), new, row, note, Severity.WARNING)


def _kept(start: int, group: _Group, row: Row | None, note: str, severity: Severity) -> Translation:
    return Translation(start, len(group.tokens), group.tokens, row, note, severity)


def _unknown_value(start: int, group: _Group) -> Translation | None:
    """An option of nvcc alone, with a value that is in no row: mcc would stumble over it."""
    others = [value for option, value in _rows() if option == group.option]
    if not others or "sm" in others or _options()[group.option][1] == "glued":
        return None
    return _kept(start, group, None, "the table has this option of nvcc with other values only", Severity.WARNING)


def _severity(row: Row) -> Severity | None:
    if row.flag == "semantic":
        return Severity.WARNING
    return Severity.INFO if row.flag or row.confidence in ("low", "medium-low", "derived", "unknown") else None


def _why_kept(row: Row) -> str:
    if not row.supported:
        return row.note or "no counterpart"
    return f"it cannot be translated as it stands; on MUSA it is {row.musa}"


def _written(group: _Group, row: Row) -> tuple[str, ...] | None:
    """The tokens that the row asks for; None when they cannot be told from the group alone."""
    if row.musa == "(drop)":
        return ()
    if _FILE.search(row.musa):
        return None
    if row.musa == "X":
        return _host_flags(group.value)
    if row.musa.endswith("="):
        known = path(group.value)
        return (row.musa + (known.musa if known else group.value),)
    return tuple(re.sub(r"\bX$", lambda _: group.value, word) for word in row.musa.split())


def _host_flags(value: str) -> tuple[str, ...] | None:
    """The flags in the value of -Xcompiler: nvcc splits at commas that no backslash protects."""
    if "$<" in value or re.search(r"\$[({][^)}]*[,\s]", value):
        return None
    parts = re.split(r"(?<!\\),|\s+", re.sub(r"""^\\?["']|\\?["']$""", "", value))
    flags = [part.replace("\\,", ",") for part in parts if part]
    if any(_is_for_nvcc(flag) for flag in flags):
        return None  # without -Xcompiler it would mean something else
    entries = {entry.start: entry.new for entry in translate(flags, (), host=True) if entry.count == 1}
    return tuple(new for place, flag in enumerate(flags) for new in entries.get(place, (flag,)))


def _is_for_nvcc(flag: str) -> bool:
    group = _group([flag, "0"], 0)
    return group is not None and group.option not in _HOST_OPTIONS
