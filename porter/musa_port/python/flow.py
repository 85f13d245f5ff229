"""Where the values in a module come from: assignments, what is added to lists, results and arguments of its functions.

Names are followed inside the module only. What comes from elsewhere is given back as it stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

import libcst as cst
from libcst.metadata import Assignment, ClassScope, ImportAssignment

from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.python.tree import dotted

#: Where a value is kept: what owns the name, then the name, attributes and string keys.
Place = tuple[object, ...]
Found = TypeVar("Found")


class Write(NamedTuple):
    """One statement that gives a value to a place.

    how    "=" the value itself, "+" a sequence or mapping added, "append" one element added, "each" one of its elements
    value  the expression
    node   the statement or the call
    part   for "each", which part of the element it is
    """

    how: str
    value: cst.BaseExpression
    node: cst.CSTNode
    part: tuple[int, ...] = ()


class Entry(NamedTuple):
    """One key of a mapping: the string or the keyword that names it, and what it holds."""

    name: str
    key: cst.CSTNode
    value: cst.BaseExpression


#: Methods that add to a list or a mapping -> how, and which argument.
_ADDING = {
    "append": ("append", 0),
    "add": ("append", 0),
    "insert": ("append", 1),
    "extend": ("+", 0),
    "update": ("+", 0),
}
_CONTAINERS = frozenset({"list", "tuple", "set", "sorted", "reversed", "dict", "OrderedDict"})
_COPIES = frozenset({"copy", "deepcopy"})
#: How many expressions one question may lead to.
_MAX_STEPS = 2000


@lru_cache(maxsize=1)
def flow(module: Module) -> Flow:
    """The flow of values in a module; made once for each module that is being decided."""
    return Flow(module)


class Flow:
    """See the module text."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._steps = 0
        self._functions: dict[cst.Call, cst.FunctionDef | None] = {}

    # ---- questions -----------------------------------------------------------------------------------------------

    def values(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """The expressions that the value of an expression may come from."""
        return self._answered(self._values(node, set()))

    def sequences(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What a list is put together from: lists, tuples and sets, calls that add one element, and anything else."""
        return self._answered(self._sequences(node, set()))

    def elements(self, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """The elements that a list is known to have; a part that is no literal is given back whole."""
        for part in self.sequences(node):
            if isinstance(part, (cst.List, cst.Tuple, cst.Set)):
                yield from (element.value for element in part.elements if not isinstance(element, cst.StarredElement))
            elif isinstance(part, cst.Call) and (added := added_element(part)) is not None:
                yield added
            else:
                yield part

    def written(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What is assigned to a name or an attribute, as it stands there."""
        place = self.place(node)
        return [write.value for write in self._given(place, node) if write.how == "="] if place is not None else []

    def entries(self, node: cst.BaseExpression) -> list[Entry]:
        """The keys that a mapping is known to have, wherever the module gives them to it or asks for them."""
        return self._answered(self._entries(node, set()))

    def _answered(self, found: Iterator[Found]) -> list[Found]:
        """The answer to one question, which is given up when it leads to too many places."""
        self._steps = 0
        return list(found)

    def function(self, call: cst.Call) -> cst.FunctionDef | None:
        """The function of this module that a call calls."""
        if call not in self._functions:
            self._functions[call] = self._function(call.func)
        return self._functions[call]

    def _function(self, func: cst.BaseExpression) -> cst.FunctionDef | None:
        if isinstance(func, cst.Name):
            found = self._only(func)
            return found if isinstance(found, cst.FunctionDef) else None
        if isinstance(func, cst.Attribute):
            owner = self.owner_of(func.value)
            return _method(owner, func.attr.value) if owner is not None else None
        return None

    def parameters(self, node: cst.Name) -> list[cst.Param]:
        """The parameters that a name may be."""
        found = (item.node for item in self._assignments(node) if isinstance(item, Assignment))
        return [param for param in found if isinstance(param, cst.Param)]

    # ---- places --------------------------------------------------------------------------------------------------

    def place(self, node: cst.CSTNode) -> Place | None:
        """Where the value of a name, an attribute or an item is kept; items whose key is no literal share a place."""
        if isinstance(node, cst.Name):
            return self._place_of_name(node)
        if isinstance(node, cst.Attribute):
            owner = self.owner_of(node.value)
            inner: Place | None = (owner,) if owner is not None else self.place(node.value)
            return (*inner, node.attr.value) if inner is not None else None
        if isinstance(node, cst.Subscript):
            key, inner = string_key(node), self.place(node.value)
            return (*inner, f"[{plain(key) if key is not None else ''}]") if inner is not None else None
        return None

    def _assignments(self, node: cst.Name) -> Collection[object]:
        scope = self._module._scopes.get(node)
        return scope[node.value] if scope is not None else ()

    def _only(self, node: cst.Name) -> cst.CSTNode | None:
        """The one statement that gives a name its meaning."""
        found = self._assignments(node)
        only = next(iter(found)) if len(found) == 1 else None
        return only.node if isinstance(only, Assignment) else None

    def _place_of_name(self, node: cst.Name) -> Place | None:
        for found in self._assignments(node):
            if isinstance(found, Assignment) and not isinstance(found, ImportAssignment):
                is_of_class = isinstance(found.scope, ClassScope)
                owner = self._module.enclosing(found.node, cst.ClassDef) if is_of_class else found.scope
                return owner, node.value
        return None

    def owner_of(self, node: cst.BaseExpression) -> cst.ClassDef | None:
        """The class that `self`, `cls` or its name stands for."""
        if not isinstance(node, cst.Name):
            return None
        if node.value in ("self", "cls"):
            return self._module.enclosing(node, cst.ClassDef)
        found = self._only(node)
        return found if isinstance(found, cst.ClassDef) else None

    @cached_property
    def _writes(self) -> dict[Place, list[Write]]:
        self._table: dict[Place, list[Write]] = defaultdict(list)
        module = self._module
        for assign in module.nodes(cst.Assign):
            for target in assign.targets:
                self._bind(target.target, assign.value, assign)
        for annotated in module.nodes(cst.AnnAssign):
            if annotated.value is not None:
                self._bind(annotated.target, annotated.value, annotated)
        for walrus in module.nodes(cst.NamedExpr):
            self._bind(walrus.target, walrus.value, walrus)
        for added in module.nodes(cst.AugAssign):
            if isinstance(added.operator, (cst.AddAssign, cst.BitOrAssign)):
                self._write(added.target, Write("+", added.value, added))
        for loop in module.nodes(cst.For):
            self._bind_each(loop.target, loop.iter, loop, ())
        for inner in module.nodes(cst.CompFor):
            self._bind_each(inner.target, inner.iter, inner, ())
        for call in module.nodes(cst.Call):
            self._bind_call(call)
        return self._table

    def _write(self, target: cst.CSTNode, write: Write) -> None:
        place = self.place(target)
        if place is not None:
            self._table[place].append(write)

    def _bind(self, target: cst.BaseExpression, value: cst.BaseExpression, node: cst.CSTNode) -> None:
        if not isinstance(target, (cst.Tuple, cst.List)):
            self._write(target, Write("=", value, node))
        elif isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(target.elements):
            for part, given in zip(target.elements, value.elements, strict=True):
                self._bind(part.value, given.value, node)

    def _bind_each(
        self, target: cst.BaseExpression, value: cst.BaseExpression, node: cst.CSTNode, part: tuple[int, ...]
    ) -> None:
        if isinstance(target, (cst.Tuple, cst.List)):
            for position, element in enumerate(target.elements):
                self._bind_each(element.value, value, node, (*part, position))
        else:
            self._write(target, Write("each", value, node, part))

    def _bind_call(self, call: cst.Call) -> None:
        if not isinstance(call.func, cst.Attribute):
            return
        name = call.func.attr.value
        if name in _ADDING:
            how, position = _ADDING[name]
            if len(call.args) > position:
                self._write(call.func.value, Write(how, call.args[position].value, call))
        elif name == "setdefault" and len(call.args) == 2 and plain(call.args[0].value):
            place = self.place(call.func.value)
            if place is not None:
                item = (*place, f"[{plain(call.args[0].value)}]")
                self._table[item].append(Write("=", call.args[1].value, call))

    def _given(self, place: Place, node: cst.BaseExpression) -> list[Write]:
        """What is written to a place; for a parameter, what the calls in this module give."""
        return [*self._writes.get(place, ()), *self._arguments(node)]

    # ---- functions -----------------------------------------------------------------------------------------------

    def results(self, function: cst.FunctionDef) -> Iterator[cst.BaseExpression]:
        """What a function returns, as it stands there."""
        for node in self._returns.get(function, ()):
            if node.value is not None:
                yield node.value

    @cached_property
    def _returns(self) -> dict[cst.FunctionDef | None, list[cst.Return]]:
        found: dict[cst.FunctionDef | None, list[cst.Return]] = defaultdict(list)
        for node in self._module.nodes(cst.Return):
            found[self._module.enclosing(node, cst.FunctionDef)].append(node)
        return found

    @cached_property
    def _calls(self) -> dict[str, list[cst.Call]]:
        found: dict[str, list[cst.Call]] = defaultdict(list)
        for call in self._module.nodes(cst.Call):
            name = call.func.attr.value if isinstance(call.func, cst.Attribute) else (dotted(call.func) or [""])[-1]
            found[name].append(call)
        return found

    def _arguments(self, node: cst.BaseExpression) -> Iterator[Write]:
        """What a parameter is given: its default, and the arguments of calls in this module."""
        if not isinstance(node, cst.Name):
            return
        for param in self.parameters(node):
            yield from self._arguments_of(param)

    def _arguments_of(self, param: cst.Param) -> Iterator[Write]:
        if param.default is not None:
            yield Write("=", param.default, param)
        function = self._module.enclosing(param, cst.FunctionDef)
        if function is None:
            return
        names = [item.name.value for item in (*function.params.posonly_params, *function.params.params)]
        position = names.index(param.name.value) if param.name.value in names else -1
        for call in self._calls_of(function):
            shift = 1 if names[:1] in (["self"], ["cls"]) else 0
            positional = [arg for arg in call.args if arg.keyword is None and not arg.star]
            if 0 <= position - shift < len(positional):
                yield Write("=", positional[position - shift].value, call)
            for arg in call.args:
                if arg.keyword is not None and arg.keyword.value == param.name.value:
                    yield Write("=", arg.value, call)

    def _calls_of(self, function: cst.FunctionDef) -> Iterator[cst.Call]:
        owner = self._module.enclosing(function, cst.ClassDef)
        if owner is not None and function.name.value == "__init__":
            yield from (call for call in self._calls[owner.name.value] if self.owner_of(call.func) is owner)
        else:
            yield from (call for call in self._calls[function.name.value] if self.function(call) is function)

    # ---- following -----------------------------------------------------------------------------------------------

    def _is_enough(self) -> bool:
        self._steps += 1
        return self._steps > _MAX_STEPS

    def _values(self, node: cst.BaseExpression, seen: set[object]) -> Iterator[cst.BaseExpression]:
        if self._is_enough():
            return
        if (branches := _branches(node)) is not None:
            for branch in branches:
                yield from self._values(branch, seen)
            return
        if isinstance(node, cst.Call) and (function := self.function(node)) is not None:
            if function not in seen:
                for result in self.results(function):
                    yield from self._values(result, seen | {function})
            return
        place = self.place(node)
        writes = self._given(place, node) if place is not None else []
        known = [write for write in writes if write.how in ("=", "each")]
        if not known:
            yield node
        elif place not in seen:
            for write in known:
                for value in [write.value] if write.how == "=" else self._each(write, seen | {place}):
                    yield from self._values(value, seen | {place})

    def _each(self, write: Write, seen: set[object]) -> Iterator[cst.BaseExpression]:
        for part in self._sequences(write.value, seen):
            items: list[cst.BaseExpression] = []
            if isinstance(part, (cst.List, cst.Tuple, cst.Set)):
                items = [element.value for element in part.elements]
            elif isinstance(part, cst.Call) and (added := added_element(part)) is not None:
                items = [added]
            for item in items:
                picked: cst.BaseExpression | None = item
                for index in write.part:
                    picked = _picked(picked, index)
                if picked is not None:
                    yield picked

    def _sequences(self, node: cst.BaseExpression, seen: set[object]) -> Iterator[cst.BaseExpression]:
        if self._is_enough():
            return
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            yield from self._sequences(node.left, seen)
            yield from self._sequences(node.right, seen)
        elif (branches := _branches(node)) is not None:
            for branch in branches:
                yield from self._sequences(branch, seen)
        elif isinstance(node, (cst.List, cst.Tuple, cst.Set)):
            yield node
            for element in node.elements:
                if isinstance(element, cst.StarredElement):
                    yield from self._sequences(element.value, seen)
        elif isinstance(node, cst.Call):
            yield from self._sequences_of_call(node, seen)
        elif (source := _selected_from(node)) is not None:
            yield from self._sequences(source, seen)
        else:
            yield from self._sequences_at(node, seen)

    def _sequences_of_call(self, node: cst.Call, seen: set[object]) -> Iterator[cst.BaseExpression]:
        function = self.function(node)
        if function is not None:
            for result in self.results(function) if function not in seen else ():
                yield from self._sequences(result, seen | {function})
        elif (inner := unwrapped(node)) is not None:
            yield from self._sequences(inner, seen)
        else:
            yield node

    def _sequences_at(self, node: cst.BaseExpression, seen: set[object]) -> Iterator[cst.BaseExpression]:
        place = self.place(node)
        writes = self._given(place, node) if place is not None else []
        if not writes:
            yield node
            return
        if place in seen:
            return
        for write in writes:
            if write.how == "append" and isinstance(write.node, cst.Call):
                yield write.node
            elif write.how == "each":
                for value in self._each(write, seen | {place}):
                    yield from self._sequences(value, seen | {place})
            else:
                yield from self._sequences(write.value, seen | {place})

    def _entries(self, node: cst.BaseExpression, seen: set[object]) -> Iterator[Entry]:
        if self._is_enough():
            return
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
            yield from self._entries(node.left, seen)
            yield from self._entries(node.right, seen)
        elif (branches := _branches(node)) is not None:
            for branch in branches:
                yield from self._entries(branch, seen)
        elif isinstance(node, cst.Dict):
            yield from self._entries_of_literal(node, seen)
        elif isinstance(node, cst.Call):
            yield from self._entries_of_call(node, seen)
        else:
            yield from self._entries_at(node, seen)

    def _entries_of_literal(self, node: cst.Dict, seen: set[object]) -> Iterator[Entry]:
        for element in node.elements:
            if isinstance(element, cst.StarredDictElement):
                yield from self._entries(element.value, seen)
            elif isinstance(element, cst.DictElement) and plain(element.key):
                yield Entry(plain(element.key), element.key, element.value)

    def _entries_of_call(self, node: cst.Call, seen: set[object]) -> Iterator[Entry]:
        function = self.function(node)
        if function is not None:
            for result in self.results(function) if function not in seen else ():
                yield from self._entries(result, seen | {function})
            return
        if (dotted(node.func) or [""])[-1] in _CONTAINERS:
            yield from _keywords(node)
        if (inner := unwrapped(node)) is not None:
            yield from self._entries(inner, seen)

    def _entries_at(self, node: cst.BaseExpression, seen: set[object]) -> Iterator[Entry]:
        place = self.place(node)
        if place is None or place in seen:
            return
        for write in self._given(place, node):
            if write.how in ("=", "+"):
                yield from self._entries(write.value, seen | {place})
        yield from self._named.get(place, ())

    @cached_property
    def _named(self) -> dict[Place | None, list[Entry]]:
        """The keys that no literal names, by the place of x: `x.update(key=value)`, then `x["key"]`."""
        found: dict[Place | None, list[Entry]] = defaultdict(list)
        for call in self._calls["update"]:
            if isinstance(call.func, cst.Attribute):
                found[self.place(call.func.value)].extend(_keywords(call))
        for item in self._module.nodes(cst.Subscript):
            key = string_key(item)
            if key is not None:
                found[self.place(item.value)].append(Entry(plain(key), key, item))
        return found


def string_key(node: cst.Subscript) -> cst.SimpleString | None:
    """The key of `x["key"]`."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    key = index.value if isinstance(index, cst.Index) else None
    return key if isinstance(key, cst.SimpleString) and plain(key) else None


def added_element(call: cst.Call) -> cst.BaseExpression | None:
    """What `x.append(y)` and its relatives add to a list."""
    if not isinstance(call.func, cst.Attribute):
        return None
    how, position = _ADDING.get(call.func.attr.value, ("", 0))
    return call.args[position].value if how == "append" and len(call.args) > position else None


def unwrapped(call: cst.Call) -> cst.BaseExpression | None:
    """The collection that `list(x)`, `x.copy()` and the like make one of."""
    name = (dotted(call.func) or [""])[-1]
    if name in _CONTAINERS | _COPIES and call.args and call.args[0].keyword is None and not call.args[0].star:
        return call.args[0].value
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in _COPIES and not call.args:
        return call.func.value
    return None


def _branches(node: cst.BaseExpression) -> list[cst.BaseExpression] | None:
    if isinstance(node, cst.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, cst.BooleanOperation):
        return [node.left, node.right]
    return [node.value] if isinstance(node, cst.NamedExpr) else None


def _selected_from(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`xs` of `[x for x in xs if ...]`."""
    if not isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        return None
    target = node.for_in.target
    is_same = isinstance(node.elt, cst.Name) and isinstance(target, cst.Name) and node.elt.value == target.value
    return node.for_in.iter if is_same else None


def _picked(node: cst.BaseExpression | None, index: int) -> cst.BaseExpression | None:
    if isinstance(node, (cst.Tuple, cst.List)) and index < len(node.elements):
        return node.elements[index].value
    return None


def _method(owner: cst.ClassDef, name: str) -> cst.FunctionDef | None:
    body = owner.body.body
    return next((item for item in body if isinstance(item, cst.FunctionDef) and item.name.value == name), None)


def _keywords(call: cst.Call) -> Iterator[Entry]:
    for arg in call.args:
        if arg.keyword is not None:
            yield Entry(arg.keyword.value, arg.keyword, arg.value)
