"""Signatures from words of a command line."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Sequence
from typing import Any


class SignatureError(ValueError):
    """Words that give no signature; the text says which, and what was expected."""


def read(signature: type[Any], words: Sequence[str]) -> Any:
    """An instance of a NamedTuple class from words `name=value`, or values for its first fields.

    Values are int, float, bool (`true`), str, or a tuple of those written `1x128x128`; `none` where a field
    may be None. Raises SignatureError.
    """
    fields: tuple[str, ...] = signature._fields
    types_of = typing.get_type_hints(signature)
    values: dict[str, Any] = {}
    for position, word in enumerate(words):
        name, separator, text = word.partition("=")
        if not separator:
            if position >= len(fields):
                raise SignatureError(f"{word!r} is one value too many; the fields are {', '.join(fields)}")
            name, text = fields[position], word
        if name not in fields:
            raise SignatureError(f"{name!r} is no field; expected {', '.join(fields)}")
        if name in values:
            raise SignatureError(f"{name} is given twice")
        values[name] = _value(name, text.strip(), types_of[name])
    absent = [name for name in fields if name not in values and name not in signature._field_defaults]
    if absent:
        raise SignatureError(f"{', '.join(absent)} must be given too")
    return signature(**values)


def _value(name: str, text: str, kind: Any) -> Any:
    options = typing.get_args(kind) if typing.get_origin(kind) in {typing.Union, types.UnionType} else (kind,)
    if type(None) in options and text.lower() == "none":
        return None
    for option in options:
        if option is not type(None):
            try:
                return _reader(option)(text)
            except ValueError:
                continue
    raise SignatureError(f"{name}={text}: expected {' or '.join(map(_label, options))}")


def _reader(kind: Any) -> Callable[[str], Any]:
    if typing.get_origin(kind) is tuple:
        inner = typing.get_args(kind)[0]
        return lambda text: tuple(_reader(inner)(one) for one in text.split("x"))
    if typing.get_origin(kind) is typing.Literal:
        return lambda text: _choice(text, typing.get_args(kind))
    return _truth if kind is bool else kind if kind in {int, float} else str


def _truth(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


def _choice(text: str, choices: tuple[Any, ...]) -> Any:
    for one in choices:
        if str(one) == text:
            return one
    raise ValueError(text)


def _label(kind: Any) -> str:
    if typing.get_origin(kind) is typing.Literal:
        return " or ".join(map(str, typing.get_args(kind)))
    return "none" if kind is type(None) else getattr(kind, "__name__", str(kind))
