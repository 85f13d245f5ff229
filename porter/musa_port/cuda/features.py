"""Hardware and launch features that have no MUSA counterpart, or a different one, recognised by name (features.csv)."""

from __future__ import annotations

from typing import NamedTuple

from musa_port.mappings import read_table
from musa_port.model import Severity


class Feature(NamedTuple):
    """One row: `kind` is name, namespace or prefix."""

    name: str
    kind: str
    severity: Severity
    title: str
    note: str


class Features:
    """Look-up by name and by prefix."""

    def __init__(self, enabled: bool = True) -> None:
        rows = [
            Feature(row["cuda_name"], row["kind"], Severity(row["severity"]), row["feature"], row["note"])
            for row in (read_table("features") if enabled else ())
        ]
        self._names = {row.name: row for row in rows if row.kind != "prefix"}
        self._prefixes = [row for row in rows if row.kind == "prefix"]

    def find(self, name: str) -> Feature | None:
        feature = self._names.get(name)
        if feature is None and name[:2] == "SM":
            feature = next((row for row in self._prefixes if name.startswith(row.name)), None)
        return feature
