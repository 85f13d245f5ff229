"""Environment variables that a program reads, sets, removes or hands on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from musa_port import flags
from musa_port.build.environment import FOREIGN
from musa_port.mappings import Row
from musa_port.model import Severity
from musa_port.names import BUILD_FLAGS
from musa_port.python.flow import Entry, flow
from musa_port.python.joined import name_of
from musa_port.python.literals import is_docstring, plain, text_of
from musa_port.python.messages import is_message
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.rules.cpp_extension import rename_key
from musa_port.python.tree import dotted
from musa_port.python.words import is_decided, place
from musa_port.rules import Rule, register

ENVIRONMENT = register(
    Rule(
        "P18",
        "process-environment",
        Severity.WARNING,
        "Renames the environment variables that a program reads, sets, removes or hands to other programs.",
        why="MUSA does not read a variable under its CUDA name. Only the name changes, and a value that a table knows.",
        example=('os.environ["CUDA_VISIBLE_DEVICES"] = "0"', 'os.environ["MUSA_VISIBLE_DEVICES"] = "0"'),
        advice="Where another program sets or reads the variable, that program has to change as well.",
        evidence="env.csv, arch.csv",
    )
)
_ENVIRONMENTS = frozenset({"os.environ", "os.environb"})
_FUNCTIONS = frozenset({"os.getenv", "os.getenvb", "os.putenv", "os.unsetenv"})
_METHODS = frozenset("get pop setdefault __getitem__ __setitem__ __delitem__ __contains__".split())
#: Methods of pytest's monkeypatch; no other object has them.
_PATCHES = frozenset({"setenv", "delenv"})
_COPIES = frozenset({"copy", "deepcopy", "dict"})
#: What a mapping is called that holds variables, when nothing shows where it comes from.
_NAME = re.compile(r"(\w*_)?env(s|iron|ironment)?(_vars|_copy|_dict)?")
_ARCHITECTURES = "TORCH_CUDA_ARCH_LIST"


# ---- places that name a variable --------------------------------------------------------------------------------


@visit(cst.Subscript, order=30)
def port_item(module: Module, node: cst.Subscript) -> None:
    """`os.environ["CUDA_HOME"]`, `env["CUDA_HOME"]` after `env = os.environ.copy()`."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    if isinstance(index, cst.Index) and _may_name(module, index.value) and _is_environment(module, node.value):
        _port_names(module, index.value, _assigned_value(module, node))
        _report_comparison(module, node, index.value)


def _assigned_value(module: Module, node: cst.Subscript) -> cst.BaseExpression | None:
    target = module.parent(node)
    statement = module.parent(target) if isinstance(target, cst.AssignTarget) else None
    return statement.value if isinstance(statement, cst.Assign) else None


@visit(cst.Call, order=30)
def port_call(module: Module, node: cst.Call) -> None:
    """`os.getenv("CUDA_HOME")`, `os.environ.pop(...)`, `monkeypatch.setenv(...)`, `subprocess.run(..., env={...})`."""
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else (dotted(node.func) or [""])[-1]
    first = next((arg.value for arg in node.args[:1] if arg.keyword is None or arg.keyword.value == "key"), None)
    if first is not None and _may_name(module, first) and _names_variable(module, node, name):
        second = node.args[1].value if len(node.args) > 1 else None
        is_default = plain(first) == _ARCHITECTURES
        is_set = name in ("setdefault", "putenv", "setenv", "__setitem__")
        _port_names(module, first, second if is_set or is_default else None)
        _report_comparison(module, node, first)
    if not _mentions_variable(module):
        return
    for mapping in _mappings(module, node, name):
        for entry in flow(module).entries(mapping):
            _port_entry(module, entry)
    if name == "update" or name == "dict":
        _port_keywords(module, node, name)


