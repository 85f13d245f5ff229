"""Text that rules read, and where each of its characters stands in the file.

A whole file is a fragment; so are a word without its quotes, a script in a YAML block, an element of a JSON list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from musa_port.draft import Draft
from musa_port.model import Severity


@dataclass(frozen=True, slots=True)
class Fragment:
    """A text made of characters of a file.

    text  what rules read
    at    the byte offset in the file of each character
    """

    draft: Draft
    text: str
    at: Sequence[int]

    @classmethod
    def of_file(cls, draft: Draft) -> Fragment:
        """The whole file; each byte is one character, so that any encoding passes through."""
        text = draft.data.decode("latin-1")
        return cls(draft, text, range(len(text)))

    def part(self, start: int, end: int) -> Fragment:
        """A stretch of the fragment."""
        return Fragment(self.draft, self.text[start:end], self.at[start:end])

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch lies in the file."""
        if not self.at:
            return 0, 0
        if start >= len(self.at):
            return self.at[-1] + 1, self.at[-1] + 1
        return self.at[start], self.at[end - 1] + 1 if end > start else self.at[start]

    def is_plain(self, start: int, end: int) -> bool:
        """Whether the stretch stands in the file as it is here, in one piece and without escapes."""
        begin, stop = self.place(start, end)
        return self.draft.data[begin:stop] == self.text[start:end].encode("ascii", "replace")

    def edit(self, start: int, end: int, new: str, rule: str, confidence: str = "") -> bool:
        """Replace a stretch; whether that was possible. Text that is decided already stays."""
        begin, stop = self.place(start, end)
        if self.draft.is_claimed(begin):
            return False
        if not self.is_plain(start, end):
            message = f"{self.text[start:end]} is written with escapes and stays; it should be {new}"
            self.report(rule, start, end, message, severity=Severity.WARNING)
            return False
        self.draft.edit(begin, stop, new, rule, confidence)
        return True

    def remove(self, start: int, end: int, rule: str) -> None:
        """Remove a stretch that may hold anything."""
        self.draft.edit(*self.place(start, end), "", rule)

    def report(self, rule: str, start: int, end: int, message: str, **options: Any) -> None:
        """Add a finding about a stretch, unless it is there; the options are those of `Draft.report`."""
        place = self.place(start, end)
        options.setdefault("once", f"{place[0]} {message}")
        self.draft.report(rule, *place, message, **options)
