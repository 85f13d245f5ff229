"""Programs of the toolkit that a program runs: nvcc, nvidia-smi and their relatives."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from musa_port import flags
from musa_port.build import shell
from musa_port.build.fragment import Fragment
from musa_port.model import Severity
from musa_port.python import flag_lists
from musa_port.python.embedded import fragment
from musa_port.python.flow import flow
from musa_port.python.joined import last, name_of
from musa_port.python.literals import is_docstring, plain, text_of
from musa_port.python.messages import is_message
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.rules.extension_sources import port_literal
from musa_port.python.tree import walk
from musa_port.python.words import UNKNOWN, is_decided, place, word
from musa_port.rules import Rule, register

PROGRAM = register(
    Rule(
        "P26",
        "toolkit-program",
        Severity.WARNING,
        "Calls mcc where a program calls nvcc, with its flags by table; reports nvidia-smi and the other tools.",
        why="mcc and mthreads-gmi print something else than nvcc and nvidia-smi: code that reads it must change. "
        "A command that is one text for a shell is decided by the rules for scripts.",
        example=('subprocess.run(["nvcc", "-c", "k.cu"])', 'subprocess.run(["mcc", "-c", "k.mu"])'),
        advice="Run the command once by hand and compare what it prints with what the program expects.",
        evidence="compiler_flags.csv, kind tool",
    )
)
_RUN = frozenset(
    [f"subprocess.{name}" for name in "run call check_call check_output Popen getoutput getstatusoutput".split()]
    + [f"os.{name}" for name in "system popen execl execlp execv execvp execve execvpe".split()]
    + ["asyncio.create_subprocess_shell", "asyncio.create_subprocess_exec"]
)
_LOOK_UP = frozenset({"shutil.which", "distutils.spawn.find_executable", "setuptools.distutils.spawn.find_executable"})
_LAST = {full.rpartition(".")[2] for full in _RUN | _LOOK_UP}
#: Programs that run or look for the program that follows.
_WRAPPERS = frozenset("which where whereis command sudo env time ccache sccache nice".split())
_SHELL_WORD = re.compile(r"(?:^|(?<=[\s;&|(`]))(?:[\w.${}-]*/)*([\w-]+)(?=$|[\s;&|)`])")
_SHELLS = frozenset("sh bash zsh dash ksh".split())
_LOOKS_LIKE_TOOL = re.compile(r"(?:nvidia|cuda)-[a-z-]+|nvprof|nvlink|ptxas|fatbinary")
_VERSION = frozenset({"--version", "-V", "-version"})


@visit(cst.Call, order=32)
def port_call(module: Module, node: cst.Call) -> None:
    """`subprocess.run(["nvcc", ...])`, `os.system("nvcc ...")`, `shutil.which("nvcc")`."""
    if not isinstance(node.func, (cst.Attribute, cst.Name)) or not node.args:
        return
    if not isinstance(node.func, cst.Name) and name_of(node.func) not in _LAST:
        return
    if module.one_of(node.func, _LOOK_UP):
        _port_program(module, node.args[0].value)
    elif full := module.one_of(node.func, _RUN):
        named = (arg.value for arg in node.args if arg.keyword is not None and arg.keyword.value in ("args", "cmd"))
        command = node.args[0].value if node.args[0].keyword is None else next(named, None)
        if command is not None and (full.endswith("create_subprocess_exec") or full.startswith("os.exec")):
            _port_program(module, command)
        elif command is not None:
            _port_command(module, command)


def _port_command(module: Module, command: cst.BaseExpression) -> None:
    parts = list(flow(module).sequences(command))
    lists = [part for part in parts if isinstance(part, (cst.List, cst.Tuple)) and part.elements]
    if lists and lists[0] is parts[0]:
        _port_list(module, command, [element.value for element in lists[0].elements])
        return
    for value in flow(module).values(command):
        _port_text(module, _unsplit(value))
    for part in parts:
        _report_rest(module, part)


def _port_list(module: Module, command: cst.BaseExpression, words: list[cst.BaseExpression]) -> None:
    """A command as a list of words."""
    if posixpath.basename(plain(words[0])) in _SHELLS:
        for before, script in pairwise(words):
            if plain(before).startswith("-") and plain(before).endswith("c"):
                _port_text(module, script)
        return
    start = 0
    while start + 1 < len(words) and plain(words[start]) in _WRAPPERS:
        start += 1
    if not _port_program(module, words[start]) or start:
        return
    for element in flow(module).elements(command):
        if plain(element) in _VERSION:
            _say_version(module, element)
        if isinstance(element, (cst.SimpleString, cst.FormattedString)):
            port_literal(module, element)
    flag_lists.port(module, command, flag_lists.Kind(), first=start + 1)


def _port_program(module: Module, node: cst.BaseExpression) -> bool:
    """A word that names a program; whether it is nvcc."""
    is_compiler = False
    for value in flow(module).values(node):
        literal = last(value)
        name = posixpath.basename(word(literal))
        if name == "nvcc":
            is_compiler = True
            _rename(module, literal)
        elif flags.tool(name) is not None:
            _report_tool(module, literal, name)
        elif _LOOKS_LIKE_TOOL.fullmatch(name):
            message = f"{name} is left; no counterpart of it is known"
            module.report(literal, "toolkit-program", message, name=name, once=name)
    return is_compiler


def _rename(module: Module, node: cst.BaseExpression) -> None:
    """The word at the end of a literal."""
    final = node.parts[-1] if isinstance(node, cst.FormattedString) else node
    text = text_of(module, final) if isinstance(final, cst.SimpleString) else None
    end = module.span(final)[1] if text is None else place(module, text, 0)[1]
    _edit(module, node, end - len("nvcc"), end)
    module.claim(node)


def _edit(module: Module, node: cst.BaseExpression, start: int, end: int) -> None:
    row = flags.tool("nvcc")
    if row is None or not row.supported or not module.draft.names.allowed(row) or module.draft.is_claimed(start):
        return
    module.edit(start, end, row.musa, "toolkit-program", row.confidence, musa=False)
    message = f"nvcc became {row.musa}: {row.note}"
    module.report(node, "toolkit-program", message, new=row.musa, name="nvcc", once="nvcc")


def _say_version(module: Module, node: cst.BaseExpression) -> None:
    message = "what mcc prints about its version differs from what nvcc prints"
    module.report(node, "toolkit-program", message, name="nvcc", once="version")


def _report_tool(module: Module, node: cst.BaseExpression, name: str) -> None:
    row = flags.tool(name)
    if row is None or is_decided(module, node):
        return
    note = f": {row.note}" if row.note else ""
    target = f"its nearest counterpart is {row.musa}" if row.musa else "it has no counterpart"
    module.claim(node)
    module.report(node, "toolkit-program", f"{name} is left; {target}{note}", name=name, once=name)


# ---- commands as text -------------------------------------------------------------------------------------------


def _unsplit(node: cst.BaseExpression) -> cst.BaseExpression:
    """The text of `shlex.split("nvcc -G")` and `"nvcc -G".split()`."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "split":
        return node.args[0].value if node.args else node.func.value
    return node


