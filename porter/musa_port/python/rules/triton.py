"""Triton besides its names: targets, numbers of warps, inline PTX. And the devices of TVM."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import libcst as cst

from musa_port import flags
from musa_port.mappings import Row, read_rows
from musa_port.model import Severity
from musa_port.python.flow import Entry, flow
from musa_port.python.joined import name_of
from musa_port.python.literals import plain, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit

_PARAMETER = re.compile(r"\b(num_warps|num_stages|num_ctas|maxnreg)=N\b")
_ASM = "triton.language.inline_asm_elementwise"
_CURRENT = "get_current_target"
#: Threads of a warp.
_WARP = {"21": 128, "22": 128, "31": 32}
_TARGET = ".GPUTarget"
_TARGET_ADVICE = 'Write GPUTarget("musa", 22, 128) for mp_22, GPUTarget("musa", 31, 32) for mp_31.'
_TARGET_FUNCTIONS = frozenset({"tvm.target.Target", "tvm.device"})


# ---- how a kernel is launched -----------------------------------------------------------------------------------


@visit(cst.Call, order=40)
def report_launch(module: Module, node: cst.Call) -> None:
    """`triton.Config({}, num_warps=8)`, `kernel[grid](x, num_warps=8)`: one finding for each function."""
    is_launch = isinstance(node.func, cst.Subscript)
    if not is_launch and (name_of(node.func) != "Config" or not module.qualified(node.func).startswith("triton.")):
        return
    reviewed: list[str] = []
    for entry in _parameters(module, node):
        row = _rows()[entry.name]
        if not row.supported:
            _report_unsupported(module, entry, row)
        elif entry.name != "num_warps" or _has_wide_warps(module):
            reviewed.append(entry.name)
    if reviewed:
        notes = "; ".join(f"{name}: {_rows()[name].note}" for name in reviewed)
        once = f"launch {module.function_name(node)}"
        module.report(
            node, "triton", f"numbers that were tuned for CUDA are left ({notes})", name="num_warps", once=once
        )


def _has_wide_warps(module: Module) -> bool:
    """Whether a warp of some architecture that the port is for has not the 32 threads of CUDA."""
    return any(_WARP.get(arch.removeprefix("mp_")) != 32 for arch in module.options.arch)


def _parameters(module: Module, node: cst.Call) -> Iterator[Entry]:
    for arg in node.args:
        if arg.keyword is not None and arg.keyword.value in _rows():
            yield Entry(arg.keyword.value, arg.keyword, arg.value)
        elif arg.star == "**":
            yield from (entry for entry in flow(module).entries(arg.value) if entry.name in _rows())


@cache
def _rows() -> dict[str, Row]:
    found = ((_PARAMETER.search(row.cuda), row) for row in read_rows("triton_tilelang"))
    return {match.group(1): row for match, row in found if match}


def _report_unsupported(module: Module, entry: Entry, row: Row) -> None:
    if module.code(entry.value) in ("1", "None"):
        return
    note = f": {row.note}" if row.note else ""
    message = f"{entry.name} has no counterpart on MUSA and is left{note}"
    once = f"{entry.name} {module.function_name(entry.key)}"
    module.report(entry.key, "triton", message, severity=Severity.ERROR, name=entry.name, once=once)


# ---- kernels ----------------------------------------------------------------------------------------------------


@visit(cst.Call, order=40)
def report_asm(module: Module, node: cst.Call) -> None:
    """`tl.inline_asm_elementwise(...)`: one finding for each function."""
    if name_of(node.func) == "inline_asm_elementwise" and module.one_of(node.func, (_ASM,)):
        function = module.function_name(node)
        where = f" in {function}" if function else ""
        message = f"inline PTX{where} is left: there is no PTX on MUSA"
        advice = "Write the function with operations of triton.language."
        name = "inline_asm_elementwise"
        module.report(
            node, "triton", message, severity=Severity.ERROR, advice=advice, name=name, once=f"asm {function}"
        )


# ---- targets ----------------------------------------------------------------------------------------------------


@visit(cst.Comparison, order=29)
def port_comparison(module: Module, node: cst.Comparison) -> None:
    """`triton.runtime.driver.active.get_current_target().backend == "cuda"`."""
    operands = [node.left, *(target.comparator for target in node.comparisons)]
    if not any(_is_backend(module, operand) for operand in operands):
        return
    for operand in operands:
        elements = operand.elements if isinstance(operand, (cst.Tuple, cst.List, cst.Set)) else [cst.Element(operand)]
        for element in elements:
            _port_backend(module, element.value)


def _is_backend(module: Module, node: cst.BaseExpression) -> bool:
    if not isinstance(node, cst.Attribute) or node.attr.value != "backend" or not module.imports("triton"):
        return False
    return any(
        isinstance(value, cst.Call)
        and name_of(value.func) == _CURRENT
        and module.qualified(value.func).startswith("triton.")
        for value in flow(module).values(node.value)
    )


def _port_backend(module: Module, node: cst.BaseExpression) -> bool:
    """Change the string `cuda`; whether it was one."""
    text = text_of(module, node)
    if text is None or not isinstance(node, cst.SimpleString) or text.value != "cuda":
        return False
    module.edit(text.start, text.start + len("cuda"), "musa", "triton", "medium", musa=False)
    return True


@visit(cst.Call, order=29)
def port_target(module: Module, node: cst.Call) -> None:
    """`GPUTarget("cuda", 80, 32)`: the backend, the architecture and the threads of a warp."""
    full = module.qualified(node.func) if module.imports("triton") else ""
    if not full.startswith("triton.") or not full.endswith(_TARGET):
        return
    values = dict(zip(("backend", "arch", "warp_size"), (arg.value for arg in node.args), strict=False))
    values.update({arg.keyword.value: arg.value for arg in node.args if arg.keyword is not None})
    if plain(values.get("backend")) == "cuda":
        _port_target(module, node, values)


def _port_target(module: Module, node: cst.Call, values: dict[str, cst.BaseExpression]) -> None:
    numbers = [values.get(name) for name in ("arch", "warp_size")]
    new = flags.target(numbers[0].value, module.options.arch) if isinstance(numbers[0], cst.Integer) else None
    if new is None or new not in _WARP or not isinstance(numbers[1], cst.Integer):
        message = "a target of CUDA is left: its architecture or its warp has no known counterpart"
        module.report(node, "triton", message, severity=Severity.ERROR, advice=_TARGET_ADVICE, name="GPUTarget")
        module.claim(values["backend"])
        return
    _port_backend(module, values["backend"])
    for number, text in zip(numbers, (new, str(_WARP[new])), strict=True):
        assert number is not None
        module.replace(number, text, "triton", "medium", musa=False)
    message = f"a target of CUDA became mp_{new}, with {_WARP[new]} threads in a warp"
    advice = "Write a target for each architecture that the kernels are compiled for."
    module.report(
        node, "triton", message, advice=advice, new=f'GPUTarget("musa", {new}, {_WARP[new]})', name="GPUTarget"
    )


@visit(cst.Call, order=29)
def port_tvm(module: Module, node: cst.Call) -> None:
    """`tvm.cuda(0)`, `tvm.target.Target("cuda")`; files that import TileLang have rules of their own."""
    if not module.imports("tvm") or module.imports("tilelang"):
        return
    if isinstance(node.func, cst.Attribute) and module.one_of(node.func, ("tvm.cuda",)):
        module.replace(node.func.attr, "musa", "triton", "medium", musa=False)
    elif node.args and module.one_of(node.func, _TARGET_FUNCTIONS):
        target = node.args[0].value
        if not _port_backend(module, target) and plain(target).startswith("cuda"):
            message = f"the target {plain(target)} is left; of MUSA it is musa, with an architecture such as mp_31"
            module.report(target, "triton", message, severity=Severity.ERROR, name=plain(target))
