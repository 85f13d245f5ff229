"""Errors that end a run with one line on the terminal."""

from __future__ import annotations


class UsageError(Exception):
    """The command line, an option's file or a path is not usable. Exit status 2."""
