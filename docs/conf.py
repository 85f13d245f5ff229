"""Configuration of the documentation build (`make docs`)."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "musa-compat"
author = "musa-compat contributors"
copyright = f"2026, {author}"  # noqa: A001  (the name that Sphinx reads)
version = release = installed_version("musa-compat")

extensions = ["myst_parser", "sphinx_click", "reference"]
exclude_patterns = ["_build", "generated"]  # generated pages are included by others
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
smartquotes = False  # they would turn --option into a dash
nitpicky = True

html_theme = "furo"
html_title = f"musa-compat {release}"
html_copy_source = False
