"""The kernels of a file: their threads, buffers, pipelines, and what the macros that they call do in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import libcst as cst

from musa_port.python.module import Module
from musa_port.tilelang.arguments import argument_sets, bound_arguments, calls_of
from musa_port.tilelang.bindings import functions_around, parameters
from musa_port.tilelang.facts import DEFAULT_THREADS, Dtype, dtypes
from musa_port.tilelang.recognise import argument, called_words, calls, last_name, word
from musa_port.tilelang.values import Arguments, Value, evaluate

#: Calls that allocate, and what the memory is.
_SCOPES = {
    "alloc_shared": "shared",
    "alloc_fragment": "fragment",
    "alloc_local": "local",
    "alloc_tmem": "tmem",
    "alloc_reducer": "fragment",
}
#: Annotations of macro parameters that say the same.
_ANNOTATIONS = {"SharedBuffer": "shared", "FragmentBuffer": "fragment", "LocalBuffer": "local"}
_COPIES = ("copy", "async_copy", "tma_copy")
_NOTHING: dict[str, cst.BaseExpression] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """An allocation `name = T.alloc_...(shape, dtype)`."""

    name: str
    scope: str
    call: cst.Call
    statement: cst.Assign

    @property
    def shape(self) -> cst.BaseExpression | None:
        return argument(self.call, "shape", 0)

    @property
    def dtype(self) -> cst.BaseExpression | None:
        return argument(self.call, "dtype", 1)


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A call that a kernel makes, itself or through a macro.

    site   where in the kernel: the call, or the call of the macro
    given  what the macro's parameters are there
    macro  the macro, None when the kernel itself makes the call
    """

    call: cst.Call
    site: cst.Call
    given: dict[str, cst.BaseExpression] = field(default_factory=dict)
    macro: cst.FunctionDef | None = None


