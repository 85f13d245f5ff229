"""What must be true of the port of every Python file. Each check yields one line for each violation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any

from .port import Port
from .python_names import KEYWORDS, is_renamed_chain, is_renamed_member, renamed, same
from .python_pairs import Pair, Pairs, changed
from .python_places import kinds
from .python_source import Import, PythonSource, dotted
from .python_strings import is_legal

#: A file without any of these has nothing to port.
_WORDS = re.compile(
    rb"cu(da|dnn|blas|fft|py|tlass)|nccl|nv(cc|idia|ml|tx|rtc|shmem)|triton|tile_?lang|autocast|\.cuh?\b", re.I
)
_DEVICE = re.compile(r"cuda(:\d+)?")
_LEFT = re.compile(r"lines (\d+) to (\d+) (?:is|are) left alone")
_OWNED = re.compile(r"torch\.cuda\b")
#: Kinds of strings that mean nothing before torch_musa is imported.
_NEEDS_IMPORT = frozenset({"device", "backend"})


class PythonFile:
    """A Python file of the tree and its port; `entry` is what the report says."""

    def __init__(self, port: Port, entry: dict[str, Any]) -> None:
        self.path: str = entry["path"]
        self.entry = entry
        self.before = PythonSource((port.source / entry["path"]).read_bytes())
        self.after = PythonSource((port.output / entry["output_path"]).read_bytes())

    @property
    def is_same(self) -> bool:
        return self.before.data == self.after.data

    @cached_property
    def pairs(self) -> Pairs:
        return Pairs(self.before, self.after)

    @cached_property
    def found_lines(self) -> set[int]:
        """Lines of the source with a finding, and those that a finding says to be left alone."""
        lines = {finding["line"] for finding in self.entry["findings"]}
        for finding in self.entry["findings"]:
            if match := _LEFT.search(finding.get("message", "")):
                lines |= {*range(int(match[1]), int(match[2]) + 1)}
        return lines

    def is_explained(self, node: ast.AST) -> bool:
        """Whether a finding is about the statement of a node of the source."""
        return bool(self.found_lines & set(self.before.lines(node)))

    def at(self, node: ast.AST) -> str:
        return f"{self.path}:{self.before.line(node)}"


def files(port: Port) -> list[PythonFile]:
    """Every Python file that was examined and that Python understands."""
    entries = [entry for entry in port.examined() if entry["language"] == "python"]
    return [file for entry in entries if (file := PythonFile(port, entry)).before.tree is not None]


def broken(found: list[PythonFile]) -> Iterator[str]:
    """Files that Python understood before porting only."""
    return (f"{file.path}: does not parse any more" for file in found if file.after.tree is None)


def changed_without_reason(found: list[PythonFile]) -> Iterator[str]:
    """Files without a word of CUDA that changed all the same."""
    return (f"{file.path}: changed" for file in found if not file.is_same and not _WORDS.search(file.before.data))


def changed_texts(found: list[PythonFile]) -> Iterator[str]:
    """Comments and docstrings that changed."""
    for file in found:
        if not file.is_same:
            if file.before.comments != file.after.comments:
                yield f"{file.path}: comments changed"
            if file.before.docstrings != file.after.docstrings:
                yield f"{file.path}: docstrings changed"


def changed_shapes(found: list[PythonFile]) -> Iterator[str]:
    """Statements that are others after porting, imports aside."""
    for file in found:
        for old, new in file.pairs.mismatches if not file.is_same else ():
            around = file.before.parents.get(old), file.after.parents.get(new)
            if not _is_known_rewrite(old, new) and not _is_known_rewrite(*around):
                place = file.at(old) if hasattr(old, "lineno") else file.path
                yield f"{place} became {ast.unparse(new)[:200]}"


def _is_known_rewrite(old: ast.AST | None, new: ast.AST | None) -> bool:
    """What a port writes anew: general forms of functions of torch, keywords with their values, flags of a compiler."""
    if isinstance(old, ast.Call) and isinstance(new, ast.Call):
        is_general = dotted(new.func) in ("torch.get_autocast_dtype", "torch.is_autocast_enabled")
        return is_general and not old.args and ast.unparse(new).endswith("('musa')")
    if isinstance(old, ast.keyword) and isinstance(new, ast.keyword):
        return (ast.unparse(old), ast.unparse(new)) in _KEYWORDS
    if isinstance(old, ast.Attribute) and old.attr == "shared_memory_per_multiprocessor":
        return isinstance(new, ast.Constant) and new.value == 196608  # of mp_31, where the property is not there
    if isinstance(old, ast.List) and isinstance(new, ast.List):
        return is_flag_list([ast.unparse(item) for item in old.elts], [ast.unparse(item) for item in new.elts])
    return False


#: Keywords that change together with their values.
_KEYWORDS = {("use_cuda=True", "use_device='musa'"), ("device_type='cuda'", "musa=True")}
_FLAG = re.compile(r"f?'(-.*|nvcc|mcc)'", re.S)


def is_flag_list(old: list[str], new: list[str]) -> bool:
    """Whether only flags, and what follows a flag, went from a list or changed."""
    for _, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if old[start:end] == new[new_start:new_end]:
            continue
        gone = [item for item, before in zip(old[start:end], ["", *old][start:end], strict=True) if before[:2] != "'-"]
        if not all(map(_FLAG.fullmatch, [*gone, *new[new_start:new_end]])):
            return False
    return True


def changed_names(found: list[PythonFile]) -> Iterator[str]:
    """Names that changed and are no names of CUDA, or became something else than their counterpart."""
    for file in found:
        if not file.is_same:
            yield from (f"{file.at(pair.old)}: {_shown(pair)}" for pair in _wrong_names(file))
            yield from _wrong_imports(file)


def _shown(pair: Pair) -> str:
    if isinstance(pair.old, ast.FunctionDef):
        return f"{pair.old.name} became {pair.new.name}"
    return f"{ast.unparse(pair.old)} became {ast.unparse(pair.new)}"


def _wrong_names(file: PythonFile) -> Iterator[Pair]:
    for pair in changed(file.pairs.names):
        if not is_renamed_chain(file.before, pair.old, file.after, pair.new):
            yield pair
    for pair in changed(file.pairs.attributes):
        if not is_renamed_member(file.before, pair.old, pair.old.attr, pair.new.attr):
            yield pair
    for pair in changed(file.pairs.keywords):
        if KEYWORDS.get(pair.old.arg) != pair.new.arg and not _is_known_rewrite(pair.old, pair.new):
            yield pair
    for pair in file.pairs.methods:
        if pair.old.name != pair.new.name and (pair.old.name, pair.new.name) != ("cuda", "musa"):
            yield pair


def _wrong_imports(file: PythonFile) -> Iterator[str]:
    """Imports that went without a counterpart, came without a reason, or bind other names."""
    before = {bound for _, bound in file.before.imports}
    after = {bound for _, bound in file.after.imports}
    wanted = [name for bound in before - after if (name := renamed(bound.full))]
    for bound in before - after:
        name = renamed(bound.full)
        if name is None or not any(same(other.full, name) for other in after):
            yield f"{file.path}: the import of {bound.full} is gone"
        if "CUDA" not in bound.local and bound.local not in {other.local for other in after}:
            yield f"{file.path}: {bound.local} is not imported any more"
    for bound in after - before:
        if bound.full.split(".")[0] not in ("torch", "torch_musa") and not any(
            same(bound.full, name) for name in wanted
        ):
            yield f"{file.path}: {bound.full} is imported"


def changed_strings(found: list[PythonFile]) -> Iterator[str]:
    """Strings that changed where none may, or into something that they must not become."""
    for file in found:
        for old, new in changed(file.pairs.strings) if not file.is_same else ():
            known = kinds(file.before, old)
            if not any(is_legal(kind, old.value, new.value) for kind in known):
                meaning = f" as {' or '.join(sorted(known))}" if known else ""
                yield f"{file.at(old)}: {old.value!r} became {new.value!r}{meaning}"


def missing_imports(found: list[PythonFile]) -> Iterator[str]:
    """Files that import torch, use MUSA since they were ported, and do not import torch_musa where they do."""
    for file in found:
        uses = [] if file.is_same else list(_new_uses(file))
        torch = file.after.imports_of("torch")
        if uses and torch and not _is_imported_for(file.after, torch, uses):
            yield f"{file.path}: does not import torch_musa, and has {ast.unparse(uses[0])}"


def _new_uses(file: PythonFile) -> Iterator[ast.AST]:
    """Nodes of the port that need torch_musa and were something else in the source."""
    for old, new in changed(file.pairs.strings):
        if kinds(file.before, old) & _NEEDS_IMPORT:
            yield new
    for _, new in changed(file.pairs.names):
        if any(full.startswith(("torch.musa", "torch.backends.mudnn")) for full in file.after.meanings(dotted(new))):
            yield new
    yield from (new for _, new in changed(file.pairs.attributes))


def _is_imported_for(source: PythonSource, torch: list[Import], uses: list[ast.AST]) -> bool:
    """Whether torch_musa is imported at the top, or in each function that imports torch for its uses."""
    musa = [_function(source, node) for node in source.imports_of("torch_musa")]
    if None in musa:
        return True
    needing = {_function(source, node) for node in torch} & {_function(source, node) for node in uses}
    return bool(musa) and needing <= {*musa}


def _function(source: PythonSource, node: ast.AST) -> ast.AST | None:
    """The outermost function around a node."""
    around = [item for item in source.ancestors(node) if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return around[-1] if around else None


def silent_names(found: list[PythonFile]) -> Iterator[str]:
    """Names and imports of torch.cuda that are left without a finding on their statement."""
    for file in found:
        for old, new in file.pairs.names if b"cuda" in file.after.data else ():
            is_read = isinstance(new.ctx, ast.Load) and dotted(old) == dotted(new)
            left = is_read and any(_OWNED.match(full) for full in file.after.meanings(dotted(new)))
            if left and not file.is_explained(old):
                yield f"{file.at(old)}: {dotted(new)}"
        left_imports = {bound for _, bound in file.after.imports if _OWNED.match(bound.full)}
        for statement, bound in file.before.imports if left_imports else ():
            if bound in left_imports and not file.is_explained(statement):
                yield f"{file.at(statement)}: {bound.full}"


def silent_strings(found: list[PythonFile]) -> Iterator[str]:
    """Strings that are a CUDA device, and are left without a finding. Keys of dictionaries and docstrings may be."""
    for file in found:
        for old, new in file.pairs.strings if b"cuda" in file.after.data else ():
            parent = file.before.parents[old]
            is_text = isinstance(parent, ast.Expr) or (isinstance(parent, ast.Dict) and old in parent.keys)
            if _DEVICE.fullmatch(new.value) and not is_text and not file.is_explained(old):
                yield f"{file.at(old)}: {new.value!r}"
