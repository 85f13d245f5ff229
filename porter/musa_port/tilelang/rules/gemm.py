"""T.gemm on mp_31: which unit multiplies its operands, and which operands no unit takes."""

from __future__ import annotations

import libcst as cst

from musa_port.model import Severity
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.rules import Rule, register
from musa_port.tilelang.facts import having, lacking, severity_for
from musa_port.tilelang.kernels import kernels
from musa_port.tilelang.products import Product, Tile, path, products
from musa_port.tilelang.recognise import calls, kernel_name
from musa_port.tilelang.samples import fragment, kernel, shared
from musa_port.tilelang.staging import staging

GEMM = register(
    Rule(
        "K3",
        "gemm-path",
        Severity.WARNING,
        "Names products that leave the warp-group matrix unit of mp_31, or do not compile.",
        why="T.gemm takes SQMMA when A and B are in shared memory, the accumulator is a float32 or int32 fragment, the "
        "threads are a multiple of 128, and an instruction divides the tile. Otherwise it takes WMMA or a scalar loop, "
        "without a word. In the public tilelang-musa 0.1.12 no T.gemm compiled for mp_22.",
        example=(kernel(shared("a", 16, 64), shared("b", 64, 16), fragment("c", 16, 16), "T.gemm(a, b, c)"),) * 2,
        advice="Take tiles of 32x64 and more with 128 threads, and of 64x64 and more with 256.",
        evidence="486 tiles lowered with tilelang-musa 0.1.12; threads and tiles in tilelang_gemm.csv",
    )
)
SLICE = register(
    Rule(
        "K6",
        "gemm-slice",
        Severity.ERROR,
        "Reports products whose operand is a slice of a tile.",
        why="SQMMA reads whole tiles: a part that begins elsewhere than at 0 stops the compiler.",
        example=("T.gemm(A[stage, :, :], B, C)", "T.gemm(A[stage, :, :], B, C)"),
        advice="Give each stage a buffer of its own, or let T.Pipelined make the stages.",
        evidence="static assertion in the templates of tilelang-musa",
    )
)
TRANSPOSED = register(
    Rule(
        "K7",
        "gemm-transposed",
        Severity.WARNING,
        "Reports 16-bit products with transposed A in more than one warp group, and FP8 products with B as it is.",
        why="SQMMA does not take transposed A across warp groups. FP8 with B not transposed compiles, and copies B "
        "byte by byte.",
        example=(
            kernel(
                shared("a", 64, 128),
                shared("b", 64, 128),
                fragment("c", 128, 128),
                "T.gemm(a, b, c, transpose_A=True)",
                threads=256,
            ),
        )
        * 2,
        advice="Take 128 threads, or copy A transposed; store B of FP8 products transposed.",
    )
)
BOTH = register(
    Rule(
        "K8",
        "gemm-two-layouts",
        Severity.ERROR,
        "Reports shared tiles that one product reads along K and another across it.",
        why="A tile has one layout, which fits one of the two.",
        example=(
            kernel(
                shared("a", 64, 64),
                shared("b", 64, 64),
                fragment("c", 64, 64),
                "T.gemm(a, b, c)",
                "T.gemm(b, a, c, transpose_B=True)",
            ),
        )
        * 2,
        advice="Copy the tile into two shared buffers, or annotate its layout anew with allow_reannotation=True.",
        evidence="linear attention in the tests of tilelang-musa",
    )
)
THREADS = register(
    Rule(
        "K34",
        "gemm-threads",
        Severity.WARNING,
        "Names kernels with T.gemm in blocks of fewer than 128 threads.",
        why="SQMMA works with groups of 128 threads; fewer take WMMA.",
        example=(
            kernel(shared("a", 64, 64), shared("b", 64, 64), fragment("c", 64, 64), "T.gemm(a, b, c)", threads=64),
        )
        * 2,
        advice="Raise threads= to 128.",
    )
)
_SHOWN = {"wmma": "WMMA instead of SQMMA", "scalar": "a scalar loop", "other": "WMMA or a scalar loop"}


@visit(cst.Module, order=6)
def report_products(module: Module, node: cst.Module) -> None:
    """Every product, for the architectures that the port is for."""
    if having(module.options.arch, "gemm"):
        for product in products(module):
            _report_operands(product)
            _report_sizes(product)
        _report_layouts(module)
        _report_threads(module)
    _report_older(module)


def _where(product: Product) -> str:
    return kernel_name(product.module, product.call)


def _report_older(module: Module) -> None:
    """On mp_22 and mp_21 no product compiles so far: once for a file."""
    archs = module.options.arch
    without = lacking(archs, "gemm")
    for call in calls(module, "gemm", "gemm_v1", "gemm_v2", "wgmma_gemm") if without else ():
        message = f"T.gemm does not compile for {', '.join(without)} in the public tilelang-musa 0.1.12"
        advice = "Tiles for mp_22 must be multiples of 32x32x16. Port for mp_31 alone with --arch mp_31."
        severity = severity_for(archs, without)
        module.report(call, "gemm-path", message, severity=severity, advice=advice, once="older")


