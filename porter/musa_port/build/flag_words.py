"""Compiler flags that stand as words in a build file: translates them in place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from musa_port import flags
from musa_port.draft import Draft
from musa_port.model import Severity
from musa_port.rules import Rule, register

FLAG = register(
    Rule(
        "B1",
        "compiler-flag",
        Severity.WARNING,
        "Translates the flags of nvcc, and the libraries, macros and folders of the toolkit among flags, by table.",
        why="Flags that the table does not know stay, and so do paths and the values of macros.",
        example=("set(CUDA_NVCC_FLAGS -arch=sm_80 -Xptxas=-v)", "set(MUSA_MCC_FLAGS --offload-arch=mp_22)"),
        advice="Compare the two flags; mcc has flags of its own that nvcc lacks, and the other way round.",
        evidence="compiler_flags.csv, libraries.csv, macros.csv, arch.csv",
    )
)


class Word(NamedTuple):
    """A word of a build file.

    start, end  the text as a compiler sees it
    outer       what to remove with the word: its quotes
    joiner      what separates words here
    empty       what takes the place of a word that is dropped, where something must stand
    """

    start: int
    end: int
    text: str
    outer: tuple[int, int]
    joiner: str = " "
    empty: str = ""


#: The end of a line that goes on below, and that of any line.
_CONTINUED = re.compile(rb"[ \t]*\\\r?\n\Z")
_LINE_END = re.compile(rb"(?:\\?\r?\n)|\Z")
_SOURCE = re.compile(r"\.[cm]uh?$")


def translate(draft: Draft, words: Sequence[Word], *, host: bool = False) -> None:
    """Translate what the tables know among the words. Sources, and words without text or decided already, separate."""
    run: list[Word] = []
    for word in words:
        if not word.text or _SOURCE.search(word.text) or draft.is_claimed(word.start):
            _translate(draft, run, host)
            run = []
        else:
            run.append(word)
    _translate(draft, run, host)


def _translate(draft: Draft, words: list[Word], host: bool) -> None:
    entries = flags.translate(
        [word.text for word in words],
        draft.options.arch,
        host=host,
        rename_project_names=draft.options.rename_project_names,
    )
    for entry in entries:
        _apply(draft, words[entry.start : entry.start + entry.count], entry)


def _apply(draft: Draft, words: list[Word], entry: flags.Translation) -> None:
    start, end = words[0].start, words[-1].end
    old, new = " ".join(word.text for word in words), " ".join(entry.new)
    row, severity = entry.row, entry.severity
    kept = list(entry.new) == [word.text for word in words]
    if row is not None and not kept and not draft.names.allowed(row):
        kept, severity = True, Severity.WARNING
        message = f"{old} is left: confidence {row.confidence} is below --min-confidence"
    elif kept:
        message = f"{old} is left: {entry.note}"
    else:
        message = (f"{old} became {new}" if new else f"{old} is dropped") + (f": {entry.note}" if entry.note else "")
    if severity is not None:
        changed = "" if kept else new
        draft.report("compiler-flag", start, end, message, severity=severity, new=changed, name=old, once=message)
    if kept:
        for word in words:
            draft.claim(word.start, word.end)
        return
    _write(draft, words, entry.new, row.confidence if row else "")


def _write(draft: Draft, words: list[Word], new: tuple[str, ...], confidence: str) -> None:
    """Put the new words in place of the old ones. What stays of them is not touched: it may hold variables."""
    parts = _parts(words[-1].text, new)
    if parts:
        _remove_all(draft, words[:-1], confidence)
        _join(draft, words[-1], parts, confidence)
        return
    rest = words
    if new:
        first, rest = words[0], words[1:]
        # Several words cannot stand in the quotes of one.
        place = first.outer if len(new) > 1 and first.joiner == " " else (first.start, first.end)
        draft.edit(*place, first.joiner.join(new), "compiler-flag", confidence)
    _remove_all(draft, rest, confidence)


def _parts(text: str, new: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where each of the new words stands in the old text, in order; empty when one does not."""
    found: list[tuple[int, int]] = []
    position = 0
    for word in new:
        start = text.find(word, position)
        if start < 0:
            return []
        position = start + len(word)
        found.append((start, position))
    return found


def _join(draft: Draft, word: Word, parts: list[tuple[int, int]], confidence: str) -> None:
    """Leave nothing of a word but its `parts`."""
    quoted = word.outer != (word.start, word.end) and len(parts) > 1 and word.joiner == " "
    begin, end = word.outer if quoted else (word.start, word.end)
    places = [(word.start + start, word.start + stop) for start, stop in parts]
    gaps = [(begin, places[0][0], "")]
    gaps += [(left[1], right[0], word.joiner) for left, right in pairwise(places)]
    for start, stop, text in [*gaps, (places[-1][1], end, "")]:
        if start < stop:
            draft.edit(start, stop, text, "compiler-flag", confidence)


def _remove_all(draft: Draft, words: list[Word], confidence: str) -> None:
    for word in words:
        if word.empty:
            draft.edit(*word.outer, word.empty, "compiler-flag", confidence)
    for start, end in _together(draft.data, [word.outer for word in words if not word.empty]):
        remove(draft, start, end, "compiler-flag", confidence)


def _together(data: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, those in one that have nothing but space between them."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and re.fullmatch(rb"[\s;\\]*", data[merged[-1][1] : start]):
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    return merged


def remove(draft: Draft, start: int, end: int, rule: str, confidence: str = "") -> None:
    """Remove a word and the space that separates it from another one, or its line when nothing else is on it."""
    data = draft.data
    begin, stop = start, end
    while begin > 0 and data[begin - 1] in b" \t" and not draft.is_claimed(begin - 1):
        begin -= 1
    while stop < len(data) and data[stop] in b" \t" and not draft.is_claimed(stop):
        stop += 1
    if (before := _CONTINUED.search(data, max(0, begin - 80), begin)) and _LINE_END.match(data, stop):
        draft.edit(before.start(), end, "", rule, confidence)  # with the backslash that led to its line
        return
    at_line_start = begin == 0 or data[begin - 1] in b"\r\n"
    at_line_end = stop == len(data) or data[stop] in b"\r\n"
    if at_line_start and at_line_end and begin > 0:
        begin -= 2 if data[:begin].endswith(b"\r\n") else 1
        stop = end
    elif at_line_start:
        begin = start
    elif begin < start:
        stop = end
    elif re.match(rb"[;,]", data[begin - 1 : begin]) and not draft.is_claimed(begin - 1):
        begin, stop = begin - 1, end
    elif re.match(rb"[;,]", data[stop : stop + 1]) and not draft.is_claimed(stop):
        stop += 1
    draft.edit(begin, stop, "", rule, confidence)
