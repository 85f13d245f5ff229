"""What a string of each kind has to become in a port, straight from the data files (python_places has the kinds)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from . import api, python_names
from .lexer import tokens

_API = re.compile(r"_*(cu|mu|nv|mt|nccl|mccl)", re.I)


def _device(old: str) -> str:
    return re.sub(r"^cuda(?=:|$)", "musa", old)


def _backend(old: str) -> str:
    parts = [part.rpartition(":") for part in old.split(",")]
    swap = {"nccl": "mccl", "NCCL": "MCCL", "cuda": "musa"}
    return ",".join(swap.get(device, device) + colon + swap.get(name, name) for device, colon, name in parts)


@cache
def _variables() -> dict[str, str]:
    return {row["cuda_name"]: row["musa_name"] for row in api.rows("env") if row["musa_name"]}


def _environment(old: str) -> str:
    return _variables().get(old, old)


def _column(old: str) -> str:
    return re.sub(r"^(self_)?cuda_", r"\1musa_", old)


def _name(old: str) -> str:
    full = python_names.renamed(old)
    return re.sub(r"^torch_musa\b", "torch.musa", full) if full else old


def _flag(old: str) -> str:
    return "mcc" if old == "nvcc" else old


def _source(old: str) -> str:
    return re.sub(r"\.cu(h?)$", r".mu\1", old)


@cache
def _libraries() -> dict[str, str]:
    return {row["cuda_name"]: row["musa_name"] for row in api.rows("libraries") if row["kind"] == "shared-object"}


def _library(old: str) -> str:
    """`libcudart.so.12`, `libcudart`, `cudart`."""
    for before, after in (("", ""), ("", ".so"), ("lib", ".so")):
        if new := _libraries().get(before + old + after):
            return new.removeprefix(before).removesuffix(after)
    return old


def _target_string(old: str) -> str:
    new = re.sub(r"\bsm_8\d\b", "mp_22", re.sub(r"^cuda\b", "musa", old))
    return re.sub(r"\bsm_\d+[af]?\b", "mp_31", new)


@cache
def _programs() -> dict[str, str]:
    rows = api.rows("compiler_flags")
    return {row["cuda_name"]: row["musa_name"] for row in rows if row["kind"] == "tool" and row["musa_name"]}


def _program(old: str) -> str:
    program, space, rest = old.partition(" ")
    return _programs().get(program, program) + space + rest


def _folder(old: str) -> str:
    names = {"lib64": "lib", **_programs()}
    return "/".join(names.get(part, part) for part in old.split("/"))


#: What a string of each kind has to become.
LEGAL: dict[str, Callable[[str], str]] = {
    "device": _device,
    "backend": _backend,
    "environment": _environment,
    "column": _column,
    "name": _name,
    "function": lambda old: python_names.functions().get(old, old),
    "library": _library,
    "dispatch": lambda old: old.replace("CUDA", "PrivateUse1"),
    "source": _source,
    "flag": _flag,
    "program": _program,
    "folder": _folder,
    "target": _target_string,
}


def is_legal(kind: str, old: str, new: str) -> bool:
    """Whether a string of this kind may become another."""
    if kind in ("flag", "program") and old.startswith("-"):
        return new.startswith("-") or not new
    if kind == "kernel":
        return _shape(old) == _shape(new)
    return LEGAL[kind](old) == new


def _shape(text: str) -> list[str]:
    """A source without the words of CUDA and MUSA: everything else in the text of a kernel stays."""
    return ["" if token.kind == "include" or _API.match(token.text) else token.text for token in tokens(text)]
