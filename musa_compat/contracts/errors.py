"""The classes of error that upstream raises, and one text for all of them.

Sources: DeepGEMM's and FlashMLA's compiled checks and DeepEP's host checks raise RuntimeError; `assert` in their Python
files raises AssertionError; wrong types and names raise TypeError; a few checks raise ValueError.
"""

from __future__ import annotations

from typing import Any

from musa_compat.contracts.tensors import dtype_name, is_tensor


class ContractViolation(Exception):
    """A call that the interface does not allow. Caught as the class that upstream raises, or as this one.

    `operator` and `argument` are names; `expected`, `got` and `advice` are parts of the text; `upstream` is a text that
    upstream's error would have, such as `Unknown recipe`, or empty.
    """

    def __init__(
        self, operator: str, argument: str, expected: str, got: str, advice: str = "", upstream: str = ""
    ) -> None:
        self.operator = operator
        self.argument = argument
        self.expected = expected
        self.got = got
        self.advice = advice
        self.upstream = upstream
        start = f"{upstream}: {operator}" if upstream else operator
        end = f"; {advice}" if advice else ""
        super().__init__(f"{start}: argument {argument}: expected {expected}, got {got}{end}")

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are pickled by their text, which is made of these; workers of a pool send them home.
        return type(self), (self.operator, self.argument, self.expected, self.got, self.advice, self.upstream)


class ContractError(ContractViolation, RuntimeError):
    """Where upstream's compiled code checks."""


class ContractAssertion(ContractViolation, AssertionError):
    """Where upstream's Python code asserts."""


class ContractTypeError(ContractViolation, TypeError):
    """Where upstream's binding refuses a type or a name."""


class ContractValueError(ContractViolation, ValueError):
    """Where upstream raises ValueError."""


def describe(value: Any) -> str:
    """A value as errors show it: a tensor by shape, dtype, device and, if they say something, strides."""
    if is_tensor(value):
        shape, strides = tuple(value.shape), tuple(value.stride())
        text = f"a {dtype_name(value.dtype)} tensor of shape {shape}"
        if strides != _contiguous_strides(shape):
            text += f" and strides {strides}"
        return f"{text} on {value.device}"
    if isinstance(value, (tuple, list)) and value:
        inner = ", ".join(describe(one) for one in value[:4]) + (", ..." if len(value) > 4 else "")
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}]"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))