def _port_text(module: Module, node: cst.BaseExpression) -> None:
    """A command as text: a script of the shell, which the rules of that language decide."""
    text = fragment(module, node)
    if text is None:
        _report_unread(module, node)
    elif not any(module.draft.is_claimed(place) for place in (*text.at[:1], *text.at[-1:])):
        shell.script(text)
        for name, start, end in _programs(text.text):
            if not _is_decided(text, start, end):
                message = f"{name} is left: it is not clear what the shell does with it"
                text.report("toolkit-program", start, end, message, name=name, once=name)
        for literal in _literals(node):
            module.claim(literal)


def _programs(text: str) -> Iterator[tuple[str, int, int]]:
    """The programs of the toolkit among the words of a text, and where they stand."""
    for match in _SHELL_WORD.finditer(text):
        name = match.group(1)
        if name == "nvcc" or flags.tool(name) is not None or _LOOKS_LIKE_TOOL.fullmatch(name):
            yield name, *match.span(1)


def _report_unread(module: Module, node: cst.BaseExpression) -> None:
    """A text that is put together in a way that cannot be followed."""
    for literal in _literals(node):
        for name, _, _ in _programs(module.code(literal).strip("rRfFbB\"'")):
            message = f"{name} and its flags are left: the command is put together from parts"
            module.report(literal, "toolkit-program", message, name=name, once=name)


def _is_decided(text: Fragment, start: int, end: int) -> bool:
    """Whether the rules of the shell have changed or reported a word."""
    begin, _ = text.place(start, end)
    position = text.draft.lines.position(begin)
    return text.draft.is_claimed(begin) or any(
        (finding.line, finding.column) == position for finding in text.draft.findings
    )


def _literals(node: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """The literal texts of an expression."""
    for found in (node, *(below for below, _ in walk(node))):
        if isinstance(found, (cst.SimpleString, cst.FormattedStringText)):
            yield found


def _report_rest(module: Module, part: cst.BaseExpression) -> None:
    """A text that is added to a command elsewhere, with flags of nvcc in it."""
    text = fragment(module, part)
    if text is None or any(map(module.draft.is_claimed, text.at)):
        return
    found = flags.translate(text.text.split(), module.options.arch)
    if any(list(entry.new) != text.text.split()[entry.start : entry.start + entry.count] for entry in found):
        module.report(part, "toolkit-program", "the flags in this part of a command are left", name="nvcc")


# ---- what is left -----------------------------------------------------------------------------------------------


@visit(cst.SimpleString, order=80)
def report_name(module: Module, node: cst.SimpleString) -> None:
    """The name of a tool in any other place."""
    name = posixpath.basename(plain(node))
    if not name or flags.tool(name) is None or UNKNOWN in name:
        return
    if not is_decided(module, node) and not is_docstring(module, node) and not is_message(module, node):
        message = f"{name} is left: nothing in this file shows that the string is a program to run"
        module.report(node, "toolkit-program", message, severity=Severity.INFO, name=name, once=name)
