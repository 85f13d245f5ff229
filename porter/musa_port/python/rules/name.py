"""Dotted names that were imported: `torch.cuda.Stream`, `cuda.Stream` after `from torch import cuda`, and so on."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.joined import name_of
from musa_port.python.module import Module
from musa_port.python.paths import Target
from musa_port.python.registry import visit
from musa_port.python.tree import dotted, root_of
from musa_port.python.uses import is_use
from musa_port.rules import Rule, register

TORCH_CUDA = register(
    Rule(
        "P1",
        "torch-cuda",
        Severity.INFO,
        "Renames what is used of `torch.cuda`, by whatever name it was imported; reports what torch_musa lacks.",
        why="`torch.musa` is torch_musa: most of `torch.cuda` has the same name there, and a few things have another.",
        example=("stream = torch.cuda.Stream()", "stream = torch.musa.Stream()"),
        evidence="torch_python.csv; the public names of torch_musa",
    )
)
VERSION = register(
    Rule(
        "P10",
        "torch-version",
        Severity.WARNING,
        "Renames `torch.version.cuda`, and reports where its value is compared or parsed.",
        why="MUSA counts its own versions: a comparison with a CUDA version says nothing about MUSA.",
        example=("if torch.version.cuda is None:", "if torch.version.musa is None:"),
        advice="Compare with a version of the MUSA toolkit, or ask for what the version stands for.",
    )
)
TF32 = register(
    Rule(
        "P11",
        "allow-tf32",
        Severity.WARNING,
        "Renames the TF32 switches: torch_musa has one for matrix products and convolutions.",
        example=("torch.backends.cudnn.allow_tf32 = True", "torch.backends.mudnn.allow_tf32 = True"),
        advice="Check that the program sets the one switch to the value that it wants for both.",
    )
)
BACKENDS = register(
    Rule(
        "P12",
        "torch-backends",
        Severity.WARNING,
        "Leaves the switches of torch.backends that do no harm on MUSA, and reports those that nothing answers to.",
        why="The attention switches and `cudnn.benchmark` are kept by real ports.",
        example=("torch.backends.cudnn.enabled = True", "torch.backends.cudnn.enabled = True"),
    )
)
SKIP = register(
    Rule(
        "P30",
        "skip-condition",
        Severity.INFO,
        "Renames what a test's skip condition asks of torch.cuda.",
        why="Tests that are skipped without CUDA would be skipped on MUSA too.",
        example=(
            "@pytest.mark.skipif(not torch.cuda.is_available(), reason='no GPU')",
            "@pytest.mark.skipif(not torch.musa.is_available(), reason='no GPU')",
        ),
    )
)
PRIVATE = register(
    Rule(
        "P29",
        "private-torch",
        Severity.ERROR,
        "Reports private names of torch.cuda and torch._C._cuda_*, which are left.",
        why="Private names change between versions of torch and of torch_musa.",
        example=("torch._C._cuda_setDevice(0)", "torch._C._cuda_setDevice(0)"),
        advice="Use a public name of torch.musa; where the message names a private counterpart, try it by hand.",
    )
)
TRITON = register(
    Rule(
        "P24",
        "triton",
        Severity.WARNING,
        "Renames Triton's CUDA modules and targets; reports warp counts, inline PTX and clusters.",
        why="A warp has 128 threads on mp_21 and mp_22, and 32 on mp_31.",
        example=(
            "from triton.language.extra.cuda import libdevice",
            "from triton.language.extra.musa import libdevice",
        ),
        evidence="triton_tilelang.csv",
    )
)
NVML = register(
    Rule(
        "P27",
        "nvml",
        Severity.WARNING,
        "Imports pymtml where pynvml was imported, under the same name.",
        why="pymtml offers functions with the nvml names, not all of them.",
        example=("import pynvml", "import pymtml as pynvml"),
        advice="Install mthreads-ml-py and check each function that the file calls.",
    )
)
#: Rules by the beginning of the CUDA name; the first that fits counts.
_RULES = (
    ("torch.version.", "torch-version"),
    ("torch._C.", "private-torch"),
    ("torch.backends.", "torch-backends"),
    ("torch.cuda.nvtx", "nvtx"),
    ("torch.autograd.profiler.emit_nvtx", "nvtx"),
    ("torch.utils.cpp_extension", "cpp-extension"),
    ("torch.distributed", "distributed-backend"),
    ("torch.profiler", "profiler"),
    ("pynvml", "nvml"),
    ("triton", "triton"),
    ("tilelang.utils.target", "determine-target"),
    ("tilelang.register_cuda", "source-postprocessing"),
    ("tilelang.engine", "source-postprocessing"),
    ("tilelang.testing", "tests-require-musa"),
    ("tilelang.cuda.transform", "backend-passes"),
    ("tilelang", "triton"),
    ("torch.", "torch-cuda"),
    ("", "cuda-only-package"),
)
_FORMS = re.compile("str|bool")
#: How functions are called that take a version apart.
_PARSERS = re.compile(
    r"int|float|tuple|list|map|match|search|findall|split|sub|(?!print|log)\w*(?:parse|version)\w*", re.I
)
#: Names below these belong to CUDA: without a row there is nothing to write.
_OWNED = re.compile(r"torch\.(cuda|backends\.cuda|backends\.cudnn|_C\._cuda_\w*|_C\._cudart|_C\._nvtx)\b")


def rule_of(full: str) -> str:
    """The rule that a CUDA name belongs to."""
    if full.endswith("allow_tf32"):
        return "allow-tf32"
    return next(rule for prefix, rule in _RULES if full.startswith(prefix))


def is_private(full: str) -> bool:
    """Whether it is a private name of torch's CUDA side."""
    return re.match(r"torch\._C\._(cuda_|cudart|nvtx)|torch\.cuda(\.\w+)*\._", full) is not None


