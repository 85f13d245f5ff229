"""Programs of the toolkit that a program runs: nvcc, nvidia-smi and their relatives."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

import libcst as cst

from musa_port import flags, renames
from musa_port.model import Severity
from musa_port.python import flag_lists
from musa_port.python.flow import flow
from musa_port.python.joined import last, name_of
from musa_port.python.literals import Text, is_docstring, plain, text_of
from musa_port.python.messages import is_message
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.rules.extension_sources import port_literal
from musa_port.python.words import UNKNOWN, is_decided, place, word
from musa_port.rules import Rule, register

PROGRAM = register(
    Rule(
        "P26",
        "toolkit-program",
        Severity.WARNING,
        "Calls mcc where a program calls nvcc, with its flags by table; reports nvidia-smi and the other tools.",
        why="mcc and mthreads-gmi print something else than nvcc and nvidia-smi: code that reads it must change.",
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
_SHELL_WORD = r"(?:^|(?<=[\s;&|(`/]))({})(?=$|[\s;&|)`])"
_SIMPLE = re.compile(r"[^\"'`$;&|<>()\\]*")
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
    for part in parts:
        for value in [part] if isinstance(part, cst.FormattedString) else flow(module).values(part):
            for text in _texts(value):
                _port_text(module, text)


def _port_list(module: Module, command: cst.BaseExpression, words: list[cst.BaseExpression]) -> None:
    """A command as a list of words."""
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
    note = f": {row.note}" if row.note not in ("", "tool") else ""
    target = f"its nearest counterpart is {row.musa}" if row.musa else "it has no counterpart"
    module.claim(node)
    module.report(node, "toolkit-program", f"{name} is left; {target}{note}", name=name, once=name)


# ---- commands as text -------------------------------------------------------------------------------------------


def _texts(node: cst.BaseExpression) -> Iterator[cst.SimpleString | cst.FormattedStringText]:
    """The literal texts of a shell command."""
    if isinstance(node, cst.SimpleString):
        yield node
    elif isinstance(node, cst.FormattedString):
        yield from (part for part in node.parts if isinstance(part, cst.FormattedStringText))
    elif isinstance(node, (cst.ConcatenatedString, cst.BinaryOperation)):
        yield from _texts(node.left)
        yield from _texts(node.right)
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):  # .format(...), shlex.split(...)
        yield from _texts(node.func.value)
        yield from (found for arg in node.args if node.func.attr.value == "split" for found in _texts(arg.value))


def _port_text(module: Module, node: cst.SimpleString | cst.FormattedStringText) -> None:
    if isinstance(node, cst.SimpleString):
        text = text_of(module, node) or Text("", 0)
    else:
        text = Text(node.value, module.span(node)[0])
    value = text.value
    owner = node if isinstance(node, cst.SimpleString) else module.parent(node)
    assert isinstance(owner, (cst.SimpleString, cst.FormattedString))
    for match in re.finditer(_SHELL_WORD.format("[\\w-]+"), value):
        begin, end = place(module, text, *match.span(1))
        if match.group(1) == "nvcc":
            _edit(module, owner, begin, end)
        elif flags.tool(match.group(1)) is not None:
            _report_tool(module, owner, match.group(1))
    words = value.split()
    if words and posixpath.basename(words[0]) == "nvcc":
        _port_rest(module, owner, value, words)
        module.claim(node)


def _port_rest(module: Module, node: cst.BaseExpression, value: str, words: list[str]) -> None:
    """The flags of a command that begins with nvcc."""
    for text in words[1:]:
        if text in _VERSION:
            _say_version(module, node)
    if isinstance(node, cst.SimpleString) and _SIMPLE.fullmatch(value):
        _port_sources(module, node, value)
        flag_lists.port_text(module, node, flag_lists.Kind(), start=value.index(words[0]) + len(words[0]))
    elif len(words) > 1:
        module.report(node, "toolkit-program", "the flags in this command are left", once=f"{module.span(node)[0]}")


def _port_sources(module: Module, node: cst.SimpleString, value: str) -> None:
    text = text_of(module, node)
    for match in re.finditer(r"\S+", value) if text is not None else ():
        new = renames.new_name(module.draft.index, module.draft.path, match.group())
        if text is not None and new is not None and new != match.group():
            module.edit(*place(module, text, *match.span()), new, "extension-sources", musa=False)


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
