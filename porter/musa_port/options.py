"""The options of a run, as the command line and the Python API share them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: Extensions that are ported as C-family sources.
C_FAMILY_SUFFIXES = frozenset(
    ".cu .cuh .c .h .cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .inl .inc .ipp .tpp .tcc .ixx .cppm .cuinc .impl".split()
)
#: Extensions renamed by default, and what they become.
RENAMED = {".cu": ".mu", ".cuh": ".muh"}
#: Sources that are MUSA already.
NATIVE = frozenset({".mu", ".muh"})
#: Version control and caches: no part of the sources.
IGNORED = frozenset(".git .hg .svn __pycache__ .mypy_cache .pytest_cache .venv node_modules".split())
ARCHITECTURES = ("mp_21", "mp_22", "mp_31")


@dataclass(frozen=True, slots=True)
class Options:
    """How to port. Defaults are the command line's defaults; see `musa-port --help` for what each one means."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    map_files: tuple[Path, ...] = ()
    default_map: bool = True
    keep_names: tuple[str, ...] = ()
    min_confidence: str = "derived"
    rename_ext: bool = True
    rename_project_names: bool = False
    comments: bool = False
    strings: bool = False
    arch: tuple[str, ...] = ("mp_22", "mp_31")
    arch_map: Path | None = None
    guards: str = "rewrite"
    cuda_version: int | None = None
    ptx: str = "report"
    strip_nvtx: bool = False
    only: frozenset[str] = frozenset({"cpp", "python", "cmake", "shell"})
    reverse: bool = False
    #: Processes; 0 chooses by the size of the tree.
    jobs: int = 1
    state: Path | None = None
    force: bool = False
    max_file_size: int = 8_000_000
    #: Keep each edit in the report (JSON needs them, the terminal summary does not).
    keep_edits: bool = False