@visit(cst.Attribute, cst.Name, order=20)
def port_name(module: Module, node: cst.Attribute | cst.Name) -> None:
    """Rename one chain of names, or say why not."""
    if not is_use(module, node) or not any(_concerns(module, full) for full in module.possible(node)):
        return
    full = module.qualified(node)
    if not full or module.is_claimed(node):
        return
    target = known(module, node, full)
    if target is not None:
        _decide(module, node, full, target)


def _concerns(module: Module, full: str) -> bool:
    return module.paths.find(full) is not None or _OWNED.match(full) is not None


def known(module: Module, node: cst.CSTNode, full: str) -> Target | None:
    """The row by which a full name, which `node` stands for, moves or stays; None when it stays for another reason.

    That is reported, unless --keep-names asks for it.
    """
    target = module.paths.find(full)
    if is_private(full):
        _report_private(module, node, full, target)
    elif target is None or (target.cuda == "torch.cuda" != full):
        if _OWNED.match(full):
            _report_missing(module, node, full)
    elif module.is_kept(target):
        module.claim(node)
    elif not target.row.supported:
        report_unsupported(module, node, target)
    elif target.musa != target.cuda and not module.draft.names.allowed(target.row):
        module.report(node, rule_of(full), f"{target.cuda} is left: {target.row.confidence} confidence")
    else:
        return target
    return None


def becomes(module: Module, full: str) -> str:
    """The name of a CUDA name after the run; the same when it stays."""
    target = module.paths.find(full)
    if target is None or is_private(full) or (target.cuda == "torch.cuda" != full):
        return full
    stays = not target.row.supported or module.is_kept(target) or not module.draft.names.allowed(target.row)
    return full if stays else module.paths.moved(full)


def _decide(module: Module, node: cst.Attribute | cst.Name, full: str, target: Target) -> None:
    if target.musa == target.cuda:
        module.claim(node)
        _report_meaning(module, node, target, "")
        return
    new = spelling(module, node, module.paths.moved(full))
    if new is None:
        message = f"{target.cuda} is {target.musa} in the port, which this file does not import"
        module.report(node, rule_of(full), message, severity=Severity.ERROR, name=target.cuda)
        return
    rule = "skip-condition" if _is_skip_condition(module, node) else rule_of(full)
    _respell(module, node, new, rule, target)
    module.draft.use(target.cuda, target.row.confidence)
    _report_meaning(module, node, target, new)


def _is_skip_condition(module: Module, node: cst.CSTNode) -> bool:
    """Whether the name stands in a decorator such as `pytest.mark.skipif(...)` or `unittest.skipUnless(...)`."""
    decorator = module.enclosing(node, cst.Decorator)
    if decorator is None or not isinstance(decorator.decorator, cst.Call):
        return False
    return (dotted(decorator.decorator.func) or [""])[-1] in ("skipif", "skipIf", "skipUnless", "xfail")


def _respell(module: Module, node: cst.Attribute | cst.Name, new: str, rule: str, target: Target) -> None:
    """Replace only the parts of the chain that change, so that white space and comments between them stay."""
    names = _names(node)
    old, parts = [name.value for name in names], new.split(".")
    same = 0
    while same < min(len(old), len(parts)) - 1 and old[same] == parts[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(parts)) - same - 1 and old[-1 - tail] == parts[-1 - tail]:
        tail += 1
    changed = names[same : len(names) - tail]
    text = ".".join(parts[same : len(parts) - tail])
    start, end = module.span(changed[0])[0], module.span(changed[-1])[1]
    module.edit(start, end, text, rule, target.row.confidence, musa=target.musa.startswith("torch"))
    module.claim(node)


def _names(node: cst.BaseExpression) -> list[cst.Name]:
    names: list[cst.Name] = []
    while isinstance(node, cst.Attribute):
        names.append(node.attr)
        node = node.value
    assert isinstance(node, cst.Name)
    return [node, *reversed(names)]


def spelling(module: Module, node: cst.Attribute | cst.Name, musa: str) -> str | None:
    """How the file has to write the full name `musa` in place of `node`; None when nothing it imports leads there."""
    root = root_of(node)
    assert isinstance(root, cst.Name)
    bound = module.qualified(root)
    moved = module.paths.moved(bound)
    local = local_name(module, root, bound, moved)
    if musa == moved or musa.startswith(moved + "."):
        return local + musa[len(moved) :]
    return _from_torch(module, node, musa)


