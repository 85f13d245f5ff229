"""Device strings: `device="cuda"`, `torch.device("cuda:0")`, `f"cuda:{rank}"`, `x.device.type == "cuda"`."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.devices import KEYWORDS, is_device_name, port_value
from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register

KEYWORD = register(
    Rule(
        "P4",
        "device-keyword",
        Severity.INFO,
        "Changes device strings given to keywords, options and entries that are called device.",
        example=('x = torch.zeros(4, device="cuda:0")', 'x = torch.zeros(4, device="musa:0")'),
    )
)
ARGUMENT = register(
    Rule(
        "P5",
        "device-argument",
        Severity.INFO,
        "Changes device strings in calls whose first argument is a device: torch.device, .to, torch.autocast, ...",
        example=('x = x.to("cuda")', 'x = x.to("musa")'),
    )
)
STRING = register(
    Rule(
        "P6",
        "device-string",
        Severity.INFO,
        "Changes device strings that are built, and those that are assigned to a name with `dev` in it.",
        example=('device = f"cuda:{rank}"', 'device = f"musa:{rank}"'),
    )
)
#: Functions of torch whose first argument is a device or its type.
_FIRST = frozenset(
    "torch.device torch.autocast torch.set_default_device torch.Generator torch.amp.GradScaler torch.amp.autocast "
    "torch.amp.autocast_mode.autocast torch.amp.grad_scaler.GradScaler torch.amp.is_autocast_available "
    "torch.amp.autocast_mode.is_autocast_available torch.is_autocast_enabled torch.set_autocast_enabled "
    "torch.get_autocast_dtype torch.set_autocast_dtype "
    "torch.get_device_module torch.distributed.device_mesh.init_device_mesh torch.distributed.init_device_mesh "
    "torch.distributed.device_mesh.DeviceMesh torch.distributed.DeviceMesh torch.distributed.tensor.DeviceMesh "
    "torch.distributed._tensor.DeviceMesh torch.distributed.tensor.init_device_mesh "
    "torch.testing._internal.common_device_type.onlyOn torch._dynamo.device_interface.get_interface_for_device".split()
)
#: Methods whose first argument may be a device.
_METHODS = frozenset({"to", "type", "to_empty"})
_OPTION_CALLS = frozenset({"add_argument", "option", "Option", "add_option"})


@visit(cst.Call, order=30)
def port_call(module: Module, node: cst.Call) -> None:
    """Keywords, first arguments, command-line options, parametrised tests."""
    for arg in node.args:
        if arg.keyword is not None and arg.keyword.value in KEYWORDS:
            port_value(module, arg.value, "device-keyword", keys=arg.keyword.value == "map_location")
    if not node.args:
        return
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else (dotted(node.func) or [""])[-1]
    if name in _OPTION_CALLS:
        _port_option(module, node)
    elif name == "parametrize":
        _port_parameters(module, node)
    elif _takes_device(module, node, name):
        first = node.args[0]
        if first.keyword is None or (first.keyword.value == "type" and name == "device"):
            port_value(module, first.value, "device-argument")
    elif module.one_of(node.func, ("torch.load", "torch.jit.load")):
        _port_second(module, node)


def _takes_device(module: Module, node: cst.Call, name: str) -> bool:
    is_method = isinstance(node.func, cst.Attribute) and name in _METHODS
    return is_method or bool(module.one_of(node.func, _FIRST))


def _port_second(module: Module, node: cst.Call) -> None:
    """`torch.load(file, "cuda")`."""
    if len(node.args) > 1 and node.args[1].keyword is None:
        port_value(module, node.args[1].value, "device-argument", keys=True)


def _port_option(module: Module, node: cst.Call) -> None:
    """`add_argument("--device", default="cuda", choices=["cuda", "cpu"])`, and the same of click and typer."""
    flags = [plain(arg.value) for arg in node.args if arg.keyword is None]
    if not any(flag.lstrip("-").replace("-", "_").endswith(("device", "device_type")) for flag in flags if flag):
        return
    for arg in node.args:
        if arg.keyword is not None and arg.keyword.value in ("default", "choices", "const"):
            port_value(module, arg.value, "device-keyword")
        elif arg.keyword is not None and arg.keyword.value == "type" and isinstance(arg.value, cst.Call):
            for inner in arg.value.args:  # click.Choice([...])
                port_value(module, inner.value, "device-keyword")
        elif arg.keyword is None and not plain(arg.value).startswith("-"):
            port_value(module, arg.value, "device-keyword")


def _port_parameters(module: Module, node: cst.Call) -> None:
    """`pytest.mark.parametrize("device", ["cpu", "cuda"])`."""
    if len(node.args) > 1 and is_device_name(plain(node.args[0].value)) and "," not in plain(node.args[0].value):
        port_value(module, node.args[1].value, "device-keyword")


@visit(cst.Param, order=30)
def port_default(module: Module, node: cst.Param) -> None:
    """`def f(device="cuda")`."""
    if node.default is not None and (node.name.value in KEYWORDS or is_device_name(node.name.value)):
        port_value(module, node.default, "device-keyword")


@visit(cst.Assign, order=30)
def port_assignment(module: Module, node: cst.Assign) -> None:
    """`device = "cuda"`, `self.device = ...`, `config["device"] = ...`, `os.environ` keys are not devices."""
    if any(is_device_name(_target_name(target.target)) for target in node.targets):
        port_value(module, node.value, "device-string")


@visit(cst.AnnAssign, order=30)
def port_annotated(module: Module, node: cst.AnnAssign) -> None:
    """`device: str = "cuda"`."""
    if node.value is not None and is_device_name(_target_name(node.target)):
        port_value(module, node.value, "device-string")


@visit(cst.NamedExpr, order=30)
def port_walrus(module: Module, node: cst.NamedExpr) -> None:
    """`(device := "cuda")`."""
    if is_device_name(_target_name(node.target)):
        port_value(module, node.value, "device-string")


@visit(cst.For, cst.CompFor, order=30)
def port_loop(module: Module, node: cst.For | cst.CompFor) -> None:
    """`for device in ["cpu", "cuda"]`."""
    if is_device_name(_target_name(node.target)):
        port_value(module, node.iter, "device-string")


@visit(cst.DictElement, order=30)
def port_entry(module: Module, node: cst.DictElement) -> None:
    """`{"device": "cuda"}`."""
    if plain(node.key) in KEYWORDS:
        port_value(module, node.value, "device-keyword", keys=plain(node.key) == "map_location")


@visit(cst.Return, order=30)
def port_return(module: Module, node: cst.Return) -> None:
    """`return "cuda"` in a function that is called after a device."""
    if node.value is not None and "device" in module.function_name(node).lower():
        port_value(module, node.value, "device-string")


def _target_name(node: cst.CSTNode) -> str:
    """The last name of what is assigned, or the key of an item."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        return node.attr.value
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        key = plain(node.slice[0].slice.value)
        return "" if "VISIBLE_DEVICES" in key else key
    return ""
