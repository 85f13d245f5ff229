"""A folder to install made-up distributions into, as pip would leave them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest


class Site:
    """A site-packages folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def install(
        self,
        name: str,
        version: str,
        files: Mapping[str, str] | None = None,
        requires: Sequence[str] = (),
        entry_points: str = "",
    ) -> None:
        """Write the files of a distribution, its metadata and its list of files with hashes."""
        if files is None:
            files = {f"{name.replace('-', '_')}/__init__.py": ""}
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
        metadata += [f"Requires-Dist: {one}" for one in requires]
        record = []
        for path, content in files.items():
            self.write(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content.encode())}")
        self.write(f"{info}/METADATA", "\n".join(metadata) + "\n")
        if entry_points:
            self.write(f"{info}/entry_points.txt", entry_points)
        self.write(f"{info}/RECORD", "\n".join([*record, f"{info}/METADATA,,", f"{info}/RECORD,,"]) + "\n")

    def write(self, path: str, content: str = "") -> None:
        """A file that no distribution knows of."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def ours(self, module: str = "deep_gemm") -> None:
        """A shim of this project."""
        self.install(
            module.replace("_", "-"),
            "2.6.1",
            {f"{module}/__init__.py": "# ours\n"},
            ["musa-compat (>=0.1)"],
            f"[musa_compat.operators]\n{module} = {module}._operators\n",
        )


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """An empty one."""
    return Site(tmp_path / "site")