def _report_operands(product: Product) -> None:
    """Two fragments, accumulators that are none, and slices."""
    module, where = product.module, _where(product)
    if product.scope("C") in ("shared", "local"):
        message = f"T.gemm in {where} adds up in {product.scope('C')} memory: every unit of mp_31 takes a fragment"
        advice = "Give it a T.alloc_fragment, and T.copy the result."
        module.report(
            product.call, "gemm-path", message, severity=Severity.ERROR, advice=advice, once=f"{_at(product)} C"
        )
    if product.scope("A") == product.scope("B") == "fragment":
        message = f"T.gemm in {where} multiplies two fragments: WMMA instead of SQMMA"
        module.report(product.call, "gemm-path", message, once=_at(product))
    for name in "AB":
        node = product.operand(name)
        if isinstance(node, cst.Subscript) and not _begins_at_zero(module, node):
            message = f"{name} of T.gemm in {where} is the slice {module.code(node)}"
            module.report(node, "gemm-slice", message, name=module.code(node.value), once=f"{_at(product)} {name}")


def _at(product: Product) -> str:
    """A key for the place of a product: a macro's is told once, whatever kernels use it."""
    return str(product.module.span(product.call)[0])


def _begins_at_zero(module: Module, node: cst.Subscript) -> bool:
    """Whether a slice is all of a tile, or its beginning: `A[0, :, :]`, `A[0:64, :]`."""
    for element in node.slice:
        index = element.slice
        first = index.value if isinstance(index, cst.Index) else index.lower if isinstance(index, cst.Slice) else None
        if first is not None and not (isinstance(first, cst.Integer) and first.evaluated_value == 0):
            return False
    return True


def _report_sizes(product: Product) -> None:
    """What the extents, the threads and the types of a product say."""
    if product.kernel is None:
        return
    tiles = list(dict.fromkeys(product.sizes(arguments) for arguments in product.kernel.arguments))
    for tile in tiles:
        _report_transposed(product, tile)
        if product.scope("A") == product.scope("B") == "shared" or staging(product) is not None:
            _report_path(product, tile)


def _report_transposed(product: Product, tile: Tile) -> None:
    bits = tile.dtype.bits if tile.dtype is not None else None
    if product.is_transposed("A") and bits == 16 and (tile.threads or 0) > 128:
        message = f"T.gemm in {_where(product)} transposes A, of 16 bits, in {tile.threads} threads"
        product.module.report(product.call, "gemm-transposed", message, once=_at(product))
    if tile.dtype is not None and tile.dtype.kind == "fp8" and product.is_transposed("B") is False:
        message = f"T.gemm in {_where(product)} reads B of {tile.dtype.name} as it is: it is copied byte by byte"
        product.module.report(product.call, "gemm-transposed", message, once=_at(product))


def _report_path(product: Product, tile: Tile) -> None:
    found = path(tile)
    where = _where(product)
    once = f"{_at(product)} {tile}"
    if found.unit == "none":
        message = f"T.gemm in {where}, {tile}, does not compile for mp_31: {found.reason}"
        product.module.report(product.call, "gemm-path", message, severity=Severity.ERROR, once=once)
    elif found.unit in _SHOWN and (tile.threads or 128) >= 128:
        message = f"T.gemm in {where}, {tile}, takes {_SHOWN[found.unit]}: {found.reason}"
        product.module.report(product.call, "gemm-path", message, once=once)


def _report_layouts(module: Module) -> None:
    """Shared tiles that are read along K and across it."""
    seen: dict[object, bool] = {}
    for product in products(module):
        for name in "AB":
            buffer, transposed = product.buffer(name), product.is_transposed(name)
            if buffer is None or buffer.scope != "shared" or transposed is None:
                continue
            along_k = transposed if name == "B" else not transposed
            if seen.setdefault(buffer, along_k) != along_k:
                message = f"{buffer.name} in {_where(product)} is read along K by one T.gemm and across it by another"
                module.report(product.call, "gemm-two-layouts", message, name=buffer.name, once=buffer.name)


def _report_threads(module: Module) -> None:
    """Blocks that are too small for SQMMA, and blocks that leave no room for the producers of a pipeline."""
    for found in kernels(module):
        if not any(True for _ in found.uses("gemm", "gemm_v1", "gemm_v2")):
            continue
        where = kernel_name(module, found.call)
        for threads in sorted({found.threads(arguments) or 0 for arguments in found.arguments}):
            if 0 < threads < 128:
                message = f"{where} multiplies with {threads} threads: WMMA or less instead of SQMMA"
                module.report(found.call, "gemm-threads", message, name=where)
            elif threads >= 1024 and any(True for _ in found.uses("Pipelined")):
                message = f"{where} has {threads} threads: with the producers of a pipeline there are more than 1024"
                module.report(found.call, "gemm-path", message, name=where)