def _report_comparison(module: Module, node: cst.CSTNode, name: cst.BaseExpression) -> None:
    """`os.environ["TORCH_CUDA_ARCH_LIST"] != "9.0"`."""
    if plain(name) == _ARCHITECTURES and module.enclosing(node, cst.Comparison) is not None:
        message = "the architectures are compared with a text: MUSA has 22 and 31 where CUDA has 8.0 and 9.0"
        module.report(node, "process-environment", message, name=_ARCHITECTURES)


def _names_variable(module: Module, node: cst.Call, name: str) -> bool:
    if name in _METHODS and isinstance(node.func, cst.Attribute):
        return _is_environment(module, node.func.value)
    if name in _PATCHES and isinstance(node.func, cst.Attribute):
        return not module.qualified(node.func)
    return bool(module.one_of(node.func, _FUNCTIONS))


def _mappings(module: Module, node: cst.Call, name: str) -> Iterator[cst.BaseExpression]:
    """Arguments that are environments: `env=`, what `os.environ.update` and `mock.patch.dict` take."""
    for arg in node.args:
        if arg.keyword is not None and arg.keyword.value == "env":
            yield arg.value
    position = {"update": 0, "dict": 1}.get(name, -1)
    if not isinstance(node.func, cst.Attribute) or not 0 <= position < len(node.args) or node.args[position].keyword:
        return
    holder = node.func.value if name == "update" else node.args[0].value
    if _is_environment(module, holder):
        yield node.args[position].value


def _port_keywords(module: Module, node: cst.Call, name: str) -> None:
    """`os.environ.update(CUDA_HOME=...)`, `dict(os.environ, CUDA_HOME=...)`, the same of `mock.patch.dict`."""
    named = [arg for arg in node.args if arg.keyword is not None and _is_variable(module, arg.keyword.value)]
    if not named:
        return
    if name == "update" and isinstance(node.func, cst.Attribute):
        holder: cst.BaseExpression | None = node.func.value
    else:
        holder = node.args[0].value if node.args[0].keyword is None else None
    if holder is not None and _is_environment(module, holder):
        for arg in named:
            assert arg.keyword is not None
            _port_entry(module, Entry(arg.keyword.value, arg.keyword, arg.value))


@visit(cst.Comparison, order=30)
def port_test(module: Module, node: cst.Comparison) -> None:
    """`"CUDA_HOME" in os.environ`."""
    if len(node.comparisons) != 1 or not isinstance(node.comparisons[0].operator, (cst.In, cst.NotIn)):
        return
    holder = node.comparisons[0].comparator
    if isinstance(holder, cst.Call) and isinstance(holder.func, cst.Attribute) and holder.func.attr.value == "keys":
        holder = holder.func.value
    if _may_name(module, node.left) and _is_environment(module, holder):
        _port_names(module, node.left, None)


@visit(cst.Dict, order=30)
def port_copy(module: Module, node: cst.Dict) -> None:
    """`{**os.environ, "CUDA_HOME": ...}`, `os.environ | {"CUDA_HOME": ...}`."""
    if _mentions_variable(module) and (_is_environment(module, node) or _is_merged(module, node)):
        for entry in flow(module).entries(node):
            _port_entry(module, entry)


def _is_merged(module: Module, node: cst.Dict) -> bool:
    parent = module.parent(node)
    if isinstance(parent, cst.AugAssign):
        return isinstance(parent.operator, cst.BitOrAssign) and _is_environment(module, parent.target)
    is_union = isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.BitOr)
    return is_union and isinstance(parent, cst.BinaryOperation) and _is_environment(module, parent)


def _is_environment(module: Module, node: cst.BaseExpression, depth: int = 3) -> bool:
    """Whether an expression is the environment of the process, or begins as a copy of it."""
    if isinstance(node, cst.Dict):
        return any(
            isinstance(element, cst.StarredDictElement) and _is_environment(module, element.value, depth)
            for element in node.elements
        )
    if isinstance(node, cst.SimpleString):  # mock.patch.dict("os.environ", ...)
        return plain(node) == "os.environ"
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        return any(_is_environment(module, side, depth) for side in (node.left, node.right))
    if isinstance(node, cst.Call):
        return _is_copy(module, node, depth)
    if module.one_of(node, _ENVIRONMENTS):
        return True
    if not depth or not isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        return False
    values = list(flow(module).values(node))
    if any(value is not node and _is_environment(module, value, depth - 1) for value in values):
        return True
    return _is_called_environment(module, node, values)


