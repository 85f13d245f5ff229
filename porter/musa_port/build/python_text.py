"""Python inside scripts, images, makefiles and workflows: `python -c "..."`, here-documents, steps in Python."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from musa_port import languages
from musa_port.build import program_options
from musa_port.build.fragment import Fragment
from musa_port.draft import Change, Draft, without_overlaps
from musa_port.model import Finding, Severity
from musa_port.rules import Rule, register

TEXT = register(
    Rule(
        "B43",
        "python-in-script",
        Severity.WARNING,
        "Reports Python in a script that cannot be ported where it stands; other Python there follows the rules for it.",
        example=(
            "python -c 'print torch.cuda.device_count()'",
            "python -c 'print torch.cuda.device_count()'",
        ),
        advice="Port the text by hand.",
    )
)

#: What a shell or make puts into the text before Python reads it, and what Python may hold in any encoding.
_UNKNOWN = re.compile(r"\$+[({]\w+[)}]|\$+\w+|[^\x00-\x7f]")
_QUOTES = frozenset("\"'`\\$")
_CODE_OPTION = re.compile(r"-[a-zA-Z]*c")


def code_words(words: Sequence[Fragment]) -> list[Fragment]:
    """The words of a command that are Python: what follows `python -c`."""
    return [
        words[index + 1]
        for index, word in enumerate(words[:-1])
        if _CODE_OPTION.fullmatch(word.text) and _follows_interpreter(words[:index])
    ]


def _follows_interpreter(words: Sequence[Fragment]) -> bool:
    """Whether nothing but options stands behind the last word that is no option, the interpreter."""
    program = next((word for word in reversed(words) if not word.text.startswith("-")), None)
    return program is not None and program_options.is_python(program) and not program.text.endswith(".py")


def is_python_file(name: str) -> bool:
    """Whether Python reads the file of this name."""
    return posixpath.splitext(name)[1] == ".py"


def decide(text: Fragment) -> None:
    """Port a text that is Python."""
    data = _UNKNOWN.sub(lambda match: "_" * len(match.group()), text.text).encode("ascii")
    python = languages.get("python")
    if not languages.is_candidate(data, python):
        return
    inner = Draft(text.draft.path, data, text.draft.index, text.draft.tables)
    python.port(inner)
    if refusal := next((finding for finding in inner.findings if finding.rule == "F16"), None):
        text.report("python-in-script", 0, len(text.text), f"Python in this text is left: {_reason(refusal)}")
        return
    for change in without_overlaps(inner.changes):
        _apply(text, change)
    for finding in inner.findings:
        _move(text, inner, finding)
    text.draft.uses.update(inner.uses)


def _reason(refusal: Finding) -> str:
    return refusal.message.partition(": ")[2]


def _apply(text: Fragment, change: Change) -> None:
    """One edit of the rules for Python, unless the place cannot hold it."""
    new, old = change.new.decode(), text.text[change.start : change.end]
    lines = [match.start() for match in re.finditer("\n", text.text)]
    if set(new) & _QUOTES - set(old) or _UNKNOWN.search(old) or ("\n" in new and not _all_plain(text, lines)):
        message = f"{old or 'this line'} is left: it should be {new.strip()}, which cannot be written here"
        text.report("python-in-script", change.start, change.end, message)
        return
    text.edit(change.start, change.end, new.replace("\n", "\n" + _indent(text, change.start)), change.rule)


def _all_plain(text: Fragment, places: list[int]) -> bool:
    return all(text.is_plain(place, place + 1) for place in places)


def _indent(text: Fragment, place: int) -> str:
    """What stands in the file before the line of the text, where a block of YAML is indented."""
    data, (start, _) = text.draft.data, text.place(text.text.rfind("\n", 0, place) + 1, place)
    before = data[data.rfind(b"\n", 0, start) + 1 : start]
    return before.decode() if not before.strip() else ""


def _move(text: Fragment, inner: Draft, finding: Finding) -> None:
    """A finding about the Python text, at its place in the file."""
    start, _ = text.place(min(inner.lines.start(finding.line) + finding.column - 1, len(text.text)), len(text.text))
    lines = text.draft.lines
    line, column = lines.position(min(start, len(text.draft.data)))
    if not text.draft.is_kept(start, start + 1):
        text.draft.findings.append(finding._replace(line=line, column=column, source_line=lines.text(line)))
