"""What host code says to the runtime by name: packed functions and attributes of the device."""

from __future__ import annotations

import re

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import is_docstring, text_of
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.recognise import is_tilelang

DRIVER = register(
    Rule(
        "H23",
        "runtime-names",
        Severity.WARNING,
        "Changes names of the CUDA runtime in strings: packed functions, device attributes, settings of TVM.",
        example=(
            'stream = tvm.get_global_func("__tvm_cuda_stream_create")',
            'stream = tvm.get_global_func("__tvm_musa_stream_create")',
        ),
        advice="Check that the TVM of tilelang-musa registers the new name.",
    )
)
_PACKED = re.compile(
    r"__tvm_cuda_\w+|cuda\.kernels_output_dir|tilelang_callback_cuda_(?!postproc)\w+|target\.build\.tilelang_cuda\w*"
)
_ATTRIBUTE = re.compile(r"cuda(DevAttr|DeviceGet|FuncAttribute)\w+|CU_DEVICE_ATTRIBUTE_\w+")


@visit(cst.SimpleString, order=8)
def port_name(module: Module, node: cst.SimpleString) -> None:
    """`"__tvm_cuda_stream_create"`, `"cudaDevAttrMaxSharedMemoryPerBlockOptin"`."""
    if not is_tilelang(module) or not ("cuda" in node.value or "CU_" in node.value):
        return
    text = text_of(module, node)
    if text is None or is_docstring(module, node):
        return
    new = _renamed(module, text.value)
    if new is not None:
        module.edit(text.start, text.start + len(text.value.encode()), new, "runtime-names", musa=False)
        module.report(node, "runtime-names", f"{text.value} became {new}", new=new, name=text.value)


def _renamed(module: Module, name: str) -> str | None:
    if _PACKED.fullmatch(name):
        return name.replace("cuda", "musa", 1)
    row = module.draft.names.find(name) if _ATTRIBUTE.fullmatch(name) else None
    return row.musa if row is not None and row.supported else None
