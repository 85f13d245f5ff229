"""Finding the operators of installed packages.

A package that has operators names a module in the entry point group `musa_compat.operators`; importing the module
registers them. So the core knows no shim, and `musa-compat explain` still finds all of them.
"""

from __future__ import annotations

import importlib

GROUP = "musa_compat.operators"


def load() -> dict[str, str]:
    """Import every module that registers operators; returns those that cannot be imported, each with the reason."""
    from importlib.metadata import entry_points  # 20 ms

    failed: dict[str, str] = {}
    for entry in entry_points(group=GROUP):
        try:
            importlib.import_module(entry.module)
        except Exception as error:  # one broken package must not hide the operators of the others
            failed[entry.module] = f"{type(error).__name__}: {error}"
    return failed
