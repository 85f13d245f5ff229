"""Shared memory that a kernel asks for."""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import walk
from musa_port.rules import Rule, register
from musa_port.tilelang.facts import having, limit
from musa_port.tilelang.kernels import Buffer, Kernel, kernels
from musa_port.tilelang.recognise import kernel_name
from musa_port.tilelang.samples import kernel, shared
from musa_port.tilelang.staging import staged
from musa_port.tilelang.values import Arguments, evaluate

MEMORY = register(
    Rule(
        "K32",
        "shared-memory",
        Severity.WARNING,
        "Adds up the T.alloc_shared calls of each kernel, and compares the sum with 192 KiB.",
        why="A block of mp_31 has 196608 bytes of shared memory, where CUDA's sm_90 has 232448. Buffers that a "
        "pipelined loop loads exist once for each stage. tilelang-musa does not check the sum.",
        example=(kernel(shared("a", 256, 512)),) * 2,
        advice="Take smaller tiles or fewer stages. Buffers that are not in use at the same time may share memory, so "
        "that less is needed than the sum.",
        evidence="the port of TileKernels fixes the size to 192 KiB; lowering with tilelang-musa 0.1.12",
    )
)


class Sum(NamedTuple):
    """Bytes as far as they are known, buffers whose size is not, and the largest buffer."""

    size: int
    unknown: tuple[Buffer, ...]
    parts: tuple[str, ...]


@visit(cst.Module, order=6)
def report_memory(module: Module, node: cst.Module) -> None:
    """Kernels that ask for too much, and kernels with T.gemm whose sum is not known."""
    for found in kernels(module):
        sums = [_add(found, arguments) for arguments in found.arguments]
        largest = max(sums, key=lambda total: total.size)
        if not _report_large(module, found, largest) and all(total.unknown for total in sums):
            _report_unknown(module, found, largest)


def _add(kernel: Kernel, arguments: Arguments) -> Sum:
    size, unknown, parts = 0, [], []
    for buffer, use in kernel.allocations():
        if buffer.scope != "shared":
            continue
        values = kernel.values(use, arguments)
        bytes_each, versions = kernel.size(buffer, values), kernel.versions(buffer, values)
        if bytes_each is None or versions is None:
            unknown.append(buffer)
        if bytes_each is not None:
            size += bytes_each * (versions or 1)
            parts.append(f"{buffer.name} {bytes_each}" + (f" x {versions} stages" if versions and versions > 1 else ""))
    for buffer in staged(kernel) if having(kernel.module.options.arch, "sqmma") else ():
        bytes_each = kernel.size(buffer, arguments)
        size += bytes_each or 0
        parts.append(f"{buffer.name}_shared {bytes_each or 'unknown'}, which rule K4 adds")
    return Sum(size, tuple(unknown), tuple(parts))


def _report_large(module: Module, kernel: Kernel, total: Sum) -> bool:
    """Say where the sum is above what is there, or what was seen to be too much."""
    where = kernel_name(module, kernel.call)
    least = "at least " if total.unknown else ""
    for arch in module.options.arch:
        most, exceeded = limit(arch, "shared_memory"), limit(arch, "shared_memory_exceeded")
        if most is not None and total.size > most:
            said = f"{least}{total.size} B of {most} B on {arch}"
        elif exceeded is not None and total.size >= exceeded and not _is_larger_elsewhere(module, total):
            said = f"{least}{total.size} B on {arch}, where tiles of {exceeded} B did not fit"
        else:
            continue
        message = f"alloc_shared of {where} needs {said}: {', '.join(total.parts)}"
        module.report(kernel.call, "shared-memory", message, name=where, once=f"{where} {total.size}")
    return any(total.size > (limit(arch, "shared_memory") or total.size) for arch in module.options.arch)


def _is_larger_elsewhere(module: Module, total: Sum) -> bool:
    """Whether the sum is too much for the largest architecture: one finding says enough."""
    return any(total.size > (limit(arch, "shared_memory") or total.size) for arch in module.options.arch)


def _most(module: Module) -> int:
    """What a kernel may take on every architecture that is known; else what did not fit."""
    archs = module.options.arch
    known = [most for arch in archs if (most := limit(arch, "shared_memory"))]
    seen = [least for arch in archs if (least := limit(arch, "shared_memory_exceeded"))]
    return min(known or seen or [limit("mp_31", "shared_memory") or 0])


def _report_unknown(module: Module, kernel: Kernel, total: Sum) -> None:
    """Kernels with matrix products live close to the limit: name what their memory depends on."""
    if not any(True for _ in kernel.uses("gemm", "wgmma_gemm")):
        return
    names = sorted({name for buffer in total.unknown for name in _unknown_names(module, buffer)})
    if names:
        where = kernel_name(module, kernel.call)
        message = f"the shared memory of {where} depends on {', '.join(names)}: keep it below {_most(module)} B"
        module.report(kernel.call, "shared-memory", message, severity=Severity.INFO, name=where)


def _unknown_names(module: Module, buffer: Buffer) -> set[str]:
    """The names in a shape that have no known value."""
    if buffer.shape is None:
        return set()
    found = (item for item, _ in walk(buffer.shape) if isinstance(item, cst.Name))
    return {name.value for name in found if evaluate(module, name) is None}
