"""TorchScript runs without Python, so devices are translated in the graphs, when they are made."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

import torch

from musa_compat.redirect.devices import Device, switch, to_musa
from musa_compat.redirect.registry import patch


@patch("device", "torch.jit._script:script", "torch.jit:script", reason="devices in TorchScript")
def _script(original: Any) -> Any:
    takes_frames = "_frames_up" in inspect.signature(original).parameters

    @wraps(original)
    def script(*args: Any, **kwargs: Any) -> Any:
        if takes_frames:  # names are looked up in the caller's frame, and this function is one more
            kwargs["_frames_up"] = kwargs.get("_frames_up", 0) + 1
        return _translated(original(*args, **kwargs))

    return script


@patch("device", "torch.jit._serialization:load", "torch.jit:load", reason="devices in a TorchScript file")
def _load(original: Any) -> Any:
    return wraps(original)(lambda *args, **kwargs: _translated(original(*args, **kwargs)))


def _translated(script: Any) -> Any:
    if not switch.on:
        return script
    if isinstance(script, torch.jit.ScriptFunction):
        _translate(script.graph)
    elif isinstance(script, torch.jit.ScriptModule):
        for module in script.modules():
            for name in module._c._method_names():
                _translate(module._c._get_method(name).graph)
    return script


def _translate(graph: Any) -> None:
    for node in graph.findAllNodes("aten::cuda", True):
        _to_device(graph, node)
    for node in graph.findAllNodes("prim::Constant", True):
        if node.hasAttribute("value") and node.output().type().kind() == "DeviceObjType":
            node.s_("value", to_musa(node.s("value")))


def _to_device(graph: Any, node: Any) -> None:
    """Replace `x.cuda()` by `x.to(device)`."""
    graph.setInsertPoint(node)
    arguments = [graph.insertConstant(value) for value in (Device("musa"), None, False, False)]
    made = graph.insertNode(graph.create("aten::to", [node.inputsAt(0), *arguments], 1))
    made.output().setType(node.output().type())
    node.output().replaceAllUsesWith(made.output())
    node.destroy()