def _from_torch(module: Module, node: cst.CSTNode, musa: str) -> str | None:
    head = musa.split(".")[0]
    if head == "torch_musa":
        module.required_modules.add(musa.rpartition(".")[0])
        return musa
    return musa if module.sees(node, head) else None


def local_name(module: Module, root: cst.Name, bound: str, moved: str) -> str:
    """The name by which the file knows what it imported; one such as CUDAGraph changes with the import."""
    found = module.import_of(root)
    if found is None or found[1] or "." not in bound or found[0] != bound:
        return root.value
    return new_local(module, bound, moved)


def new_local(module: Module, cuda: str, musa: str) -> str:
    """What `from x import Y` without `as` binds after porting: a new name when Y says CUDA in capitals."""
    old, new = cuda.rpartition(".")[2], musa.rpartition(".")[2]
    return new if "CUDA" in old and not module.is_reexported(old) else old


def report_unsupported(module: Module, node: cst.CSTNode, target: Target) -> None:
    """Say that there is no counterpart. Switches of torch.backends do no harm where they are."""
    harmless = target.cuda.startswith("torch.backends.")
    note = f": {target.row.note}" if target.row.note else ""
    module.claim(node)
    module.draft.use(target.cuda, "unsupported")
    module.report(
        node,
        rule_of(target.cuda),
        f"{target.cuda} has no counterpart on MUSA and is left{note}",
        severity=Severity.INFO if harmless else Severity.ERROR,
        name=target.cuda,
    )


def _report_missing(module: Module, node: cst.CSTNode, full: str) -> None:
    name = ".".join(full.split(".")[: 4 if full.startswith("torch.backends") else 3])
    module.claim(node)
    if "sdp" in full.rpartition(".")[2]:  # the attention switches are shared by all devices
        return
    module.draft.use(name, "unsupported")
    severity = Severity.WARNING if full.startswith("torch.backends") else Severity.ERROR
    message = f"{name} is not known in torch_musa and is left"
    module.report(node, rule_of(full), message, severity=severity, name=name)


def _report_private(module: Module, node: cst.CSTNode, full: str, target: Target | None) -> None:
    module.claim(node)
    known = target if target and target.row.supported and target.cuda not in ("torch.cuda", "torch") else None
    hint = f"; torch_musa has {known.musa}" if known else ""
    module.draft.use(full, "unsupported")
    module.report(node, "private-torch", f"{full} is private and is left{hint}", name=full)


def _report_meaning(module: Module, node: cst.CSTNode, target: Target, new: str) -> None:
    """Names that exist on MUSA and mean something else."""
    rule = rule_of(target.cuda)
    if rule == "torch-version":
        _report_version(module, node, new, parsed=module.qualified(node) != target.cuda)
    elif rule in ("allow-tf32", "nvml"):
        module.report(node, rule, f"{target.cuda} became {target.musa}", new=new)
    elif target.row.flag in ("semantic", "partial"):
        note = f": {target.row.note}" if target.row.note else ""
        verb = f"became {target.musa}" if new else "is left"
        module.report(
            node,
            rule,
            f"{target.cuda} {verb}{note}",
            severity=Severity.INFO if rule == "torch-cuda" else None,
            new=new,
            name=target.cuda,
            once=target.cuda,
        )


def _report_version(module: Module, node: cst.CSTNode, new: str, *, parsed: bool) -> None:
    value, parent = node, module.parent(node)
    while isinstance(parent, cst.Arg) and _calls(module, parent, _FORMS):
        value = cst.ensure_type(module.parent(parent), cst.Call)
        parent = module.parent(value)
    if isinstance(parent, cst.ComparisonTarget) or (isinstance(parent, cst.Comparison) and not _with_none(parent)):
        module.report(node, "torch-version", "a MUSA version is compared with a CUDA version", new=new)
    elif parsed or _is_parsed(module, value, parent):
        module.report(node, "torch-version", "the version is parsed: MUSA counts its own versions", new=new)


def _is_parsed(module: Module, value: cst.CSTNode, parent: cst.CSTNode | None) -> bool:
    """Whether something takes the text of a version apart; what prints or keeps it does not."""
    if isinstance(parent, cst.Arg):
        return _calls(module, parent, _PARSERS)
    return isinstance(parent, cst.Attribute) or (isinstance(parent, cst.Subscript) and parent.value is value)


def _calls(module: Module, arg: cst.Arg, names: re.Pattern[str]) -> bool:
    """Whether the argument is that of a call of such a name."""
    call = module.parent(arg)
    return isinstance(call, cst.Call) and names.fullmatch(name_of(call.func)) is not None


def _with_none(comparison: cst.Comparison) -> bool:
    return all(
        isinstance(target.operator, (cst.Is, cst.IsNot)) and dotted(target.comparator) == ["None"]
        for target in comparison.comparisons
    )
