"""Names that stand in strings: what a test patches, what is imported or asked for by name."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.joined import name_of
from musa_port.python.literals import Text, is_docstring, plain, text_of
from musa_port.python.messages import is_message
from musa_port.python.module import Module
from musa_port.python.paths import package_of
from musa_port.python.registry import visit
from musa_port.python.rules.name import known
from musa_port.rules import Rule, register

NAMED = register(
    Rule(
        "P38",
        "named-target",
        Severity.WARNING,
        "Changes names that stand in a string, where the string is known to be a name; reports the others.",
        why="A test that patches torch.cuda does not reach what the port calls, and an import by name fails.",
        example=(
            '@mock.patch("torch.cuda.is_available", return_value=True)\ndef test(available): ...',
            '@mock.patch("torch.musa.is_available", return_value=True)\ndef test(available): ...',
        ),
        advice="Name what the program uses on MUSA.",
        evidence="torch_python.csv",
    )
)
#: Functions whose first argument is the full name of an object, or of a module.
_OBJECTS = frozenset({"patch", "multiple", "setattr", "delattr", "resolve_name", "spy", "import_string"})
_MODULES = frozenset({"import_module", "importorskip", "find_spec"})
#: Functions that ask whether something exists: the answer is right whatever there is on MUSA.
_QUESTIONS = frozenset({"importorskip", "find_spec", "hasattr"})
#: Functions that take an object and the name of something in it.
_ATTRIBUTES = frozenset({"getattr", "hasattr", "setattr", "delattr", "object", "spy", "patch_object"})
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_CUDA_NAME = re.compile(r"torch\.(?:cuda|backends\.cuda|version\.cuda|_C\._cuda\w*)\b[\w.]*")


@visit(cst.Call, order=28)
def port_call(module: Module, node: cst.Call) -> None:
    """`mock.patch("torch.cuda.is_available")`, `import_module("torch.cuda.amp")`, `getattr(torch, "cuda")`."""
    first = node.args[0] if node.args else None
    if first is None or first.star or not isinstance(node.func, (cst.Name, cst.Attribute)):
        return
    name = name_of(node.func)
    if name in _OBJECTS | _MODULES and isinstance(first.value, (cst.SimpleString, cst.FormattedString)):
        _port_path(module, node, first.value, is_module=name in _MODULES)
    elif name in _ATTRIBUTES and len(node.args) > 1 and isinstance(node.args[1].value, cst.SimpleString):
        _port_attribute(module, node, node.args[1].value)
    if name == "multiple":
        _port_keywords(module, node)


def _port_path(module: Module, call: cst.Call, node: cst.BaseExpression, *, is_module: bool) -> None:
    """A full name, also one below a module of the project that imports torch: `pkg.ops.torch.cuda.is_available`."""
    text = _last_text(module, node)
    split = _split(module, text.value) if text is not None else None
    if text is None or split is None or module.draft.is_claimed(text.start):
        return
    before, full = split
    if _is_question(call) and not _exists(module, full):
        return
    target = known(module, node, full)
    if target is None or target.musa == target.cuda:
        return
    new = module.paths.moved(full)
    if before and not new.startswith("torch."):
        message = f"{text.value} is left: {full} is {new} in the port, which is imported by another name"
        module.report(node, "named-target", message, name=full)
        return
    new = package_of(new) if is_module else new
    start = text.start + len(before)
    module.edit(start, start + len(full), new, "named-target", target.row.confidence, musa=new.startswith("torch."))


def _last_text(module: Module, node: cst.BaseExpression) -> Text | None:
    """The text of a string; of an f-string the part at the end, before which a module of the project is put."""
    if not isinstance(node, cst.FormattedString):
        return text_of(module, node)
    last = node.parts[-1] if node.parts else None
    if not isinstance(last, cst.FormattedStringText) or not last.value.startswith("."):
        return None
    return Text(last.value, module.span(last)[0])


def _split(module: Module, text: str) -> tuple[str, str] | None:
    """What stands before a name of CUDA, and the name."""
    if not _NAME.fullmatch(text.removeprefix(".")):
        return None
    places = [0, *(match.start() + 1 for match in re.finditer(r"\.(?=torch\.)", text))]
    for place in places:
        full = text[place:]
        if _CUDA_NAME.fullmatch(full) or (module.paths.find(full) is not None and not text.startswith(".")):
            return text[:place], full
    return None


def _port_attribute(module: Module, call: cst.Call, node: cst.SimpleString) -> None:
    """`getattr(torch, "cuda")`, `monkeypatch.setattr(torch.cuda, "CUDAGraph", ...)`."""
    text, owner = text_of(module, node), call.args[0].value
    if text is None or not _NAME.fullmatch(text.value):
        return
    holder = module.qualified(owner)
    new = _moved(module, node, holder, text.value, is_question=_is_question(call)) if holder else None
    if new is not None:
        module.edit(text.start, text.start + len(text.value), new, "named-target", musa=True)


def _is_question(call: cst.Call) -> bool:
    """Whether the call asks if something exists, or has an answer for the case that it does not."""
    return name_of(call.func) in _QUESTIONS or (name_of(call.func) == "getattr" and len(call.args) > 2)


def _exists(module: Module, full: str) -> bool:
    found = module.paths.exact(full)
    return found is not None and found.row.supported


def _moved(module: Module, node: cst.CSTNode, holder: str, name: str, *, is_question: bool = False) -> str | None:
    """What a name in a module is called in the counterpart of the module; None when it stays."""
    full = f"{holder}.{name}"
    found = module.paths.find(full)
    if found is None and not _CUDA_NAME.match(full):
        return None
    if is_question and not _exists(module, full):
        return None
    target = known(module, node, full)
    if target is None or target.musa == target.cuda:
        return None
    owner, _, new = module.paths.moved(full).rpartition(".")
    if owner == module.paths.moved(holder):
        return new
    message = f"{name} is left: {full} is {owner}.{new} in the port, which is elsewhere"
    module.report(node, "named-target", message, severity=Severity.ERROR, name=full)
    return None


def _port_keywords(module: Module, call: cst.Call) -> None:
    """`patch.multiple("torch.cuda", CUDAGraph=...)`."""
    holder = plain(call.args[0].value) or module.qualified(call.args[0].value)
    for arg in call.args[1:]:
        if arg.keyword is not None and holder.startswith("torch."):
            new = _moved(module, arg.keyword, holder, arg.keyword.value)
            if new is not None and new != arg.keyword.value:
                module.replace(arg.keyword, new, "named-target")


@visit(cst.SimpleString, order=80)
def report_name(module: Module, node: cst.SimpleString) -> None:
    """A name of torch.cuda in any other string that is nothing but a name."""
    text = text_of(module, node)
    split = _split(module, text.value) if text is not None else None
    if text is None or split is None or not _CUDA_NAME.fullmatch(split[1]):
        return
    if any(map(module.draft.is_claimed, range(*module.span(node)))):
        return
    if not is_docstring(module, node) and not is_message(module, node):
        message = f"the string {node.value} is left: nothing in this file shows that it is a name to look up"
        module.report(node, "named-target", message, severity=Severity.INFO, name=split[1], once=text.value)
