"""A contract: the checks of one operator, which raise one class of error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn, TypeVar

from musa_compat.contracts.errors import ContractError, ContractTypeError, ContractViolation, describe
from musa_compat.contracts.tensors import TensorLike, dtype_name, is_tensor

_Choice = TypeVar("_Choice")


class Contract:
    """Checks for the operator of this name; what does not hold raises `error`.

    A type that upstream's binding would refuse raises ContractTypeError whatever `error` is, unless `error` is an
    AssertionError: an `assert` in Python comes before the binding.
    """

    def __init__(self, operator: str, error: type[ContractViolation] = ContractError) -> None:
        self.operator = operator
        self.error = error
        self._type_error = error if issubclass(error, AssertionError) else ContractTypeError

    def raising(self, error: type[ContractViolation]) -> Contract:
        """The same operator with another class of error."""
        return Contract(self.operator, error)

    def fail(self, argument: str, expected: str, got: str, advice: str = "", upstream: str = "") -> NoReturn:
        """Raise the error."""
        raise self.error(self.operator, argument, expected, got, advice, upstream)

    def that(self, holds: bool, argument: str, expected: str, got: Any, advice: str = "") -> None:
        """Any other condition; `got` is described if it is not a text."""
        if not holds:
            self.fail(argument, expected, got if isinstance(got, str) else describe(got), advice)

    # ---- tensors -----------------------------------------------------------------------------------------------------

    def tensor(
        self,
        name: str,
        value: Any,
        *,
        rank: int | Collection[int] | None = None,
        shape: Sequence[int | None] | None = None,
        names: Sequence[str] = (),
        dtypes: Collection[str] = (),
        contiguous: bool = False,
        row_major: bool = False,
    ) -> Sequence[int]:
        """Check a tensor and return its shape.

        `rank` is a number of dimensions or several; `shape` has None where any size will do, and `names` says what its
        dimensions are. `dtypes` are names such as `bfloat16`. `row_major` asks for a last dimension with stride 1.
        """
        if not is_tensor(value):
            raise self._type_error(self.operator, name, "a tensor", describe(value))
        tensor: TensorLike = value
        if rank is not None:
            self._rank(name, tensor, (rank,) if isinstance(rank, int) else rank)
        if shape is not None:
            self._shape(name, tensor, shape, names)
        if dtypes and dtype_name(value.dtype) not in dtypes:
            self.fail(name, f"dtype {' or '.join(dtypes)}", describe(value), _convert(name, dtypes))
        if contiguous and not _is_contiguous(value):
            self.fail(name, "a contiguous tensor", describe(value), f"call {name}.contiguous()")
        if row_major and value.shape[-1:] != (1,) and value.stride()[-1:] != (1,):
            self.fail(name, "a last dimension with stride 1", describe(value), f"call {name}.contiguous()")
        return tensor.shape

    def optional(self, name: str, value: Any, **conditions: Any) -> Sequence[int] | None:
        """`tensor`, for an argument that may be None."""
        return None if value is None else self.tensor(name, value, **conditions)

    def stride(self, name: str, tensor: TensorLike, dimension: int, expected: int, advice: str = "") -> None:
        """The stride of one dimension, in elements."""
        if tensor.stride()[dimension] != expected:
            self.fail(name, f"stride({dimension}) = {expected}", describe(tensor), advice)

    def _rank(self, name: str, value: TensorLike, ranks: Collection[int]) -> None:
        if len(value.shape) not in ranks:
            self.fail(name, f"{' or '.join(map(str, ranks))} dimensions", describe(value))

    def _shape(self, name: str, value: TensorLike, shape: Sequence[int | None], names: Sequence[str]) -> None:
        found = value.shape
        fits = len(found) == len(shape) and all(
            want is None or want == size for want, size in zip(shape, found, strict=True)
        )
        if not fits:
            sizes = ", ".join("any" if size is None else str(size) for size in shape)
            meaning = f" = [{', '.join(names)}]" if names else ""
            self.fail(name, f"shape ({sizes}){meaning}", describe(value))

    def same_device(self, **tensors: Any) -> None:
        """All tensors that are given, and are not None, lie on one device."""
        given = [(name, value) for name, value in tensors.items() if value is not None]
        for name, value in given[1:]:
            first_name, first = given[0]
            if value.device != first.device:
                self.fail(name, f"a tensor on {first.device}, as {first_name}", describe(value), "move one of them")

    # ---- other arguments ---------------------------------------------------------------------------------------------

    def multiple(self, name: str, value: int, of: int, advice: str = "") -> None:
        """A number is a multiple of another."""
        if value % of:
            self.fail(name, f"a multiple of {of}", str(value), advice)

    def between(self, name: str, value: int, low: int, high: int | None = None) -> None:
        """A number lies in a range, both ends included."""
        if value < low or (high is not None and value > high):
            self.fail(name, f"at least {low}" if high is None else f"{low} to {high}", str(value))

    def one_of(self, name: str, value: _Choice, choices: Collection[_Choice], upstream: str = "") -> None:
        """A value is one of some."""
        if value not in choices:
            self.fail(name, f"one of {', '.join(map(describe, choices))}", describe(value), upstream=upstream)

    def together(self, **arguments: Any) -> None:
        """Arguments are all given or all None."""
        given = [name for name, value in arguments.items() if value is not None]
        if given and len(given) != len(arguments):
            absent = [name for name in arguments if name not in given]
            self.fail(" and ".join(absent), f"a value, as {' and '.join(given)} is given", "None")

    def absent(self, reason: str, **arguments: Any) -> None:
        """Arguments that a mode of the operator does not take are None."""
        for name, value in arguments.items():
            if value is not None:
                self.fail(name, f"None, {reason}", describe(value))

    def present(self, reason: str, **arguments: Any) -> None:
        """Arguments that a mode of the operator needs are given."""
        for name, value in arguments.items():
            if value is None:
                self.fail(name, f"a value, {reason}", "None")

    def pair(self, name: str, value: Any, kinds: tuple[type, ...] = (tuple, list)) -> tuple[Any, Any]:
        """The two parts of a quantised operand: values and scales."""
        parts: tuple[Any, ...] = tuple(value) if isinstance(value, kinds) else ()  # type: ignore[arg-type]
        if len(parts) != 2:
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise self._type_error(self.operator, name, f"a {expected} of values and scales", describe(value))
        return parts[0], parts[1]

    def names(self, arguments: dict[str, Any], allowed: Callable[[str], bool]) -> None:
        """Keywords are known ones."""
        for name, value in arguments.items():
            if not allowed(name):
                raise self._type_error(self.operator, name, "a keyword of this operator", f"{name}={describe(value)}")


def _is_contiguous(value: TensorLike) -> bool:
    step = 1
    if 0 in value.shape:
        return True
    for size, stride in zip(reversed(value.shape), reversed(value.stride()), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def _convert(name: str, dtypes: Collection[str]) -> str:
    return f"convert it with {name}.to(torch.{next(iter(dtypes))})" if len(dtypes) == 1 else ""
