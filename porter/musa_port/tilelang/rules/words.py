"""Words of the language that are missing on MUSA, or are something else there (tilelang_language.csv)."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register
from musa_port.tilelang.changes import delete_statement
from musa_port.tilelang.facts import Word, lacking, severity_for, words
from musa_port.tilelang.recognise import argument, called_words, calls, is_language, kernel_name, keyword

REGISTERS = register(
    Rule(
        "K18",
        "register-reallocation",
        Severity.INFO,
        "Deletes statements that move registers between warp groups.",
        why="MUSA has no such instruction; the statements only hint at how registers are shared out.",
        example=("x = 1\nT.set_max_nreg(240, 1)", "x = 1"),
        evidence="tilelang-musa has no template for them",
    )
)
LAUNCH = register(
    Rule(
        "K19",
        "programmatic-launch",
        Severity.INFO,
        "Deletes T.pdl_sync and T.pdl_trigger.",
        why="MUSA has no programmatic dependent launch. A plain launch waits for the kernel before it in the stream, "
        "which is what these calls are there for.",
        example=("x = 1\nT.pdl_sync()", "x = 1"),
        evidence="the port of TileKernels deletes them",
    )
)
GRID = register(
    Rule(
        "K20",
        "grid-sync",
        Severity.WARNING,
        "Reports T.sync_grid.",
        example=("T.sync_grid()", "T.sync_grid()"),
        advice="Split the kernel into two launches, or do one half on the host.",
        evidence="the port of TileKernels replaces the kernel that has it",
    )
)
CLUSTER = register(
    Rule(
        "K21",
        "cluster",
        Severity.ERROR,
        "Reports thread block clusters, multicast, distributed shared memory and tensor memory.",
        why="MUSA has none of them.",
        example=("T.cluster_sync()", "T.cluster_sync()"),
        advice="Write the kernel for one thread block: each loads what it needs itself.",
    )
)
WORKSPACE = register(
    Rule(
        "K22",
        "global-workspace",
        Severity.ERROR,
        "Reports T.alloc_global.",
        why="tilelang-musa refuses to allocate global memory in a kernel.",
        example=("work = T.alloc_global((1024,), T.float32)", "work = T.alloc_global((1024,), T.float32)"),
        advice="Make it a parameter of the kernel, T.Tensor of the same shape, and allocate it with torch.",
    )
)
NAMED = register(
    Rule(
        "K23",
        "named-barrier",
        Severity.ERROR,
        "Reports T.named_barrier_arrive.",
        example=("T.named_barrier_arrive(1, 256)", "T.named_barrier_arrive(1, 256)"),
        advice="Use T.alloc_barrier with T.barrier_arrive and T.barrier_wait, or T.sync_threads for all.",
        evidence="the code generator of tilelang-musa stops at it",
    )
)
MISSING = register(
    Rule(
        "K27",
        "missing-word",
        Severity.ERROR,
        "Reports words that tilelang-musa does not have; writes T.fast_rcp as a division.",
        example=("y = T.fast_rcp(x)", "y = (1 / (x))"),
        advice="Write what the message says.",
        evidence="the words of tilelang 0.1.15 that tilelang-musa 0.1.12 lacks",
    )
)
PTX = register(
    Rule(
        "K28",
        "kernel-ptx",
        Severity.ERROR,
        "Reports instructions of NVIDIA's in kernels: T.ptx_*, descriptors, CUDA source text.",
        why="There is no counterpart for an instruction; T.gemm and T.copy choose those of MUSA.",
        example=("T.ptx_ldmatrix(T.float16, False, 4, a, 0, b, 0)",) * 2,
        advice="Write the part with T.gemm, T.copy and T.atomic_add.",
    )
)
SPARSE = register(
    Rule(
        "K11",
        "sparse-gemm",
        Severity.ERROR,
        "Reports T.gemm_sp where the port is for mp_31: only mp_22 has it.",
        example=("T.gemm_sp(A, E, B, C)", "T.gemm_sp(A, E, B, C)"),
        advice="Use T.gemm on mp_31.",
        evidence="lowering for mp_31 says: requires QY2 sparse MMA lowering",
    )
)


@visit(cst.Module, order=6)
def port_words(module: Module, node: cst.Module) -> None:
    """Every word that the table names."""
    for word, found in called_words(module).items():
        entry = words().get(word)
        for call in found if entry is not None and entry.action != "keep" else ():
            _port_word(module, call, word, entry)


@visit(cst.ImportFrom, order=6)
def report_imports(module: Module, node: cst.ImportFrom) -> None:
    """`from tilelang.language import fast_rcp`: it fails, whether the name is used or not."""
    if node.module is None or isinstance(node.names, cst.ImportStar) or not is_language(".".join(dotted(node.module))):
        return
    for alias in node.names:
        name = dotted(alias.name)[0]
        entry = words().get(name)
        if entry is not None and entry.rule == "missing-word":
            message = f"{name} is imported, and tilelang-musa does not have it: the import fails"
            module.report(alias, entry.rule, message, advice="Take it out of the import.", name=name)


def _port_word(module: Module, call: cst.Call, word: str, entry: Word | None) -> None:
    if entry is None:
        return
    if entry.action == "delete":
        if not delete_statement(module, call, entry.rule):
            message = f"T.{word} is left: it is no statement by itself"
            module.report(call, entry.rule, message, severity=Severity.ERROR, name=word)
        return
    where = kernel_name(module, call)
    message = f"T.{word} in {where} {entry.message}"
    module.report(call, entry.rule, message, severity=entry.severity, name=word, once=f"{word} {where}")


@visit(cst.Module, order=6)
def port_reciprocal(module: Module, node: cst.Module) -> None:
    """`T.fast_rcp(x)`."""
    for call in calls(module, "fast_rcp"):
        given = argument(call, "x", 0) if len(call.args) == 1 else None
        if given is None or "#" in module.code(call):
            module.report(call, "missing-word", "T.fast_rcp is left: tilelang-musa does not have it", name="fast_rcp")
        else:
            module.replace(call, f"(1 / ({module.code(given)}))", "missing-word", musa=False)


@visit(cst.Module, order=6)
def report_sparse(module: Module, node: cst.Module) -> None:
    """`T.gemm_sp`, which only mp_22 has."""
    archs = module.options.arch
    for call in calls(module, "gemm_sp", "gemm_sp_v2"):
        without = lacking(archs, "sparse_gemm")
        if without:
            where = kernel_name(module, call)
            message = f"T.gemm_sp in {where} is for mp_22 only: it does not compile for {', '.join(without)}"
            module.report(call, "sparse-gemm", message, severity=severity_for(archs, without), name="gemm_sp")


@visit(cst.Module, order=6)
def report_pragmas(module: Module, node: cst.Module) -> None:
    """`T.attr(0, "pragma_import_c", "#include <cuda_fp16.h>")`."""
    for call in calls(module, "attr", "block_attr", "func_attr"):
        if any(plain(arg.value) == "pragma_import_c" for arg in call.args):
            message = f"T.attr in {kernel_name(module, call)} puts source text into the kernel, which was CUDA source"
            module.report(call, "kernel-ptx", message, severity=Severity.WARNING, name="pragma_import_c")


@visit(cst.Module, order=6)
def report_launches(module: Module, node: cst.Module) -> None:
    """`T.Kernel(cluster_dims=2)`, `T.tma_copy(cluster_mask=3)`, `T.Kernel(prelude="...")`."""
    for call in calls(module, "Kernel", "tma_copy", "copy"):
        for name in ("cluster_dims", "cluster_mask"):
            given = keyword(call, name)
            if given is not None and module.code(given.value) not in ("None", "1"):
                message = f"{name} in {kernel_name(module, call)}: MUSA has no thread block clusters"
                module.report(given, "cluster", message, name=name)
        prelude = keyword(call, "prelude")
        if prelude is not None and module.code(prelude.value) != "None":
            message = f"prelude in {kernel_name(module, call)} is CUDA source text"
            module.report(prelude, "kernel-ptx", message, severity=Severity.WARNING, name="prelude")
