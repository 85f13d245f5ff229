"""Options of Python programs that name a device or a communication library."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from musa_port.build.fragment import Fragment
from musa_port.model import Severity
from musa_port.rules import Rule, register

OPTION = register(
    Rule(
        "B47",
        "program-option",
        Severity.WARNING,
        "Changes --device cuda and --backend nccl of Python programs, and reports other words that are a device.",
        why="The Python sources are ported in the same run: their devices are called musa afterwards.",
        example=("python train.py --device cuda:0 --backend=nccl", "python train.py --device musa:0 --backend=mccl"),
        advice="Write musa if the program takes it.",
    )
)

_PYTHON = re.compile(r"(python|pypy)[\d.]*|torchrun|accelerate|deepspeed|pytest|py\.test|ipython3?")
_DEVICE_OPTION = re.compile(r"--(?:device|devices|map[-_]location)|(?:\+\+?)?(?:\w+\.)*(?:device|map_location)(?==)")
_BACKEND_OPTION = re.compile(r"--(?:backend|dist[-_]backend|distributed[-_]backend)")
_DEVICE = re.compile(r"cuda(?=(?::\d+)?(?:,|$))")
_DEVICES = re.compile(r"cuda(?::\d+)?(?:,cuda(?::\d+)?)*")


def is_python(word: Fragment) -> bool:
    """Whether a word of a command is the interpreter or a Python program."""
    name = posixpath.basename(word.text.strip("@${}()")).lower()
    return _PYTHON.fullmatch(name) is not None or name.endswith(".py")


def decide(words: Sequence[Fragment]) -> None:
    """The words after the name of a Python program."""
    for index, word in enumerate(words):
        option, equals, _ = word.text.partition("=")
        if equals:
            _value(option + equals, word.part(len(option) + 1, len(word.text)))
        else:
            _value(words[index - 1].text if index else "", word)


def _value(option: str, value: Fragment) -> None:
    name = option.rstrip("=")
    if _DEVICES.fullmatch(value.text):
        if _DEVICE_OPTION.fullmatch(name) or (option.endswith("=") and _DEVICE_OPTION.match(option)):
            for match in _DEVICE.finditer(value.text):
                value.edit(*match.span(), "musa", "program-option")
        else:
            message = f"{value.text} is left: whether {name or 'the program'} means a device is not known"
            value.report("program-option", 0, len(value.text), message, name=value.text)
    elif value.text == "nccl" and _BACKEND_OPTION.fullmatch(name):
        value.edit(0, len(value.text), "mccl", "program-option")


def left(words: Sequence[Fragment]) -> None:
    """Report devices among the words of a program that is not known to be Python."""
    for index, word in enumerate(words):
        option, equals, value = word.text.partition("=")
        name = option if equals else words[index - 1].text if index else ""
        if _DEVICES.fullmatch(value if equals else word.text) and _DEVICE_OPTION.match(name):
            message = f"{word.text} is left: the program is not known to be Python"
            word.report("program-option", 0, len(word.text), message, severity=Severity.INFO, name=word.text)