class Kernel:
    """One `with T.Kernel(...)`.

    call       the launch
    block      the with statement
    arguments  what the parameters around it may be: defaults first, then the calls in the same file
    """

    def __init__(self, module: Module, call: cst.Call, block: cst.With) -> None:
        self.module = module
        self.call = call
        self.block = block
        self.arguments = argument_sets(module, block)

    # ---- what it does ----------------------------------------------------------------------------------------------

    def holds(self, node: cst.CSTNode) -> bool:
        """Whether a node is in the kernel's own text."""
        return self.block in self.module.all_enclosing(node, cst.With)

    def uses(self, *words: str) -> Iterator[Use]:
        """The calls of these words that the kernel makes, in the order of the source."""
        table = _uses(self.module).get(self.block, {})
        found = [use for word in words for use in table.get(word, ())]
        return iter(sorted(found, key=lambda use: self.module.span(use.call)[0]))

    def buffer(self, node: cst.CSTNode | None, given: dict[str, cst.BaseExpression] = _NOTHING) -> Buffer | None:
        """The allocation that an operand names, `A_shared` or a slice of it; None when that is unclear."""
        name = named(node)
        if name is None:
            return None
        for function in functions_around(self.module, name):
            found = [item for item in _buffers(self.module).get((function, name.value), ()) if self._may_own(item)]
            if found:
                return found[0] if len(found) == 1 else None
            if any(parameter.name.value == name.value for parameter in parameters(function)):
                inner = given.get(name.value)
                return self.buffer(inner) if inner is not None else None
        return None

    def _may_own(self, buffer: Buffer) -> bool:
        """Whether a buffer is not one of another kernel in the same function."""
        around = _blocks_around(self.module, buffer.statement)
        return not around or self.block in around

    def scope(self, node: cst.CSTNode | None, given: dict[str, cst.BaseExpression] = _NOTHING) -> str:
        """`shared`, `fragment`, ... for the memory that an operand is in; "" when that is unclear."""
        found = self.buffer(node, given)
        return found.scope if found is not None else annotated_scope(self.module, node)

    def allocations(self) -> Iterator[tuple[Buffer, Use]]:
        """Every buffer that it allocates, macros included."""
        for use in self.uses(*_SCOPES):
            if use.call in _allocated(self.module):
                yield _allocated(self.module)[use.call], use

    # ---- numbers ---------------------------------------------------------------------------------------------------

    def values(self, use: Use, arguments: Arguments) -> Arguments:
        """The arguments, and what the parameters of the macro are worth at a use."""
        if use.macro is None:
            return arguments
        given = {(use.macro, name): evaluate(self.module, node, arguments) for name, node in use.given.items()}
        return {**arguments, **given}

    def threads(self, arguments: Arguments) -> int | None:
        """Threads of a block; None when it cannot be told."""
        given = argument(self.call, "threads")
        if given is None:
            return DEFAULT_THREADS
        value = evaluate(self.module, given, arguments)
        return product(value if isinstance(value, tuple) else (value,))

    def shape(self, buffer: Buffer, arguments: Arguments) -> tuple[int, ...] | None:
        """The extents of a buffer; None when one of them cannot be told."""
        value = evaluate(self.module, buffer.shape, arguments)
        extents = value if isinstance(value, tuple) else (value,)
        return extents if product(extents) is not None else None

    def dtype(self, buffer: Buffer, arguments: Arguments) -> Dtype | None:
        """The data type of a buffer; None when it cannot be told."""
        return dtypes().get(evaluate(self.module, buffer.dtype, arguments))

    def size(self, buffer: Buffer, arguments: Arguments) -> int | None:
        """Bytes of a buffer; None when it cannot be told."""
        shape, dtype = self.shape(buffer, arguments), self.dtype(buffer, arguments)
        count = product(shape) if shape is not None else None
        return -(-count * dtype.bits // 8) if count is not None and dtype is not None else None

    def stages(self, loop: cst.Call, arguments: Arguments) -> int | None:
        """The stages of a T.Pipelined; None when it cannot be told."""
        given = argument(loop, "num_stages", 2)
        value = evaluate(self.module, given, arguments) if given is not None else 0
        return value if isinstance(value, int) else None

    @cached_property
    def _loads(self) -> dict[Buffer | None, list[Use]]:
        """The copies into each buffer; those from another tile are part of the computation, and no load ahead of it."""
        table: dict[Buffer | None, list[Use]] = {}
        for use in self.uses(*_COPIES):
            if self.buffer(argument(use.call, "src", 0), use.given) is None:
                table.setdefault(self.buffer(argument(use.call, "dst", 1), use.given), []).append(use)
        return table

    def versions(self, buffer: Buffer, arguments: Arguments) -> int | None:
        """How often a shared buffer exists: once for each stage of the pipelined loop that loads it."""
        found = 1
        for use in self._loads.get(buffer, ()):
            loop = pipeline_around(self.module, use.call) or pipeline_around(self.module, use.site)
            stages = self.stages(loop, arguments) if loop is not None else 1
            if stages is None:
                return None
            found = max(found, stages)
        return found


def product(values: tuple[Value, ...]) -> int | None:
    """The product of numbers; None when one of them is unknown."""
    result = 1
    for value in values:
        if not isinstance(value, int):
            return None
        result *= value
    return result


def named(node: cst.CSTNode | None) -> cst.Name | None:
    """The name at the bottom of `A`, `A[i]`, `A[i, :][j]`."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node if isinstance(node, cst.Name) else None


def annotated_scope(module: Module, node: cst.CSTNode | None) -> str:
    """The memory of a macro's parameter, as its annotation says: `Q: T.SharedBuffer`."""
    name = named(node)
    for function in functions_around(module, name) if name is not None else ():
        for parameter in parameters(function):
            if name is not None and parameter.name.value == name.value:
                annotation = parameter.annotation.annotation if parameter.annotation else None
                while isinstance(annotation, (cst.Subscript, cst.Call)):
                    annotation = annotation.value if isinstance(annotation, cst.Subscript) else annotation.func
                return _ANNOTATIONS.get(last_name(annotation), "") if annotation is not None else ""
    return ""


def pipeline_around(module: Module, node: cst.CSTNode) -> cst.Call | None:
    """The T.Pipelined of the innermost pipelined loop around a node, within its function."""
    for parent in module.ancestors(node):
        if isinstance(parent, cst.FunctionDef):
            return None
        loop = parent.iter if isinstance(parent, cst.For) else None
        if isinstance(loop, cst.Call) and word(module, loop.func) == "Pipelined":
            return loop
    return None


@lru_cache(maxsize=1)
def kernels(module: Module) -> list[Kernel]:
    """The kernels of a file, in the order of the source."""
    found: list[Kernel] = []
    for call in calls(module, "Kernel", "ClusterKernel"):
        item = module.parent(call)
        block = module.parent(item) if isinstance(item, cst.WithItem) else None
        if isinstance(block, cst.With):
            found.append(Kernel(module, call, block))
    return found


@lru_cache(maxsize=1)
def _blocks(module: Module) -> frozenset[cst.With]:
    return frozenset(kernel.block for kernel in kernels(module))


def _blocks_around(module: Module, node: cst.CSTNode) -> list[cst.With]:
    """The kernels that a node is in the text of."""
    return [block for block in module.all_enclosing(node, cst.With) if block in _blocks(module)]


@lru_cache(maxsize=1)
def _uses(module: Module) -> dict[cst.With, dict[str, list[Use]]]:
    """The calls of each word, by the kernels that make them."""
    table: dict[cst.With, dict[str, list[Use]]] = {}
    for name, found in called_words(module).items():
        for block, use in (made for call in found for made in _made(module, call)):
            table.setdefault(block, {}).setdefault(name, []).append(use)
    return table


def _made(module: Module, call: cst.Call) -> Iterator[tuple[cst.With, Use]]:
    """The kernels that make a call: the one around it, and those that call the macro it is in."""
    own = _blocks_around(module, call)
    yield from ((block, Use(call, call)) for block in own)
    macro = _macro_around(module, call)
    if macro is None:
        return
    for site in calls_of(module, macro):
        for block in _blocks_around(module, site):
            if block not in own:
                yield block, Use(call, site, bound_arguments(macro, site), macro)


@lru_cache(maxsize=1)
def _allocated(module: Module) -> dict[cst.Call, Buffer]:
    """The allocations that give a name to a buffer."""
    found: dict[cst.Call, Buffer] = {}
    for call in calls(module, *_SCOPES):
        statement = module.parent(call)
        if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
            target = statement.targets[0].target
            if isinstance(target, cst.Name):
                found[call] = Buffer(target.value, _SCOPES[word(module, call.func)], call, statement)
    return found


@lru_cache(maxsize=1)
def _buffers(module: Module) -> dict[tuple[cst.FunctionDef | None, str], list[Buffer]]:
    """The same by function and name."""
    table: dict[tuple[cst.FunctionDef | None, str], list[Buffer]] = {}
    for call, buffer in _allocated(module).items():
        table.setdefault((module.enclosing(call, cst.FunctionDef), buffer.name), []).append(buffer)
    return table


def _macro_around(module: Module, node: cst.CSTNode) -> cst.FunctionDef | None:
    """The macro that a node is in, None when it is in no macro."""
    function = module.enclosing(node, cst.FunctionDef)
    if function is None:
        return None
    for decorator in function.decorators:
        name = decorator.decorator.func if isinstance(decorator.decorator, cst.Call) else decorator.decorator
        if word(module, name) in ("macro", "inline"):
            return function
    return None
