"""Which strings of a Python file a port may change: what a string is by the place where it stands.

The places are those that docs/porting-guide.md lists: devices, backends, environment variables, flags of a compiler,
libraries and their functions, columns of a profile, targets of a kernel compiler, dispatch keys, renamed sources and
the text of kernels. Everything else is text, and stays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from . import python_names
from .python_source import PythonSource, dotted, text_of

DEVICE_KEYWORDS = frozenset("device device_type device_types devices device_ids map_location device_map".split())
#: Functions of torch whose first argument is a device or its type.
_DEVICE_FUNCTIONS = frozenset(
    "device autocast set_default_device Generator init_device_mesh DeviceMesh GradScaler get_device_module "
    "is_autocast_available is_autocast_enabled set_autocast_enabled get_autocast_dtype set_autocast_dtype "
    "get_interface_for_device".split()
)
_DEVICE_METHODS = frozenset({"to", "type", "to_empty"})
_OPTIONS = frozenset({"add_argument", "add_option", "option", "Option"})
_ENVIRONMENT = frozenset({"getenv", "putenv", "unsetenv", "setenv", "delenv"})
#: Where the default of a look-up stands.
_DEFAULTS = {"get": 1, "pop": 1, "getenv": 1, "setdefault": 1, "getattr": 2}
_FLAGS = frozenset(
    "extra_compile_args extra_cuda_cflags extra_cflags extra_ldflags extra_link_args compile_flags define_macros "
    "libraries library_dirs include_dirs extra_include_paths".split()
)
_PROGRAMS = frozenset(
    "run call check_call check_output Popen getoutput getstatusoutput system popen which find_executable".split()
)
_PATHS = frozenset("glob iglob rglob join joinpath Path open endswith removesuffix match fnmatch exists isfile".split())
#: Kinds that a string keeps on its way through a variable.
_FLOWING = frozenset({"flag", "kernel", "library", "function", "source", "environment", "program"})
_OPENERS = frozenset({"CDLL", "LoadLibrary", "find_library", "PyDLL"})
_TEXTS = frozenset({"cuda_sources", "cuda_source", "RawKernel", "RawModule"})


def kinds(source: PythonSource, node: ast.AST) -> set[str]:
    """What a string may be where it stands; empty for text. The kinds are those of python_strings."""
    found = _kinds_here(source, node)
    for name in _variables(source, node):
        found |= {kind for use in source.uses(name) for kind in _kinds_here(source, use)} & _FLOWING
    if text_of(node) in python_names.functions() and _OPENERS & source.words:
        found.add("function")
    return found


def _kinds_here(source: PythonSource, node: ast.AST) -> set[str]:
    return {kind for child, parent in _carriers(source, node) for kind in _kinds(source, child, parent)}


def _variables(source: PythonSource, node: ast.AST) -> set[str]:
    """Names that a string, or a list with it, is given to before it is used."""
    names = set()
    for child, parent in _carriers(source, node):
        names |= set(_names_given(source, child, parent))
        if isinstance(parent, ast.Call) and _last(parent.func) in ("append", "extend"):
            names.add(_last(parent.func.value) if isinstance(parent.func, ast.Attribute) else "")
    return names - {""}


def _carriers(source: PythonSource, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The expressions whose value the string is or begins, each with what is around it."""
    for parent in source.ancestors(node):
        yield node, parent
        if not _carries(node, parent):
            return
        node = parent


def _carries(child: ast.AST, parent: ast.AST) -> bool:
    """Whether the value of an expression is, begins with, or is chosen from, that of a part of it."""
    if isinstance(parent, ast.IfExp):
        return child is not parent.test
    if isinstance(parent, ast.BinOp):
        is_first = child is parent.left or not isinstance(child, (ast.Constant, ast.JoinedStr))
        return isinstance(parent.op, (ast.Add, ast.Mod)) and is_first
    if isinstance(parent, ast.JoinedStr):
        return child is parent.values[0]
    if isinstance(parent, ast.Attribute):
        return parent.attr == "format"
    if isinstance(parent, ast.Call):
        return child is parent.func or child is _default(parent)
    return isinstance(parent, (ast.BoolOp, ast.Tuple, ast.List, ast.Set, ast.Starred, ast.NamedExpr))


def _default(call: ast.Call) -> ast.AST | None:
    position = _DEFAULTS.get(_last(call.func), len(call.args))
    return call.args[position] if position < len(call.args) else None


