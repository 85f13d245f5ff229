"""Extensions that torch builds: what torch_musa calls the functions, their keywords, and the folder of the toolkit."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.extensions import PACKAGE, Build, builds
from musa_port.python.flow import Entry
from musa_port.python.literals import plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.rules.name import spelling
from musa_port.python.tree import dotted
from musa_port.python.words import place
from musa_port.rules import Rule, register

EXTENSION = register(
    Rule(
        "P15",
        "cpp-extension",
        Severity.WARNING,
        "Builds extensions with torch_musa: MUSAExtension, its BuildExtension, load, load_inline, and their keywords.",
        why="torch.utils.cpp_extension calls nvcc. CppExtension stays there: it builds no device code.",
        example=(
            "from torch.utils.cpp_extension import CUDAExtension\n"
            'CUDAExtension("ops", ["ops.cu"], extra_compile_args={"nvcc": ["-O3"]})',
            "from torch_musa.utils.musa_extension import MUSAExtension\n"
            'MUSAExtension("ops", ["ops.mu"], extra_compile_args={"mcc": ["-O3"]})',
        ),
        advice="torch_musa has to be installed where the extension is built.",
        evidence="torch_python.csv; torch_musa.utils.musa_extension",
    )
)
_MUSA = "torch_musa.utils.musa_extension"
#: Keyword -> keyword of torch_musa.
_KEYWORDS = {
    "extra_cuda_cflags": "extra_musa_cflags",
    "with_cuda": "with_musa",
    "cuda_sources": "musa_sources",
}
#: What `load` of torch_musa takes.
_LOAD = frozenset(
    "name sources extra_cflags extra_cuda_cflags extra_musa_cflags extra_ldflags extra_include_paths build_directory "
    "verbose with_cuda with_musa is_python_module is_standalone keep_intermediates".split()
)
_FOLDERS = {f"{PACKAGE}.{name}": f"{_MUSA}.{name}" for name in ("include_paths", "library_paths")}
#: Names of the package that mean CUDA.
_MEANS_CUDA = re.compile(r".*(cuda|CUDA|nvcc|NVCC).*|CUDNN_HOME|load|load_inline|_jit_compile|_write_ninja_file\w*")
_PRIVATE = re.compile(r"_\w*(cuda|nvcc|jit_compile|write_ninja)\w*|COMMON_NVCC_FLAGS|CUDA_\w*VERSIONS\w*")


@visit(cst.Module, order=5)
def keep_host_extensions(module: Module, node: cst.Module) -> None:
    """A file that builds host code alone keeps the build of torch."""
    if not module.draft.mentions(b"cpp_extension") or not _is_host_only(module):
        return
    for statement in module.nodes(cst.ImportFrom):
        if statement.module is not None and ".".join(dotted(statement.module)) == PACKAGE:
            module.claim(statement)
    for name in module.nodes(cst.Attribute):
        if name.attr.value == "BuildExtension":
            module.claim(name)


@visit(cst.Module, order=21)
def need_no_import(module: Module, node: cst.Module) -> None:
    """What the names of such a file would have been imported from."""
    if module.draft.mentions(b"cpp_extension") and _is_host_only(module):
        module.required_modules.discard(_MUSA)


def _is_host_only(module: Module) -> bool:
    """Whether the file names CppExtension, and nothing of the package that is about CUDA."""
    names: set[str] = set()
    for statement in module.nodes(cst.ImportFrom):
        if statement.module is not None and ".".join(dotted(statement.module)) == PACKAGE:
            if isinstance(statement.names, cst.ImportStar):
                return False
            names.update(dotted(alias.name)[0] for alias in statement.names)
    for node in module.nodes(cst.Attribute):
        if any(full.startswith(PACKAGE + ".") for full in module.possible(node)):
            names.add(node.attr.value)
    if "CppExtension" not in names or any(_MEANS_CUDA.fullmatch(name) for name in names):
        return False
    calls = (call for call in module.nodes(cst.Call) if module.one_of(call.func, _FOLDERS))
    return not any(_asks_cuda(module, arg) for call in calls for arg in call.args)


@visit(cst.Module, order=30)
def port_keywords(module: Module, node: cst.Module) -> None:
    """`load(extra_cuda_cflags=...)`, by keyword or in a dictionary that is given as `**options`."""
    for build in builds(module):
        if build.is_cuda:
            for entry in build.arguments:
                _port_keyword(module, build, entry)


def _port_keyword(module: Module, build: Build, entry: Entry) -> None:
    new = _KEYWORDS.get(entry.name)
    name = build.function.rpartition(".")[2]
    if entry.key is entry.value:  # given by position
        return
    if new is not None and name != "CUDAExtension":
        rename_key(module, entry.key, new, "cpp-extension")
    elif name == "load" and entry.name not in _LOAD:
        message = f"load of torch_musa has no argument {entry.name}"
        module.report(entry.key, "cpp-extension", message, name=entry.name, once=entry.name)


def rename_key(module: Module, key: cst.CSTNode, new: str, rule: str, confidence: str = "") -> None:
    """Rename a keyword, or the text of a string that is a key."""
    if isinstance(key, cst.Name):
        module.replace(key, new, rule, confidence, musa=False)
    elif (text := text_of(module, key)) is not None:
        module.edit(*place(module, text, 0), new, rule, confidence, musa=False)


@visit(cst.Call, order=15)
def port_folders(module: Module, node: cst.Call) -> None:
    """`include_paths(cuda=True)`, which torch_musa calls `include_paths(musa=True)`."""
    full = module.one_of(node.func, _FOLDERS)
    if not full or not isinstance(node.func, (cst.Attribute, cst.Name)):
        return
    arg = next((arg for arg in node.args if _asks_cuda(module, arg)), None)
    if arg is None:
        return
    new = spelling(module, node.func, _FOLDERS[full])
    if new is None:
        module.report(node, "cpp-extension", f"{full} of CUDA is left; it is {_FOLDERS[full]} on MUSA")
        return
    value = module.code(arg.value) if arg.keyword is not None and arg.keyword.value == "cuda" else "True"
    module.replace(node.func, new, "cpp-extension", "medium")
    module.edit(module.span(arg)[0], module.span(arg)[1], f"musa={value}", "cpp-extension", "medium")


def _asks_cuda(module: Module, arg: cst.Arg) -> bool:
    """`cuda=...`, `device_type="cuda"`, or one of these values by position."""
    if arg.keyword is not None and arg.keyword.value == "cuda":
        return module.code(arg.value) != "False"
    if arg.keyword is not None and arg.keyword.value != "device_type":
        return False
    return plain(arg.value) == "cuda" or (arg.keyword is None and module.code(arg.value) == "True")


@visit(cst.ImportFrom, order=15)
def report_private(module: Module, node: cst.ImportFrom) -> None:
    """`from torch.utils.cpp_extension import _find_cuda_home`."""
    if node.module is None or isinstance(node.names, cst.ImportStar) or ".".join(dotted(node.module)) != PACKAGE:
        return
    for alias in node.names:
        name = dotted(alias.name)[0]
        if _PRIVATE.fullmatch(name):
            _report_private(module, alias, name)


@visit(cst.Attribute, order=15)
def report_private_use(module: Module, node: cst.Attribute) -> None:
    """`cpp_extension._jit_compile(...)`."""
    name = node.attr.value
    if _PRIVATE.fullmatch(name) and module.one_of(node, (f"{PACKAGE}.{name}",)):
        _report_private(module, node, name)


def _report_private(module: Module, node: cst.CSTNode, name: str) -> None:
    message = f"{PACKAGE}.{name} is about CUDA, is no public name, and is left"
    advice = f"Use load, load_inline or MUSA_HOME of {_MUSA}."
    severity = Severity.ERROR
    module.report(node, "cpp-extension", message, severity=severity, advice=advice, name=name, once=name)
