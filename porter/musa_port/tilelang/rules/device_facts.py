"""Numbers of the device that host code asks for: shared memory, compute capability."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted
from musa_port.python.uses import is_use
from musa_port.rules import Rule, register
from musa_port.tilelang.facts import limit

SHARED = register(
    Rule(
        "H18",
        "shared-memory-size",
        Severity.WARNING,
        "Writes the size of mp_31's shared memory where the program asks for that of a multiprocessor.",
        why="torch_musa's device properties do not have the field. A multiprocessor of mp_31 has 196608 bytes; the "
        "size on mp_22 is not public.",
        example=(
            "size = torch.cuda.get_device_properties(0).shared_memory_per_multiprocessor",
            "size = 196608",
        ),
        advice="Where the program is to run on mp_22 too, give it the size by a setting of its own.",
        evidence="the port of TileKernels fixes the number",
    )
)
CAPABILITY = register(
    Rule(
        "H20",
        "kernel-capability",
        Severity.WARNING,
        "Reports programs that choose a kernel by the compute version of the target.",
        why="The version of mp_31 reads 3.1 and that of mp_22 reads 2.2: what asks for 8 or 9 gets the oldest path. "
        "Rule P28 reports the same of torch's device capability.",
        example=(
            "from tilelang.contrib import nvcc\nversion = nvcc.get_target_compute_version(target)",
            "from tilelang.contrib import mcc as nvcc\nversion = nvcc.get_target_compute_version(target)",
        ),
        advice="Compare with the versions of MUSA: nothing reaches 8 or 9.",
    )
)
_PROPERTIES = "torch.cuda.get_device_properties"
_FIELD = "shared_memory_per_multiprocessor"
_VERSIONS = frozenset("get_target_compute_version parse_compute_version get_target_arch have_fp8 have_bf16".split())
_HELPERS = ("tilelang.contrib.nvcc.", "tvm.contrib.nvcc.", "tilelang.contrib.nvcc_utils.")


@visit(cst.Attribute, order=8)
def port_size(module: Module, node: cst.Attribute) -> None:
    """`props.shared_memory_per_multiprocessor`."""
    if node.attr.value != _FIELD or not _is_of_properties(module, node.value):
        return
    size = limit("mp_31", "shared_memory")
    if "mp_31" not in module.options.arch or size is None:
        return  # rule P35 says that the field is missing
    module.replace(node, str(size), "shared-memory-size", musa=False)
    if set(module.options.arch) != {"mp_31"}:
        message = f"{_FIELD} became {size}, which is mp_31's"
        module.report(node, "shared-memory-size", message, new=str(size), name=_FIELD)


def _is_of_properties(module: Module, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call):
        return module.qualified(node.func) == _PROPERTIES
    return (dotted(node) or [""])[-1] in module.assigned_from(_PROPERTIES)


@visit(cst.Attribute, cst.Name, order=8)
def report_version(module: Module, node: cst.Attribute | cst.Name) -> None:
    """`nvcc.get_target_compute_version(target)`."""
    name = node.attr.value if isinstance(node, cst.Attribute) else node.value
    if name in _VERSIONS and is_use(module, node):
        full = module.qualified(node)
        if full.startswith(_HELPERS):
            told = " and ".join(
                f"{arch[3]}.{arch[4:]} for {arch}" for arch in sorted(module.options.arch, reverse=True)
            )
            message = f"{name} tells {told}: check what is compared with it"
            module.report(node, "kernel-capability", message, name=full, once=name)
