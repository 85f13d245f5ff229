"""Constants of a program: what an expression is worth, as far as the file says so.

Names are followed to their only assignment in the functions around them and in the module, parameters to their defaults
or to what the caller says they are. Everything else is unknown: None.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import libcst as cst

from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.python.tree import dotted
from musa_port.tilelang.bindings import Binding, bindings, members, owners_around
from musa_port.tilelang.facts import dtypes
from musa_port.tilelang.recognise import word

#: A number, a truth value, the name of a dtype or another text, a tuple or a dictionary of values; None is unknown.
Value: TypeAlias = Any
#: What parameters of functions are worth.
Arguments: TypeAlias = Mapping[tuple[cst.FunctionDef, str], Value]

_MAX_DEPTH = 24
_BINARY: dict[type[cst.BaseBinaryOp], Callable[[Any, Any], Any]] = {
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.Multiply: operator.mul,
    cst.FloorDivide: operator.floordiv,
    cst.Divide: operator.truediv,
    cst.Modulo: operator.mod,
    cst.Power: operator.pow,
    cst.LeftShift: operator.lshift,
    cst.RightShift: operator.rshift,
    cst.BitAnd: operator.and_,
    cst.BitOr: operator.or_,
}
_COMPARED: dict[type[cst.BaseCompOp], Callable[[Any, Any], Any]] = {
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
}
_CONSTANTS: dict[str, Value] = {"True": True, "False": False}
_LIMIT = 1 << 62


def evaluate(module: Module, node: cst.CSTNode | None, arguments: Arguments | None = None) -> Value:
    """What the expression is worth, None when it cannot be told."""
    if node is None:
        return None
    try:
        return _Evaluator(module, arguments or {}).value(node, _MAX_DEPTH)
    except (ArithmeticError, TypeError, ValueError, MemoryError):
        return None


class _Evaluator:
    """Evaluates expressions; see `evaluate`."""

    def __init__(self, module: Module, arguments: Arguments) -> None:
        self.module = module
        self.arguments = arguments

    def value(self, node: cst.CSTNode, depth: int) -> Value:
        """The value of one expression."""
        if depth == 0:
            return None
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        return method(node, depth - 1) if method is not None else None

    def _integer(self, node: cst.Integer, depth: int) -> Value:
        return node.evaluated_value

    def _float(self, node: cst.Float, depth: int) -> Value:
        return node.evaluated_value

    def _simplestring(self, node: cst.SimpleString, depth: int) -> Value:
        text = plain(node)
        return dtypes().name(text) or text or None

    def _tuple(self, node: cst.Tuple | cst.List, depth: int) -> Value:
        return tuple(self.value(element.value, depth) for element in node.elements)

    _list = _tuple

    def _name(self, node: cst.Name, depth: int) -> Value:
        if node.value in _CONSTANTS:
            return _CONSTANTS[node.value]
        known = self._dtype(node)
        return known if known is not None else self._bound(node, depth)

    def _attribute(self, node: cst.Attribute, depth: int) -> Value:
        if node.attr.value in ("bytes", "bits"):
            dtype = dtypes().get(self.value(node.value, depth))
            return dtype.bits // (8 if node.attr.value == "bytes" else 1) if dtype else None
        known = self._dtype(node)
        return known if known is not None else self._only(members(self.module, node), depth)

    def _dict(self, node: cst.Dict, depth: int) -> Value:
        pairs = [(plain(item.key), item.value) for item in node.elements if isinstance(item, cst.DictElement)]
        return {key: self.value(value, depth) for key, value in pairs if key}

    def _subscript(self, node: cst.Subscript, depth: int) -> Value:
        """`CONFIG["threads"]`, `TILE[0]`."""
        index = node.slice[0].slice if len(node.slice) == 1 else None
        if not isinstance(index, cst.Index):
            return None
        held = self.value(node.value, depth)
        if isinstance(held, dict):
            return held.get(plain(index.value))
        key = self.value(index.value, depth)
        is_item = isinstance(held, tuple) and isinstance(key, int) and -len(held) <= key < len(held)
        return held[key] if is_item else None

    def _dtype(self, node: cst.Name | cst.Attribute) -> str | None:
        """`T.float16` and `torch.float16`."""
        name = word(self.module, node)
        if not name:
            full = self.module.qualified(node)
            name = full.removeprefix("torch.") if full.startswith("torch.") else ""
        return dtypes().name(name) if name else None

    def _bound(self, node: cst.Name, depth: int) -> Value:
        """The value of a variable: of its only assignment in the innermost scope that has one."""
        table = bindings(self.module)
        for owner in owners_around(self.module, node):
            found = table.get((owner, node.value))
            if not found:
                continue
            if isinstance(owner, cst.FunctionDef) and found[0].parameter and (owner, node.value) in self.arguments:
                return self.arguments[owner, node.value] if len(found) == 1 else None
            return self._only(found, depth)
        return None

    def _only(self, found: Sequence[Binding], depth: int) -> Value:
        """What the only binding gives."""
        return self.value(found[0].value, depth) if len(found) == 1 and found[0].value is not None else None

    def _unaryoperation(self, node: cst.UnaryOperation, depth: int) -> Value:
        value = self.value(node.expression, depth)
        if value is None:
            return None
        if isinstance(node.operator, cst.Minus):
            return -value
        return not value if isinstance(node.operator, cst.Not) else None

    def _binaryoperation(self, node: cst.BinaryOperation, depth: int) -> Value:
        left, right = self.value(node.left, depth), self.value(node.right, depth)
        apply = _BINARY.get(type(node.operator))
        if apply is None or left is None or right is None:
            return None
        if apply in (operator.pow, operator.lshift) and (right > 64 or left > 1 << 32):
            return None
        if apply is operator.mul and isinstance(left, (tuple, str)) != isinstance(right, (tuple, str)):
            return self._repeated(left, right)
        value = apply(left, right)
        return value if not isinstance(value, int) or abs(value) < _LIMIT else None

    def _repeated(self, left: Value, right: Value) -> Value:
        """`[128] * 4`."""
        text, count = (left, right) if isinstance(left, (tuple, str)) else (right, left)
        return text * count if isinstance(count, int) and 0 <= count <= 4096 else None

    def _comparison(self, node: cst.Comparison, depth: int) -> Value:
        if len(node.comparisons) != 1:
            return None
        left, right = self.value(node.left, depth), self.value(node.comparisons[0].comparator, depth)
        apply = _COMPARED.get(type(node.comparisons[0].operator))
        return apply(left, right) if apply and left is not None and right is not None else None

    def _ifexp(self, node: cst.IfExp, depth: int) -> Value:
        test = self.value(node.test, depth)
        body, other = self.value(node.body, depth), self.value(node.orelse, depth)
        if test is None:
            return body if body == other else None
        return body if test else other

    def _call(self, node: cst.Call, depth: int) -> Value:
        if node.args and dotted(node.func) == ["dict"] and all(arg.keyword is not None for arg in node.args):
            return {arg.keyword.value: self.value(arg.value, depth) for arg in node.args if arg.keyword is not None}
        values = [self.value(arg.value, depth) for arg in node.args if arg.keyword is None and not arg.star]
        if len(values) != len(node.args) or not values or any(value is None for value in values):
            return None
        name = word(self.module, node.func) or self.module.qualified(node.func) or ".".join(dotted(node.func))
        return _FUNCTIONS[name](*values) if name in _FUNCTIONS else None


def _ceildiv(left: int, right: int) -> int:
    return -(-left // right)


def _dtype_of(name: str) -> str | None:
    return dtypes().name(name)


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "ceildiv": _ceildiv,
    "triton.cdiv": _ceildiv,
    "min": min,
    "max": max,
    "int": int,
    "abs": abs,
    "len": len,
    "dtype": _dtype_of,
    "math.gcd": math.gcd,
    "math.lcm": math.lcm,
    "math.ceil": math.ceil,
    "math.prod": math.prod,
}
