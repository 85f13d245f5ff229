"""`--include` and `--exclude`, in the language of .gitignore."""

from __future__ import annotations

from pathspec import GitIgnoreSpec

from musa_port.errors import UsageError
from musa_port.options import Options


class Selection:
    """Which paths the user chose. Raises UsageError for patterns that are none."""

    def __init__(self, options: Options) -> None:
        self._include = _spec("--include", options.include)
        self._exclude = _spec("--exclude", options.exclude)

    def excluded(self, path: str) -> bool:
        """Whether --exclude names the path."""
        return self._exclude is not None and self._exclude.match_file(path)

    def included(self, path: str) -> bool | None:
        """Whether --include names the path; None when no --include was given."""
        return None if self._include is None else self._include.match_file(path)


def _spec(option: str, patterns: tuple[str, ...]) -> GitIgnoreSpec | None:
    try:
        return GitIgnoreSpec.from_lines(patterns) if patterns else None
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error
