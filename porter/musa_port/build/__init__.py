"""Build files and what surrounds a build: each module or package ports one kind of file."""

import importlib
import pkgutil

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
