"""Shapes and indices."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.facts import dtypes
from musa_port.tilelang.kernels import kernels, product
from musa_port.tilelang.recognise import argument, calls, is_tilelang, kernel_name, word
from musa_port.tilelang.rules.pass_configs import config_of
from musa_port.tilelang.values import evaluate

PROMOTION = register(
    Rule(
        "K33",
        "index-overflow",
        Severity.WARNING,
        "Reports kernels that keep 32-bit indices, by TL_DISABLE_INDEX_TYPE_PROMOTION or an index width of 32.",
        why="Offsets above 2147483647 elements are wrong then.",
        example=(
            "CONFIGS = {tilelang.PassConfigKey.TL_CONFIG_INDEX_BITWIDTH: 32}",
            "CONFIGS = {tilelang.PassConfigKey.TL_CONFIG_INDEX_BITWIDTH: 32}",
        ),
        advice="Where tensors can be that large, compute the offset of the row in a variable of type int64.",
    )
)
RESHAPE = register(
    Rule(
        "K37",
        "reshaped-buffer",
        Severity.INFO,
        "Reports T.view and T.reshape unless both shapes are known to hold as many elements.",
        why="tilelang-musa checks the shapes more strictly.",
        example=("flat = T.reshape(tile, [rows * columns])", "flat = T.reshape(tile, [rows * columns])"),
        advice="The new shape has to hold exactly as many elements.",
        evidence="known failures in the test record of tilelang-musa",
    )
)


@visit(cst.DictElement, order=8)
def report_promotion(module: Module, node: cst.DictElement) -> None:
    """`{PassConfigKey.TL_DISABLE_INDEX_TYPE_PROMOTION: True}`."""
    if not is_tilelang(module):
        return
    name, value = config_of(module, node.key), evaluate(module, node.value)
    if (name, value) in (("TL_DISABLE_INDEX_TYPE_PROMOTION", True), ("TL_CONFIG_INDEX_BITWIDTH", 32)):
        module.report(node, "index-overflow", f"{name} keeps 32-bit indices", name=name)


@visit(cst.Module, order=6)
def report_reshapes(module: Module, node: cst.Module) -> None:
    """`T.reshape(x, shape)`, `T.view(x, shape, dtype)`."""
    for call in calls(module, "reshape", "view"):
        old, new = _bits(module, call)
        where, name = kernel_name(module, call), word(module, call.func)
        if old is None or new is None:
            message = f"T.{name} in {where}: the number of elements has to stay"
            module.report(call, "reshaped-buffer", message, name=name, once=where)
        elif old != new:
            message = f"T.{name} in {where} makes {new} bits of {old}"
            module.report(call, "reshaped-buffer", message, severity=Severity.WARNING, name=name)


def _bits(module: Module, call: cst.Call) -> tuple[int | None, int | None]:
    """The size of a buffer, and that of what it is seen as; None for what is not known."""
    kernel = next((kernel for kernel in kernels(module) if kernel.holds(call)), None)
    buffer = kernel.buffer(argument(call, "src", 0)) if kernel is not None else None
    if kernel is None or buffer is None:
        return None, None
    shape, dtype = kernel.shape(buffer, {}), kernel.dtype(buffer, {})
    given = argument(call, "dtype", 2)
    seen = dtypes().get(evaluate(module, given)) if given is not None else dtype
    value = evaluate(module, argument(call, "shape", 1))
    count = product(value if isinstance(value, tuple) else (value,))
    old = product((*shape, dtype.bits)) if shape is not None and dtype is not None else None
    if given is None and old is None:
        return product(shape) if shape is not None else None, count
    return old, product((count, seen.bits if seen is not None else None))
