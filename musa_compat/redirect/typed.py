"""`torch.cuda.FloatTensor` and the like: classes that make tensors of one dtype on the current device."""

from __future__ import annotations

from typing import Any

import torch

from musa_compat.redirect.devices import is_musa

#: Name of the class -> dtype.
DTYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
}


class TypedTensor(type):
    """The class of these classes."""

    dtype: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, torch.Tensor) and instance.dtype is cls.dtype and is_musa(instance)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Sizes, a sequence of values, or a tensor of the same type, as for `torch.FloatTensor`."""
        device = kwargs.pop("device", None) or "musa"
        if kwargs:
            raise TypeError(f"torch.cuda.{cls.__name__}: unexpected keyword {next(iter(kwargs))!r}")
        if not args:
            return torch.empty(0, dtype=cls.dtype, device=device)
        if len(args) == 1 and not isinstance(args[0], (int, torch.Size)):
            return torch.as_tensor(args[0]).to(device, cls.dtype)
        sizes = args[0] if isinstance(args[0], torch.Size) else args
        return torch.empty(sizes, dtype=cls.dtype, device=device)


TYPES = {
    name: TypedTensor(name, (), {"dtype": dtype, "is_cuda": True, "__module__": "torch.cuda"})
    for name, dtype in DTYPES.items()
}


def typed_tensor(name: str) -> Any:
    """The class of `torch.cuda.FloatTensor`, or of `torch.musa.FloatTensor`; any other name is returned as it is."""
    place, _, last = name.rpartition(".")
    return TYPES.get(last, name) if place in ("torch.cuda", "torch.musa") else name