def _is_called_environment(module: Module, node: cst.BaseExpression, values: list[cst.BaseExpression]) -> bool:
    """`env["CUDA_HOME"]`, where `env` or `self.env` is a parameter or comes from a function elsewhere."""
    if not all(isinstance(value, (cst.Name, cst.Attribute, cst.Call, cst.Await)) for value in values):
        return False
    owner = dotted(node)[:-1]
    return owner in ([], ["self"]) and not module.qualified(node) and _NAME.fullmatch(name_of(node).lower()) is not None


def _is_copy(module: Module, node: cst.Call, depth: int) -> bool:
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else (dotted(node.func) or [""])[-1]
    if name not in _COPIES:
        values = [value for value in flow(module).values(node) if value is not node] if depth else []
        return any(_is_environment(module, value, depth - 1) for value in values)
    if isinstance(node.func, cst.Attribute) and not node.args:
        return _is_environment(module, node.func.value, depth)
    return bool(node.args) and not node.args[0].keyword and _is_environment(module, node.args[0].value, depth)


@lru_cache(maxsize=1)
def _mentions_variable(module: Module) -> bool:
    """Whether the file names a variable at all: a cheap test before values are followed."""
    if any(_is_variable(module, text) for text in _strings(module)):
        return True
    keywords = (arg.keyword.value for arg in module.nodes(cst.Arg) if arg.keyword is not None)
    return any(_is_variable(module, keyword) for keyword in keywords)


def _is_variable(module: Module, name: str) -> bool:
    """Whether a variable of this name is in the table, or is one of CUDA by its name."""
    return name in module.draft.names.environment or FOREIGN.fullmatch(name) is not None


def _may_name(module: Module, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.SimpleString):
        return _is_variable(module, plain(node))
    return isinstance(node, (cst.Name, cst.Attribute, cst.IfExp)) and _mentions_variable(module)


# ---- names and values -------------------------------------------------------------------------------------------


def _port_names(module: Module, node: cst.BaseExpression, value: cst.BaseExpression | None) -> None:
    """Rename the variable that an expression names; a name is followed to the literals that it may stand for."""
    for literal in [node] if isinstance(node, cst.SimpleString) else flow(module).values(node):
        if isinstance(literal, cst.SimpleString) and _is_variable(module, plain(literal)):
            _port_entry(module, Entry(plain(literal), literal, value if value is not None else literal))


def _port_entry(module: Module, entry: Entry) -> None:
    row = module.draft.names.environment.get(entry.name)
    if (row is None and not FOREIGN.fullmatch(entry.name)) or is_decided(module, entry.key):
        return
    if row is None:
        _report_unknown(module, entry)
        return
    if (reason := _why_left(module, row)) is not None:
        module.claim(entry.key)
        if reason:
            severity = Severity.INFO if row.supported else Severity.ERROR
            once = "" if severity is Severity.ERROR else entry.name
            module.report(entry.key, "process-environment", reason, severity=severity, name=entry.name, once=once)
        return
    rename_key(module, entry.key, row.musa, "process-environment", row.confidence)
    module.draft.use(row.cuda, row.confidence)
    _say(module, entry, row)
    if entry.value is not entry.key:
        _port_value(module, entry.name, entry.value)


def _report_unknown(module: Module, entry: Entry) -> None:
    """Report a variable of CUDA by its name that no table has, unless it is the project's own."""
    if entry.name not in module.draft.names.keep:
        message = f"{entry.name} is in no table and is left"
        advice = "MUSA reads no variable of CUDA: where CUDA reads this one, look for its counterpart."
        severity = Severity.INFO
        module.report(
            entry.key,
            "process-environment",
            message,
            severity=severity,
            advice=advice,
            name=entry.name,
            once=entry.name,
        )


