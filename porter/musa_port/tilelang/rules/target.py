"""The target of a kernel: `target="cuda"`, `{"kind": "cuda", "arch": "sm_90"}`, and none at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import choices, is_docstring, plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.architectures import Chosen, choose
from musa_port.tilelang.recognise import argument, is_tilelang, last_name

TARGET = register(
    Rule(
        "H5",
        "tilelang-target",
        Severity.INFO,
        "Changes the target cuda to musa where a kernel is compiled, and where a target is compared.",
        why="A TileLang built for MUSA has no pipeline for the target cuda.",
        example=(
            'kernel = tilelang.compile(program, target="cuda")',
            'kernel = tilelang.compile(program, target="musa")',
        ),
        evidence="263 such changes between the tests of TileLang and those of tilelang-musa",
    )
)
ARCHITECTURE = register(
    Rule(
        "H6",
        "tilelang-target-arch",
        Severity.WARNING,
        "Changes targets that name an architecture, into the form of a dictionary.",
        why="TVM no longer takes targets written like a command line. sm_90 and newer become mp_31; older ones become "
        "what --arch says, mp_22 when it says both.",
        example=(
            'kernel = tilelang.compile(program, target="cuda -arch=sm_90")',
            'kernel = tilelang.compile(program, target={"kind": "musa", "arch": "mp_31"})',
        ),
        advice="Leave the architecture out, and that of the device at hand is used.",
    )
)
NONE = register(
    Rule(
        "H7",
        "tilelang-no-target",
        Severity.INFO,
        "Names files that compile kernels without a target; they are left.",
        why="Without a target, TileLang looks which toolkit is installed, and takes CUDA's before that of MUSA. A "
        "setting of the environment decides for every kernel, without a change to each decorator.",
        example=("kernel = tilelang.compile(program)", "kernel = tilelang.compile(program)"),
        advice="Set TILELANG_DEFAULT_TARGET=musa where a CUDA toolkit is installed too.",
    )
)
#: Functions that take a target, and which argument it is.
_POSITIONS = {
    **dict.fromkeys(("tvm.target.Target", "tvm.device", "tilelang.tvm.target.Target", "tilelang.tvm.device"), 0),
    **dict.fromkeys(("tilelang.backend.target.determine_target", "tilelang.utils.target.determine_target"), 0),
    **dict.fromkeys(("tilelang.lower", "tilelang.engine.lower", "tilelang.engine.lower.lower"), 1),
    **dict.fromkeys(
        ("tilelang.compile", "tilelang.jit.compile", "tilelang.par_compile", "tilelang.jit.par_compile"), 3
    ),
}
#: What makes a target for CUDA by itself.
_MAKERS = ("tvm.target.cuda", "tilelang.tvm.target.cuda")
_COMPILERS = ("tilelang.jit", "tilelang.compile", "tilelang.jit.compile", "tilelang.jit.jit", "tilelang.par_compile")
_DEFAULTS = ("TILELANG_DEFAULT_TARGET", "TILELANG_TARGET")
_COMMAND = re.compile(r"cuda(?: -keys=[\w,]+)? -arch=(sm_\w+)")
_CUDA = "cuda"


@visit(cst.Call, order=8)
def port_call(module: Module, node: cst.Call) -> None:
    """`target=`, and calls that take a target first."""
    if not is_tilelang(module):
        return
    for arg in node.args:
        if arg.keyword is not None and arg.keyword.value == "target" and _is_about_kernels(module, node):
            _port_values(module, arg.value)
    given = argument(node, "", _POSITIONS.get(module.qualified(node.func)))
    if given is not None:
        _port_values(module, given)
    if module.qualified(node.func) in _MAKERS:
        message = f"{module.code(node)} makes a target for CUDA: tvm.target.Target({{'kind': 'musa'}}) is one for MUSA"
        module.report(node, "tilelang-target-arch", message, severity=Severity.ERROR)
    if isinstance(node.func, cst.Attribute) and module.qualified(node.func) in ("tvm.cuda", "tilelang.tvm.cuda"):
        module.replace(node.func.attr, "musa", "tilelang-target", "medium", musa=False)
    is_setting = last_name(node.func) in ("setdefault", "putenv") and len(node.args) == 2
    if is_setting and plain(node.args[0].value) in _DEFAULTS:
        _port_values(module, node.args[1].value)


def _is_about_kernels(module: Module, node: cst.Call) -> bool:
    """Whether a call is one of TileLang, of TVM, or of something in the file itself."""
    full = module.qualified(node.func)
    return not full or full.split(".")[0] in ("tilelang", "tvm")


@visit(cst.Param, order=8)
def port_default(module: Module, node: cst.Param) -> None:
    """`def compile(target="cuda")`."""
    if node.default is not None and is_tilelang(module) and _is_target(node.name.value):
        _port_values(module, node.default)


@visit(cst.DictElement, order=8)
def port_entry(module: Module, node: cst.DictElement) -> None:
    """`{"target": "cuda"}`."""
    if plain(node.key) in ("target", *_DEFAULTS) and is_tilelang(module):
        _port_values(module, node.value)


@visit(cst.Assign, order=8)
def port_assignment(module: Module, node: cst.Assign) -> None:
    """`target = "cuda"`, `os.environ["TILELANG_DEFAULT_TARGET"] = "cuda"`."""
    if is_tilelang(module) and any(_is_target(_target_name(target.target)) for target in node.targets):
        _port_values(module, node.value)


def _target_name(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        key = plain(node.slice[0].slice.value)
        return "target" if key in _DEFAULTS else key
    return last_name(node)


def _is_target(name: str) -> bool:
    lowered = name.lower()
    return lowered == "target" or (lowered.endswith("_target") and "host" not in lowered)


@visit(cst.Comparison, order=8)
def port_comparison(module: Module, node: cst.Comparison) -> None:
    """`target == "cuda"`, `target.kind.name == "cuda"`, in files that do not tell MUSA apart themselves."""
    if not is_tilelang(module) or not module.draft.mentions(b"cuda"):
        return
    operands = [node.left, *(target.comparator for target in node.comparisons)]
    if not any(map(_reads_target, operands)) or _knows_musa(module):
        return
    for operand in operands:
        for choice in choices(operand):
            _port_plain(module, choice)


def _reads_target(node: cst.BaseExpression) -> bool:
    """`target`, `target.kind.name`, `str(target)`, `target_kind`, `target_kind_name(target)`."""
    if isinstance(node, cst.Call) and last_name(node.func) == "str" and len(node.args) == 1:
        return _reads_target(node.args[0].value)
    called = node.func if isinstance(node, cst.Call) else node
    if last_name(called).lower().removesuffix("_name").endswith("target_kind"):
        return True
    if isinstance(node, cst.Attribute) and node.attr.value == "name":
        return isinstance(node.value, cst.Attribute) and node.value.attr.value == "kind"
    return isinstance(node, (cst.Name, cst.Attribute)) and _is_target(last_name(node))


def _knows_musa(module: Module) -> bool:
    """Whether the file compares something with musa: then it has a branch for each."""
    return any(
        plain(literal) == "musa" and isinstance(module.parent(literal), (cst.Comparison, cst.ComparisonTarget))
        for literal in module.nodes(cst.SimpleString)
    )


@visit(cst.SimpleString, order=8)
def port_command(module: Module, node: cst.SimpleString) -> None:
    """`"cuda -arch=sm_90"`, wherever it is a value; tags such as `"nvidia/nvidia-h100"`."""
    text = plain(node)
    if not text.startswith(("cuda -", "nvidia/nvidia-")) or not is_tilelang(module):
        return
    match = _COMMAND.fullmatch(text)
    if is_docstring(module, node) or module.is_claimed(node):
        return
    if match is None or not _is_value(module, node):
        message = f"the target {text!r} is left: TVM takes a dictionary instead"
        module.report(node, "tilelang-target-arch", message, severity=Severity.ERROR)
        return
    chosen = choose(match.group(1), module.options.arch)
    new = f'{{"kind": "musa", "arch": "{chosen.arch}"}}'
    module.replace(node, new, "tilelang-target-arch", musa=False)
    _report(module, node, match.group(1), chosen, new)


def _is_value(module: Module, node: cst.SimpleString) -> bool:
    """Whether a dictionary can stand for the string."""
    parent = module.parent(node)
    if isinstance(parent, (cst.Arg, cst.Assign, cst.AnnAssign, cst.Param, cst.Return, cst.IfExp, cst.BooleanOperation)):
        return True
    return isinstance(parent, cst.Element) or (isinstance(parent, cst.DictElement) and parent.value is node)


@visit(cst.Dict, order=8)
def port_dictionary(module: Module, node: cst.Dict) -> None:
    """`{"kind": "cuda", "arch": "sm_90a"}`."""
    if not is_tilelang(module):
        return
    entries = {plain(item.key): item.value for item in node.elements if isinstance(item, cst.DictElement)}
    if plain(entries.get("kind")) != _CUDA:
        return
    _port_plain(module, entries["kind"])
    arch = entries.get("arch")
    text = text_of(module, arch) if arch is not None else None
    if arch is None or not plain(arch).startswith("sm_") or text is None:
        if arch is not None:
            message = "the architecture of the target is left"
            module.report(arch, "tilelang-target-arch", message, severity=Severity.ERROR)
        return
    chosen = choose(text.value, module.options.arch)
    module.edit(text.start, text.start + len(text.value), chosen.arch, "tilelang-target-arch", musa=False)
    _report(module, arch, text.value, chosen, chosen.arch)


def _report(module: Module, node: cst.CSTNode, old: str, chosen: Chosen, new: str) -> None:
    """Say what was assumed, when something was."""
    if chosen.note:
        message = f"{old} became {chosen.arch}: {chosen.note}"
        module.report(node, "tilelang-target-arch", message, new=new, name=old)


def _port_values(module: Module, value: cst.BaseExpression) -> None:
    for choice in choices(value):
        _port_plain(module, choice)
        if isinstance(choice, cst.FormattedString):
            text = text_of(module, choice)
            if text is not None and text.value.startswith("cuda"):
                message = "a target that is put together is left: TVM takes a dictionary instead"
                module.report(choice, "tilelang-target-arch", message, severity=Severity.ERROR)


def _port_plain(module: Module, node: cst.BaseExpression | None) -> None:
    """`"cuda"` alone."""
    text = text_of(module, node) if isinstance(node, cst.SimpleString) else None
    if text is not None and text.value == _CUDA:
        module.edit(text.start, text.start + len(_CUDA), "musa", "tilelang-target", musa=False)


@visit(cst.Module, order=8)
def report_none(module: Module, node: cst.Module) -> None:
    """Decorators and calls that compile without a target: the first one, and how many."""
    if not is_tilelang(module) or module.draft.mentions(*(name.encode() for name in _DEFAULTS)):
        return
    found = sorted(_without_target(module), key=lambda place: module.span(place)[0])
    if found:
        many = f"{len(found)} kernels are" if len(found) > 1 else "a kernel is"
        message = f"{many} compiled without a target, here first: where CUDA is installed too, that is cuda"
        module.report(found[0], "tilelang-no-target", message)


def _without_target(module: Module) -> Iterator[cst.CSTNode]:
    for decorator in module.nodes(cst.Decorator):
        if module.qualified(decorator.decorator) in _COMPILERS:
            yield decorator.decorator
    for call in module.nodes(cst.Call):
        is_open = argument(call, "target") is None and not any(arg.star == "**" for arg in call.args)
        if is_open and module.qualified(call.func) in _COMPILERS:
            yield call.func
