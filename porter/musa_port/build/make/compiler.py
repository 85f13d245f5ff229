"""nvcc in makefiles: the program, the variables that hold it, and its flags."""

from __future__ import annotations

import re

from musa_port import flags
from musa_port.build import definitions, environment, flag_words, program_options, python_text
from musa_port.build.fragment import Fragment
from musa_port.build.make.file import Call, MakeFile, MakeText, references
from musa_port.build.make.lexer import Line, Word
from musa_port.model import Severity
from musa_port.rules import Rule, register

COMPILER = register(
    Rule(
        "B30",
        "make-compiler",
        Severity.INFO,
        "Calls mcc in place of nvcc, and renames the variable NVCC where it holds nothing but nvcc.",
        why="The variable keeps its name in every makefile when one of the tree gives it another compiler, or has a variable "
        "MCC already.",
        example=("NVCC = nvcc\na.o: a.cpp\n\t$(NVCC) -c a.cpp", "MCC = mcc\na.o: a.cpp\n\t$(MCC) -c a.cpp"),
        advice="Check what else the build takes from the compiler: its version, its folder.",
        evidence="compiler_flags.csv, env.csv",
    )
)

_NVCC = "nvcc"
_HELD = "NVCC"
_RENAMED = "MCC"
_OTHER = "puts something else into it"
_TAKEN = f"has a variable {_RENAMED}"
#: Names of variables that hold flags of nvcc, whoever uses them.
_DEVICE_FLAGS = re.compile(
    r".*NVCC.*|.*GENCODE.*|.*CUDA_?(C|CXX)?FLAGS.*|CUFLAGS|NVFLAGS|.*SM_?FLAGS?|.*ARCH_FLAGS?", re.I
)


def apply(file: MakeFile) -> None:
    """Flags, programs, definitions for CMake, and the variable."""
    holders = _holders(file)
    device = _device_variables(file, holders)
    for line in file.lines:
        for call in file.calls(line):
            if not call.speaks:
                _flags(file, line, call, holders, device)
    for line in file.lines:
        for call in file.calls(line):
            if not call.speaks:
                _programs(file, call)
    _rename_variable(file)


# ---- what holds what ----------------------------------------------------------------------------------------------


def _is_nvcc(text: str) -> bool:
    return re.fullmatch(r"[@+-]*(.*/)?nvcc", text) is not None


def _holders(file: MakeFile) -> frozenset[str]:
    """The variables whose value is a call of nvcc, or looks for it."""
    held = {_HELD}
    for line in file.lines:
        if line.kind == "assignment" and any(_is_nvcc(word.text) for word in file.words(line)):
            held.add(file.name(line))
    return frozenset(held)


def _runs_nvcc(call: Call, holders: frozenset[str]) -> bool:
    program = call.program
    return program is not None and (_is_nvcc(program.text) or any(name in holders for name in references(program.text)))


def _is_for_device(name: str) -> bool:
    return _DEVICE_FLAGS.fullmatch(name) is not None


def _device_variables(file: MakeFile, holders: frozenset[str]) -> frozenset[str]:
    """The variables that hold flags of nvcc: by their name, by use in its commands, or through other variables."""
    found = {name for name in file.variables if _is_for_device(name)}
    for line in file.lines:
        for call in file.calls(line):
            if _runs_nvcc(call, holders):
                found.update(name for word in call.words for name in references(word.text))
    waiting = list(found)
    while waiting:
        for line in file.assignments(waiting.pop()):
            new = set(references(file.text[slice(*line.value)])) - found - holders
            found |= new
            waiting += new
    return frozenset(found)


# ---- flags ------------------------------------------------------------------------------------------------------


def _flags(file: MakeFile, line: Line, call: Call, holders: frozenset[str], device: frozenset[str]) -> None:
    assigned = line.kind == "assignment" and file.name(line) in device | holders
    evaluated = call.words[0].function == "eval" and _is_for_device(call.words[0].text)
    alone = flags.is_for_nvcc(" ".join(word.text for word in call.words))
    host = not (alone or assigned or evaluated or _runs_nvcc(call, holders))
    flag_words.translate(file.draft, [_as_flag(word) for word in call.words], host=host)