def _why_left(module: Module, row: Row) -> str | None:
    """Why a variable keeps its name; None when it does not."""
    names = module.draft.names
    if row.cuda in names.keep or row.musa == row.cuda:
        return ""
    if not row.supported:
        return f"{row.cuda} has no MUSA counterpart and is left" + (f": {row.note}" if row.note else "")
    if not names.allowed(row):
        return f"{row.cuda} is left: confidence {row.confidence} is below --min-confidence"
    if row.cuda in BUILD_FLAGS and not module.options.rename_project_names:
        return f"{row.cuda} is left: the project's build defines it (--rename-project-names moves it)"
    return f"{row.cuda} is left: this file uses {row.musa} as well" if row.musa in _strings(module) else None


@lru_cache(maxsize=1)
def _strings(module: Module) -> frozenset[str]:
    """The strings of a file: one with the MUSA name knows both platforms already."""
    return frozenset(plain(node) for node in module.nodes(cst.SimpleString))


def _say(module: Module, entry: Entry, row: Row) -> None:
    note = f": {row.note}" if row.note else ""
    if row.confidence in ("low", "medium-low"):
        message = f"{row.cuda} became {row.musa} on weak evidence (confidence {row.confidence}){note}"
        module.report(entry.key, "unproven-name", message, new=row.musa, name=row.cuda, once=row.cuda)
    elif row.note:
        message = f"{row.cuda} became {row.musa}{note}"
        severity = Severity.INFO
        module.report(
            entry.key, "process-environment", message, severity=severity, new=row.musa, name=row.cuda, once=row.cuda
        )


def _port_value(module: Module, name: str, value: cst.BaseExpression) -> None:
    """Change what a variable is set to, where a table knows it; other values of these variables are reported."""
    if name == _ARCHITECTURES:
        _port_architectures(module, value)
        return
    for literal in flow(module).values(value):
        text = text_of(module, literal) if isinstance(literal, cst.SimpleString) else None
        row = flags.path(text.value) if text is not None else None
        if text is not None and row is not None and row.supported:
            end = text.start + len(text.value.rstrip("/"))
            module.edit(text.start, end, row.musa, "process-environment", row.confidence, musa=False)


def _port_architectures(module: Module, value: cst.BaseExpression) -> None:
    for literal in flow(module).values(value):
        text = text_of(module, literal) if isinstance(literal, cst.SimpleString) else None
        new = flags.torch_architectures(text.value, module.options.arch) if text is not None and text.value else None
        if text is not None and new is not None:
            module.edit(*place(module, text, 0), new, "process-environment", musa=False)
            message = f"the architectures {text.value} became {new}"
            module.report(literal, "process-environment", message, new=new, name=_ARCHITECTURES)
        elif (text is None or text.value) and not _reads_architectures(literal):
            message = "the architectures are left: MUSA has 22 and 31 where CUDA has 8.0 and 9.0"
            module.report(literal, "process-environment", message, name=_ARCHITECTURES)


def _reads_architectures(node: cst.BaseExpression) -> bool:
    """`os.getenv("TORCH_CUDA_ARCH_LIST", ...)`, whose default changes by itself, and `None`."""
    if isinstance(node, cst.Call) and node.args:
        return plain(node.args[0].value) == _ARCHITECTURES
    return isinstance(node, cst.Name) and node.value == "None"


# ---- what is left -----------------------------------------------------------------------------------------------


@visit(cst.SimpleString, order=80)
def report_name(module: Module, node: cst.SimpleString) -> None:
    """The name of a variable in any other place: a table, an argument of a function of the project."""
    name = plain(node)
    if "_" not in name or name not in module.draft.names.environment or name in BUILD_FLAGS:
        return
    if not is_decided(module, node) and not is_docstring(module, node) and not is_message(module, node):
        message = f"{name} is left: nothing in this file shows that it is a variable of the environment"
        module.report(node, "process-environment", message, severity=Severity.INFO, name=name, once=name)
