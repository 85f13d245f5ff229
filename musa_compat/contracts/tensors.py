"""What contracts look at in a tensor. Torch is not imported: a dtype is known by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

#: Names of torch's dtypes that the three interfaces know, with their size in bytes.
DTYPES: dict[str, int] = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}

#: The one FP8 format that DeepGEMM, FlashMLA and DeepEP take.
FP8 = "float8_e4m3fn"


class TensorLike(Protocol):
    """The part of `torch.Tensor` that is looked at."""

    @property
    def shape(self) -> Sequence[int]:
        """Sizes."""

    @property
    def dtype(self) -> Any:
        """An object whose `str` is the dtype's name."""

    @property
    def device(self) -> Any:
        """Where it lies."""

    def stride(self) -> Sequence[int]:
        """Strides in elements."""

    def data_ptr(self) -> int:
        """Address of the first element."""


_LOOKED_AT = ("shape", "dtype", "device", "stride", "data_ptr")
_tensor_types: dict[type, bool] = {}


def is_tensor(value: Any) -> bool:
    """Whether a value has what `TensorLike` names. Answered by its type, which is quicker than isinstance."""
    kind = type(value)
    found = _tensor_types.get(kind)
    if found is None:
        found = _tensor_types[kind] = kind is not type and all(hasattr(kind, name) for name in _LOOKED_AT)
    return found


_names: dict[Any, str] = {}


def dtype_name(dtype: Any) -> str:
    """`bfloat16` for `torch.bfloat16`."""
    try:
        return _names[dtype]
    except KeyError:
        name = _names[dtype] = str(dtype).removeprefix("torch.")
        return name
