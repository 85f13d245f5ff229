"""Fixtures for tests of Python sources: port a text and check what must hold for each port, or run the result.

Running needs no torch: `execute` puts stand-ins into `sys.modules` that know no CUDA and no `torch.musa` before
`torch_musa` is imported.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import io
import os
import re
import sys
import tokenize
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from musa_port import Edit, FilePort, FileStatus, Options, port_sources

if TYPE_CHECKING:
    from tests.porter.conftest import ApplyEdits

Text: TypeAlias = str | bytes
Port: TypeAlias = Callable[..., FilePort]
Rewrites: TypeAlias = Callable[..., FilePort]
Notices: TypeAlias = Callable[..., FilePort]
Execute: TypeAlias = Callable[..., "World"]

#: The file that a test's text is, unless the test names another.
DEFAULT = "module.py"
_IMPORT = re.compile(r"^[ \t]*import torch_musa(?:[ \t]*#.*)?\r?\n", re.M)


def as_bytes(text: Text) -> bytes:
    return text.encode() if isinstance(text, str) else text


def as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def parsed(data: bytes) -> ast.Module | None:
    """The syntax tree; None when this is no source of the running Python."""
    try:
        return ast.parse(data)
    except (SyntaxError, ValueError):
        return None


def docstrings(tree: ast.Module) -> list[str]:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [ast.get_docstring(node, clean=False) or "" for node in ast.walk(tree) if isinstance(node, owners)]


def comments(data: bytes) -> list[str]:
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def line_ends(data: bytes) -> set[bytes]:
    return set(re.findall(rb"\r\n|\r|\n", data))


def without_import(text: str) -> str:
    """The text without lines `import torch_musa`, to compare where the contract does not say whether there is one."""
    return _IMPORT.sub("", text)


def is_import(edit: Edit) -> bool:
    """Whether the edit only adds `import torch_musa`."""
    return edit.new.replace(edit.old, "", 1).strip(" \t\r\n;") == "import torch_musa"


@pytest.fixture(scope="session")
def port(apply_edits: ApplyEdits) -> Port:
    """Port one text (with other files of the tree) and check everything that holds for every input.

    The result parses, comments and docstrings are as they were, the recorded edits are the difference, findings point
    into the source, and a second run changes nothing.
    """

    def run(text: Text, path: str = DEFAULT, tree: Mapping[str, Text] | None = None, **options: Any) -> FilePort:
        chosen = replace(Options(), **options)
        sources = {name: as_bytes(other) for name, other in (tree or {}).items()} | {path: as_bytes(text)}
        results = port_sources(sources, chosen)
        result = results[path]
        assert apply_edits(sources[path], result.edits) == result.data
        _check_syntax(sources[path], result.data)
        _check_findings(sources[path], result)
        again = port_sources({file.output_path: file.data for file in results.values() if file.output_path}, chosen)
        assert again[path].edits == []
        assert as_text(again[path].data) == as_text(result.data)
        return result

    return run


def _check_syntax(before: bytes, after: bytes) -> None:
    old, new = parsed(before), parsed(after)
    if old is None:
        return
    assert new is not None, f"the result does not parse:\n{as_text(after)}"
    assert docstrings(new) == docstrings(old)
    assert comments(after) == comments(before)
    assert line_ends(after) <= (line_ends(before) or {b"\n"})


def _check_findings(source: bytes, result: FilePort) -> None:
    """Findings stand inside the source, and what they call left was left."""
    lines = as_text(source).split("\n")
    edited = {(edit.line, edit.column + shift) for edit in result.edits for shift in range(len(edit.old))}
    for finding in result.findings:
        assert finding.rule != "F10", finding
        assert finding.message
        assert 1 <= finding.line <= len(lines)
        if " is left" in finding.message and "\n" not in finding.old:
            places = {(finding.line, finding.column + shift) for shift in range(len(finding.old))}
            assert not places & edited, f"said to be left, but changed: {finding}"


@pytest.fixture(scope="session")
def rewrites(port: Port) -> Rewrites:
    """Port `before` and compare with `after`.

    rules     each must have made an edit, and nothing else may have (besides the import of torch_musa)
    findings  `RULE` or `RULE severity`, each of which must be there (others may)
    imported  "as written" compares all of the text; "any" ignores whether `import torch_musa` was added
    """

    def run(
        before: Text,
        after: Text | None = None,
        rules: Iterable[str] = (),
        findings: Iterable[str] = (),
        imported: str = "as written",
        **options: Any,
    ) -> FilePort:
        result = port(before, **options)
        got, expected = as_text(result.data), as_text(as_bytes(before if after is None else after))
        if imported == "any":
            got, expected = without_import(got), without_import(expected)
        assert got == expected
        if rules:
            assert {edit.rule for edit in result.edits if not is_import(edit)} == set(rules)
        said = {finding.rule for finding in result.findings}
        said |= {f"{finding.rule} {finding.severity.value}" for finding in result.findings}
        assert set(findings) <= said
        if after is None:
            assert result.edits == []
            assert result.status is not FileStatus.PORTED
        return result

    return run


@pytest.fixture(scope="session")
def notices(port: Port) -> Notices:
    """Port a text of which the contract only demands that nothing stays unsaid.

    The line of `word` is changed or reported.
    """

    def run(before: str, word: str, **options: Any) -> FilePort:
        line = before[: before.index(word)].count("\n") + 1
        result = port(before, **options)
        changed = {edit.line for edit in result.edits if not is_import(edit)}
        reported = {finding.line for finding in result.findings}
        assert line in changed | reported, f"line {line} is neither changed nor reported:\n{as_text(result.data)}"
        return result

    return run


# ---- running what came out ---------------------------------------------------------------------------------------

MODULES = (
    "torch torch.amp torch.autograd torch.distributed torch.nn torch.nn.functional torch.profiler torch.utils "
    "torch.utils.cpp_extension torch.utils.data torch_musa torch_musa.core torch_musa.core.amp "
    "torch_musa.core.amp.grad_scaler torch_musa.core.mccl torch_musa.core.memory torch_musa.core.random "
    "torch_musa.core.stream torch_musa.musa_graph torch_musa.musa_graph.graphs torch_musa.utils "
    "torch_musa.utils.musa_extension"
).split()
#: Modules of which the contract names what they hold.
CONTENTS = {
    "torch.utils.cpp_extension": "BuildExtension CppExtension include_paths library_paths load load_inline".split(),
    "torch_musa.utils.musa_extension": (
        "BuildExtension MUSAExtension MUSA_HOME MUDNN_HOME include_paths library_paths load load_inline".split()
    ),
}
_NEEDS_MUSA = re.compile(r"(?:musa|mccl)\b|.*[:,](?:musa|mccl)\b")


class World:
    """What a program did: which modules it imported in which order, and what `torch_musa` saw of the environment."""

    def __init__(self) -> None:
        self.imports: list[str] = []
        self.environment: dict[str, str] = {}
        self.names: dict[str, Any] = {}
        self.calls: list[str] = []

    @property
    def has_musa(self) -> bool:
        return "torch_musa" in self.imports


class Value:
    """Whatever a program asks torch for: an attribute, a call or an item of it is another one."""

    def __init__(self, name: str, world: World) -> None:
        self.__dict__.update(_name=name, _world=world)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("cuda", "is_cuda"):
            raise AttributeError(f"{self._name} has no {name}")
        if name in ("musa", "is_musa") and not self._world.has_musa:
            raise AttributeError(f"{self._name} has no {name} before torch_musa is imported")
        return Value(f"{self._name}.{name}", self._world)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        texts = [text for text in (*arguments, *keywords.values()) if isinstance(text, str)]
        if any(_NEEDS_MUSA.match(text) for text in texts) and not self._world.has_musa:
            raise RuntimeError(f"{self._name}{tuple(texts)}: no such device before torch_musa is imported")
        self._world.calls.append(self._name)
        if len(arguments) == 1 and not keywords and isinstance(arguments[0], (type, *_FUNCTIONS)):
            return arguments[0]  # used as a decorator
        return Value(f"{self._name}()", self._world)

    def __getitem__(self, key: Any) -> Value:
        return Value(f"{self._name}[]", self._world)

    def __enter__(self) -> Value:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return ()


_FUNCTIONS = (type(lambda: None),)


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and makes the stand-in modules."""

    def __init__(self, world: World) -> None:
        self.world = world

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.split(".")[0] not in ("torch", "torch_musa"):
            return None
        if name not in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        if name == "torch_musa":
            importlib.import_module("torch")
            self.world.environment = dict(os.environ)
        self.world.imports.append(name)
        vars(module)["__getattr__"] = self._attributes(name)
        if name == "torch_musa":
            vars(sys.modules["torch"])["musa"] = module

    def _attributes(self, module: str) -> Callable[[str], Any]:
        def get(name: str) -> Any:
            known = CONTENTS.get(module)
            unknown = known is not None and name not in known
            if name.startswith("__") or name in ("cuda", "musa", "musa_extension") or unknown:
                raise AttributeError(f"module {module!r} has no attribute {name!r}")
            if f"{module}.{name}" in MODULES and module == "torch":
                return importlib.import_module(f"{module}.{name}")
            return Value(f"{module}.{name}", self.world)

        return get


@pytest.fixture
def execute(monkeypatch: pytest.MonkeyPatch) -> Execute:
    """Run a ported program with stand-ins for torch and torch_musa; gives what it did, with its global names.

    `name` is the name of the module, `__main__` for a program that is started.
    """

    def run(program: FilePort, name: str = "ported") -> World:
        world = World()
        with monkeypatch.context() as patch:
            for name in [name for name in sys.modules if name.split(".")[0] in ("torch", "torch_musa")]:
                patch.delitem(sys.modules, name)
            patch.setattr(sys, "meta_path", [StandIns(world), *sys.meta_path])
            patch.setattr(os, "environ", {"PATH": "/bin"})
            module = types.ModuleType(name)
            world.names = vars(module)
            patch.setitem(sys.modules, name, module)
            try:
                exec(compile(program.data, "ported.py", "exec"), world.names)
            finally:
                for name in MODULES:
                    sys.modules.pop(name, None)
        return world

    return run
