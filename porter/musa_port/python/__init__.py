"""Python sources: a syntax tree that keeps formatting (libcst), one visit, rules that ask for edits."""

from musa_port.python import engine

__all__ = ["engine"]
