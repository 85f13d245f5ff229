"""musa-port: rewrites CUDA source trees for MUSA.

from pathlib import Path
from musa_port import Options, port_tree

report = port_tree(Path("src"), Path("out"), Options(arch=("mp_31",)))
print(report.edit_count, report.has_errors)
"""

from __future__ import annotations

__version__ = "0.1.0"

from musa_port.api import FilePort, port_sources, port_tree
from musa_port.errors import UsageError
from musa_port.model import Edit, FileResult, FileStatus, Finding, Report, Severity
from musa_port.options import Options

__all__ = [
    "Edit",
    "FilePort",
    "FileResult",
    "FileStatus",
    "Finding",
    "Options",
    "Report",
    "Severity",
    "UsageError",
    "__version__",
    "port_sources",
    "port_tree",
]