def _as_flag(word: Word) -> flag_words.Word:
    """The word without quotes around it; no text where quotes or parentheses are open."""
    text, quote = word.text, word.text[:1]
    quoted = quote in ("'", '"') and len(text) > 1 and text.endswith(quote) and quote not in text[1:-1]
    span = (word.start + 1, word.end - 1) if quoted else (word.start, word.end)
    text = text[1:-1] if quoted else text
    is_open = text.count("(") != text.count(")") or any(text.count(char) % 2 for char in "'\"")
    return flag_words.Word(*span, "" if is_open else text, (word.start, word.end))


# ---- programs ---------------------------------------------------------------------------------------------------


def _programs(file: MakeFile, call: Call) -> None:
    for word in call.words:
        _program(file, call, word)
    words = [_as_fragment(file, word) for word in call.words]
    _python(words)
    if call.program is not None and re.fullmatch(r"[@+-]*(cmake|\$[({]CMAKE[)}])", call.program.text):
        definitions.decide(words)


def _python(words: list[Fragment]) -> None:
    """Python on the command line, and the options of Python programs."""
    for index, word in enumerate(words):
        if program_options.is_python(word):
            for text in python_text.code_words(words[index:]):
                python_text.decide(text)
            program_options.decide(words[index + 1 :])
            return


def _as_fragment(file: MakeFile, word: Word) -> Fragment:
    flag = _as_flag(word)
    return Fragment(file.draft, flag.text, range(flag.start, flag.end))


def _program(file: MakeFile, call: Call, word: Word) -> None:
    name = re.split(r"[/@+]", word.text)[-1].lstrip("-") if word is call.program else word.text.rpartition("/")[2]
    row = flags.tool(name)
    start = word.end - len(name)
    if row is None or file.draft.is_claimed(start):
        return
    if row.supported and not row.flag:
        file.draft.edit(start, word.end, row.musa, "make-compiler", row.confidence)
        if {"--version", "-V"} & {other.text for other in call.words}:
            message = f"what {row.musa} --version prints differs from what {name} --version prints"
            file.draft.report("make-compiler", start, word.end, message, severity=Severity.WARNING, name=name)
        return
    counterpart = f"; {row.musa} is the MUSA program of that kind" if row.musa else " and has no counterpart"
    note = f" ({row.note})" if row.note else ""
    message = f"{name} is left{counterpart}{note}"
    file.draft.report("build-program", start, word.end, message, name=name, once=name)


# ---- the variable -------------------------------------------------------------------------------------------------


def conflict(file: MakeText) -> str:
    """Why no makefile of the tree may rename the variable, as far as this file tells; "" when it does not matter.

    Makefiles include and call each other, so that a name has to change in all of them or in none.
    """
    if any(not _holds_nvcc(file, line) for line in file.assignments(_HELD)):
        return _OTHER
    return _TAKEN if _RENAMED in file.variables else ""


def _rename_variable(file: MakeFile) -> None:
    """NVCC becomes MCC, if nothing but nvcc is ever put into it."""
    row = file.draft.names.environment.get(_HELD)
    places = sorted({*file.places(_HELD), *file.shell_places(_HELD)})
    if (
        row is None
        or not row.supported
        or not places
        or _HELD in file.draft.names.keep
        or not file.draft.names.allowed(row)
    ):
        return
    if reason := environment.kept(file.draft, _HELD):
        own = conflict(file)
        where = "this file" if own else "a makefile of the tree"
        message = f"the variable {_HELD} keeps its name: {where} {own or reason}"
        place = next((line.name for line in file.assignments(_HELD) if not _holds_nvcc(file, line)), places[0])
        file.draft.report("make-compiler", *place, message, severity=Severity.WARNING, name=_HELD)
        return
    for start, end in places:
        file.draft.edit(start, end, row.musa, "make-compiler", row.confidence)


def _holds_nvcc(file: MakeText, line: Line) -> bool:
    return any(_is_nvcc(word.text) for word in file.words(line))