def _last(node: ast.AST | None) -> str:
    """The last name of a chain, whatever it begins with."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _kinds(source: PythonSource, child: ast.AST, parent: ast.AST) -> Iterator[str]:
    if isinstance(parent, ast.keyword):
        yield from _of_keyword(source, parent)
    elif isinstance(parent, ast.Call) and child in parent.args:
        yield from _of_argument(source, child, parent)
    elif isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div) and child is parent.right:
        yield from ("source", "folder")
    elif isinstance(parent, ast.Compare):
        yield from _of_comparison(source, child, parent)
    elif isinstance(parent, ast.Dict):
        yield from _of_entry(source, child, parent)
    elif isinstance(parent, ast.Subscript) and child is parent.slice:
        if _last(parent.value) in ("environ", "env") or _is_environment(source, parent.value):
            yield "environment"
    elif isinstance(parent, ast.MatchValue):
        match = next(item for item in source.ancestors(parent) if isinstance(item, ast.Match))
        yield from _of_compared(source, match.subject)
    else:
        for name in _names_given(source, child, parent):
            yield from _of_name(name)


# ---- arguments ---------------------------------------------------------------------------------------------------


def _of_keyword(source: PythonSource, keyword: ast.keyword) -> Iterator[str]:
    name, call = keyword.arg or "", source.parents[keyword]
    if name in DEVICE_KEYWORDS or name.endswith("_device"):
        yield "device"
    if name.endswith("backend"):
        yield "backend"
    if name in ("sort_by", "group_by"):
        yield "column"
    if name in ("target", "target_host", "backend"):
        yield "target"
    if name in ("key", "dispatch_key", "dispatch_keys"):
        yield "dispatch"
    if name == "sources":
        yield "source"
    if name in _FLAGS:
        yield "flag"
    if name in _TEXTS:
        yield "kernel"
    if isinstance(call, ast.Call) and _last(call.func) in _OPTIONS and name in ("default", "choices", "const"):
        yield from _of_option(call)


def _of_option(call: ast.Call) -> Iterator[str]:
    """`add_argument("--device", default="cuda", choices=[...])`."""
    for flag in filter(None, map(text_of, call.args)):
        yield from _of_name(flag)


def _of_argument(source: PythonSource, child: ast.AST, call: ast.Call) -> Iterator[str]:
    name, position = _last(call.func), call.args.index(child)  # type: ignore[arg-type]
    functions = source.meanings(dotted(call.func))
    of_torch = any(full.split(".")[0] == "torch" for full in functions)
    if position == 0 and ((name in _DEVICE_FUNCTIONS and of_torch) or _is_method(call, functions)):
        yield "device"
    if position == 1 and name == "load" and of_torch:
        yield "device"
    if any(full.startswith("torch.cuda.") and "nvtx" not in full for full in functions):
        yield "device"
    if any(full.startswith("torch.distributed.") for full in functions):
        yield "backend"
    if name in _ENVIRONMENT or (isinstance(call.func, ast.Attribute) and _is_environment(source, call.func.value)):
        yield "environment"
    if name in ("startswith", "endswith", "removeprefix", "count") and isinstance(call.func, ast.Attribute):
        yield from _of_compared(source, call.func.value)
    if name == "parametrize" and position == 1:
        yield from _of_name(text_of(call.args[0]) or "")
    yield from _of_tool(name, position)


def _is_method(call: ast.Call, functions: set[str]) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _DEVICE_METHODS and not functions


def _is_environment(source: PythonSource, node: ast.AST) -> bool:
    """`os.environ`, `environ`, and `env` dictionaries."""
    return bool({"os.environ"} & {dotted(node), *source.meanings(dotted(node))}) or _last(node).endswith("env")


def _of_tool(name: str, position: int) -> Iterator[str]:
    if name == "set_default_tensor_type" or name in ("patch", "setattr", "delattr", "getattr"):
        yield "name"
    if name in ("setattr", "getattr", "hasattr", "Function") and position <= 1:
        yield "function"
    if name in _OPENERS or "library" in name.lower():
        yield "library"
    if name in ("impl", "fallthrough", "Library", "register_kernel", "get_kernel"):
        yield "dispatch"
    if name in _PATHS:
        yield from ("source", "folder")
    if name in _PROGRAMS:
        yield "program"
    if name in ("Target", "GPUTarget", "compile", "lower"):
        yield "target"
    if name in _TEXTS:
        yield "kernel"
    if name in ("CUDAExtension", "load", "load_inline"):
        yield "source"


# ---- comparisons -------------------------------------------------------------------------------------------------


def _of_comparison(source: PythonSource, child: ast.AST, comparison: ast.Compare) -> Iterator[str]:
    for operand in (comparison.left, *comparison.comparators):
        if operand is not child:
            yield from _of_compared(source, operand)


def _of_compared(source: PythonSource, operand: ast.AST) -> Iterator[str]:
    """What a string is that is compared with an expression."""
    if _is_environment(source, operand):
        yield "environment"
    if isinstance(operand, ast.Attribute) and operand.attr == "type":
        yield "device"
    elif ast.unparse(operand).endswith((".kind.name", ".kind", ".backend")):
        yield from ("target", "backend")
    elif isinstance(operand, (ast.Attribute, ast.Name)):
        yield from _of_ending(_last(operand))
    elif isinstance(operand, ast.Subscript):
        yield from _of_ending(text_of(operand.slice) or "")
        yield from _of_compared(source, operand.value)
    elif isinstance(operand, ast.Call):
        yield from _of_compared_call(source, operand)


def _of_compared_call(source: PythonSource, call: ast.Call) -> Iterator[str]:
    """`str(device)`, `device.split(":")`, `get_backend()`, `config.get("device")`."""
    if "torch.distributed.get_backend" in source.meanings(dotted(call.func)):
        yield "backend"
    if _last(call.func) == "str" and call.args:
        yield from _of_compared(source, call.args[0])
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("lower", "strip", "split", "partition"):
        yield from _of_compared(source, call.func.value)
    if _last(call.func) == "get" and call.args:
        yield from _of_ending(text_of(call.args[0]) or "")


def _of_ending(name: str) -> Iterator[str]:
    """What a name says that ends in the word for it."""
    name = name.lower().rstrip("s")
    if name.endswith(("device", "dev", "device_type", "devicetype", "device_str", "device_name")):
        yield "device"
    if name.endswith("backend"):
        yield "backend"


# ---- names that get a value --------------------------------------------------------------------------------------


def _names_given(source: PythonSource, child: ast.AST, parent: ast.AST) -> Iterator[str]:
    """The names of what an expression becomes the value of."""
    if isinstance(parent, ast.Assign):
        yield from map(_target, parent.targets)
    elif isinstance(parent, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.comprehension)):
        yield _target(parent.target)
    elif isinstance(parent, ast.arguments):
        yield _parameter(parent, child)
    elif isinstance(parent, ast.Return):
        yield next((item.name for item in source.ancestors(parent) if isinstance(item, ast.FunctionDef)), "")


def _target(node: ast.AST) -> str:
    return text_of(node.slice) or "" if isinstance(node, ast.Subscript) else _last(node)


def _parameter(arguments: ast.arguments, default: ast.AST) -> str:
    """The parameter that has this default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    pairs += [pair for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if pair[1]]  # type: ignore[misc]
    return next((parameter.arg for parameter, value in pairs if value is default), "")


def _of_name(name: str) -> Iterator[str]:
    """What the value of a name is."""
    if "dev" in name.lower() and "VISIBLE_DEVICES" not in name:
        yield "device"
    if "backend" in name.lower():
        yield "backend"
    if name.lower().endswith("target"):
        yield "target"


def _of_entry(source: PythonSource, child: ast.AST, entries: ast.Dict) -> Iterator[str]:
    """A key or a value of a dictionary."""
    user = source.parents[entries]
    name = user.arg or "" if isinstance(user, ast.keyword) else ""
    if name == "map_location":
        yield "device"
    if child in entries.keys:
        if name in ("env", "environ") or (isinstance(user, ast.Call) and _is_environment(source, user.func)):
            yield "environment"
        if name in _FLAGS or text_of(child) == "nvcc":
            yield "flag"
        return
    key = text_of(entries.keys[entries.values.index(child)]) or ""  # type: ignore[arg-type]
    if key in DEVICE_KEYWORDS or key.endswith("_device") or name == "device_map":
        yield "device"
    if key in ("kind", "arch"):
        yield "target"
    if key in ("nvcc", "cxx") or name in _FLAGS:
        yield "flag"
