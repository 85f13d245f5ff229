"""Two other ways to port, as programs of their own: `python peers.py torchada|trie SOURCE OUTPUT [TORCHADA]`.

torchada  The porter of the package torchada with its own rules: its functions are called, nothing is copied. It imports
          torch, which porting does not need; an empty stand-in takes its place.
trie      What hipify_torch does: all names of the mapping tables in one trie, made into one regular expression with
          word bounds, and one substitution over the text. Comments and strings are changed too, nothing is reported.
"""

from __future__ import annotations

import csv
import importlib
import os
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MAPPINGS = ROOT / "porter" / "musa_port" / "mappings"
sys.path.insert(0, str(ROOT / "porter"))

from musa_port.options import C_FAMILY_SUFFIXES  # noqa: E402


def main() -> None:
    """Port a tree in the way that the first argument names."""
    way, source, output = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if way == "torchada":
        torchada(source, output, Path(sys.argv[4]))
    else:
        trie(source, output)


def pairs(source: Path, output: Path) -> Iterator[tuple[Path, Path]]:
    """(source file, output file), with the folders made."""
    for folder, _, files in os.walk(source):
        target = output / Path(folder).relative_to(source)
        target.mkdir(parents=True, exist_ok=True)
        for name in files:
            yield Path(folder, name), target / name


def torchada(source: Path, output: Path, package: Path) -> None:
    """Let torchada's own `modify_file` port each file."""
    extension = _load_torchada(package)
    holder = types.SimpleNamespace(SimplePorting=type("SimplePorting", (), {}))
    extension._patch_simple_porting_modify_file(holder)
    porter: Any = holder.SimplePorting()
    rules = sorted(extension._MAPPING_RULE.items(), key=lambda rule: len(rule[0]), reverse=True)
    porter.mapping_rule = extension._narrow_cuda_header_mapping(rules)
    porter.cuda_dir_path, porter.musa_dir_path = str(source), str(output)
    for old, new in pairs(source, output):
        porter.modify_file(str(old), str(new))


def _load_torchada(package: Path) -> Any:
    """The module with torchada's porter, without the parts that need torch and a device."""
    os.environ["TORCHADA_PLATFORM"] = "cpu"
    stand_in: Any = types.ModuleType("torch.utils.cpp_extension")
    stand_in.BuildExtension = object
    modules = {
        "torch": types.ModuleType("torch"),
        "torch.utils": types.ModuleType("torch.utils"),
        stand_in.__name__: stand_in,
    }
    for name, folder in (("torchada", package), ("torchada.utils", package / "utils")):
        module = types.ModuleType(name)
        module.__path__ = [str(folder)]
        modules[name] = module
    sys.modules.update(modules)
    return importlib.import_module("torchada.utils.cpp_extension")


def trie(source: Path, output: Path) -> None:
    """Replace every whole word that the tables hold."""
    names = _names()
    pattern = re.compile(rf"(?<!\w)(?:{_expression(_tree(names))})(?!\w)")
    for old, new in pairs(source, output):
        if old.suffix in C_FAMILY_SUFFIXES:
            text = old.read_bytes().decode("utf-8", "surrogateescape")
            text = pattern.sub(lambda match: names[match.group()], text)
            new.write_bytes(text.encode("utf-8", "surrogateescape"))
        else:
            new.write_bytes(old.read_bytes())


def _names() -> dict[str, str]:
    names = {}
    for path in sorted(MAPPINGS.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                old, new = row.get("cuda_name", ""), row.get("musa_name")
                if new and new != old and re.fullmatch(r"[A-Za-z_]\w*", old) and re.fullmatch(r"[A-Za-z_]\w*", new):
                    names[old] = new
    return names


def _tree(names: dict[str, str]) -> dict[str, Any]:
    """Nested dictionaries, one level for each letter; the key "" marks the end of a name."""
    root: dict[str, Any] = {}
    for name in names:
        node = root
        for letter in name:
            node = node.setdefault(letter, {})
        node[""] = {}
    return root


def _expression(node: dict[str, Any]) -> str:
    branches = [letter + _expression(below) for letter, below in node.items() if letter]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
    return f"(?:{joined})?" if "" in node else joined


if __name__ == "__main__":
    main()
