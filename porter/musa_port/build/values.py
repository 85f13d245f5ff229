"""Values of environment variables and build arguments, where a table or a rule knows them."""

from __future__ import annotations

import re

from musa_port import flags
from musa_port.build import compiler, images, toolkit
from musa_port.build.fragment import Fragment
from musa_port.model import Severity
from musa_port.rules import Rule, register

VALUE = register(
    Rule(
        "B42",
        "environment-value",
        Severity.WARNING,
        "Translates the list of architectures that a variable holds, and reports values that name a CUDA device.",
        why="A renamed variable with a CUDA value would be wrong on MUSA; a value that is not understood is reported.",
        example=('export TORCH_CUDA_ARCH_LIST="8.0;9.0"', 'export TORCH_MUSA_ARCH_LIST="22;31"'),
        advice="Write the value for MUSA by hand.",
        evidence="env.csv, arch.csv",
    )
)

ARCHITECTURES = frozenset({"TORCH_CUDA_ARCH_LIST"})
_DEVICE_NAME = re.compile(r"(\w*_)?(device|devices|map_location)(_type)?", re.I)
_DEVICE = re.compile(r"(?:\$\{\w+:?[-=])?(cuda(?::\d+)?)\}?")
_OPTION = re.compile(r"(?:^|\s)(--(?:device|devices|map[-_]location)[= ]cuda\b(?::\d+)?|--backend[= ]nccl\b)")
_COMPILER = re.compile(r"(?:\$\{\w+:?[-=])?((?:/usr/local/cuda/bin/)?nvcc)\}?")
_LIBRARY = re.compile(r"(?<![\w.+-])lib[\w+-]+\.so[.\d]*(?![\w.])")
_FLAGS = re.compile(r"\w*(NVCC|CUDA)\w*FLAGS\w*")


def translate(text: Fragment, name: str) -> None:
    """Translate the value of the variable `name`, as far as it is understood."""
    if name in ARCHITECTURES:
        architectures(text, name)
        return
    toolkit.paths(text, root=name in toolkit.ROOTS)
    if name in toolkit.ROOTS:
        toolkit.folder(text, name)
    if ":" in text.text or images.is_known(text.text):
        images.image(text)
    if match := _COMPILER.fullmatch(text.text):
        compiler.rename(text.part(*match.span(1)))
    elif flags.is_for_nvcc(text.text) or (_FLAGS.fullmatch(name) and name not in text.draft.names.environment):
        compiler.options(words(text))
    elif name == "LD_PRELOAD":
        for match in _LIBRARY.finditer(text.text):
            toolkit.library(text.part(*match.span()))
    else:
        programs(text, name)


def programs(text: Fragment, name: str) -> None:
    """Report what programs take for a device or a library: their options, or the value of `DEVICE`."""
    if match := _OPTION.search(text.text):
        message = f"{match[1]} is left: options in a variable belong to a program that is not known here"
        text.report("environment-value", *match.span(1), message, name=name)
    elif _DEVICE_NAME.fullmatch(name) and (match := _DEVICE.fullmatch(text.text)):
        text.report("environment-value", *match.span(1), f"{name} stays {match[1]}, which is musa on MUSA", name=name)


def words(text: Fragment) -> list[Fragment]:
    """The words of a value that holds several, such as flags; those of an array without its parentheses."""
    if text.text.startswith("(") and text.text.endswith(")"):
        text = text.part(1, len(text.text) - 1)
    return [text.part(*match.span()) for match in re.finditer(r"\S+", text.text)]


def architectures(text: Fragment, name: str) -> None:
    """A list such as `8.0;9.0`, the value of `name`."""
    listed = text.text.strip(" \t\r\n;")
    if not listed:
        return
    start = text.text.index(listed)
    span = start, start + len(listed)
    new = None if "$" in listed else flags.torch_architectures(listed, text.draft.options.arch)
    if "$" in listed:
        message = f"the value of {name} comes from elsewhere: MUSA has 22 and 31 where CUDA has 8.0 and 9.0"
        text.report("environment-value", *span, message, name=name)
    elif new is None:
        message = f"{listed}: not every architecture has a known counterpart"
        text.report("environment-value", *span, message, severity=Severity.ERROR, name=name)
    elif text.edit(*span, new, "environment-value"):
        message = f"the architectures {listed} became {new}"
        text.report("environment-value", *span, message, severity=Severity.INFO, new=new, name=name)
