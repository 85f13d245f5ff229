"""What a command of a script does, by its words: dispatches to the rules.

The words come without their quotes, from a script or from a list of words in JSON or YAML.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from musa_port import flags
from musa_port.build import (
    compiler,
    definitions,
    distributions,
    environment,
    images,
    packages,
    program_options,
    toolkit,
    tools,
    values,
)
from musa_port.build.fragment import Fragment

#: Programs that run the program that follows.
_WRAPPERS = frozenset(
    "sudo env time nohup exec command builtin nice ionice stdbuf timeout xargs srun mpirun mpiexec numactl taskset "
    "strace gdb uv run poetry conda ccache sccache distcc nsys ncu nvprof compute-sanitizer cuda-gdb cuda-memcheck "
    "retry then xvfb-run tini dumb-init setpriv gosu chroot".split()
)
#: Programs whose words are text for people.
PRINTING = frozenset("echo printf print die log info warn warning error fail abort usage".split())
#: Programs that arrange files: their paths say where something is, not what is used.
_ARRANGING = frozenset(
    "ln rm mv cp mkdir rmdir tar unzip install rsync scp chown chmod grep sed awk perl patch".split()
)
_DECLARING = frozenset("export declare typeset local readonly".split())
_LOOKING_UP = frozenset("command which type hash whereis".split())
_HOST_COMPILERS = re.compile(
    r"(?:\S*/)?(?:[\w.-]+-)?(?:g\+\+|gcc|clang\+\+|clang|c\+\+|cc|ld|icpx|\$\{?(?:CXX|CC|LD)\}?)(?:-\d+)?"
)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.S)
_CONTAINERS = frozenset("docker podman nerdctl nvidia-docker buildah".split())


def decide(words: Sequence[Fragment], *, exec_form: bool = False) -> None:
    """Every rule for one command. In exec form words stand in a list and cannot be dropped."""
    if not words:
        return
    program = posixpath.basename(words[0].text)
    if program in PRINTING:
        return
    for word in words:
        compiler.source(word)
        toolkit.paths(word, keep=program in _ARRANGING)
    if program == "unset" or program in _DECLARING:
        declared(words[1:], program)
        return
    _program(words, exec_form)
    if program in _WRAPPERS:
        _wrapped(words, exec_form)


def _wrapped(words: Sequence[Fragment], exec_form: bool) -> None:
    """The program that a wrapper runs, and the variables that it sets."""
    for index, word in enumerate(words[1:], 1):
        if _ASSIGNMENT.fullmatch(word.text):
            assignment(word, exported=True)
        elif word.text in ("-u", "--unset", "-x", "-genv") and index + 1 < len(words):
            passed(words[index + 1])
        elif _is_program(word):
            _program(words[index:], exec_form)
            return


def _is_program(word: Fragment) -> bool:
    name = posixpath.basename(word.text)
    return (
        name in ("nvcc", "pip", "pip3", "cmake", "make")
        or name in packages.INSTALLERS
        or name in _CONTAINERS
        or program_options.is_python(word)
        or flags.tool(name) is not None
        or _HOST_COMPILERS.fullmatch(word.text) is not None
    )


def _program(words: Sequence[Fragment], exec_form: bool) -> None:
    head, rest = words[0], words[1:]
    name = posixpath.basename(head.text)
    tools.report(head)
    if _calls(head, "nvcc"):
        _compile(head, rest, exec_form)
    elif name in _HANDLERS:
        _HANDLERS[name](rest)
    elif _installs_python(name, rest):
        distributions.command(rest)
    elif _HOST_COMPILERS.fullmatch(head.text):
        compiler.options(rest, host=True, fixed=exec_form)
    elif any(program_options.is_python(word) for word in words) and not _calls(head, "mcc"):
        program_options.decide(rest)
    elif name not in _WRAPPERS:
        program_options.left(rest)


def _calls(head: Fragment, name: str) -> bool:
    """Whether a word calls the compiler, by its name or by the variable that is named after it."""
    variable = re.match(rf"\$\{{?(?:CUDA_)?{name.upper()}\b", head.text)
    return posixpath.basename(head.text) == name or variable is not None


def _installs_python(name: str, rest: Sequence[Fragment]) -> bool:
    """`pip install`, `python -m pip install`, `uv pip install`, `uv add`."""
    texts = [word.text for word in rest[:4]]
    if re.fullmatch(r"pip[\d.]*|\$\{?PIP3?\}?", name):
        return bool({"install", "download", "wheel"} & set(texts))
    if name == "uv":
        return texts[:2] == ["pip", "install"] or texts[:1] == ["add"]
    return texts[:2] == ["-m", "pip"] and "install" in texts


def _look_up(words: Sequence[Fragment]) -> None:
    for word in words:
        if word.text == "nvcc":
            compiler.rename(word)
        else:
            tools.report(word)


def _test(words: Sequence[Fragment]) -> None:
    """`[ -v NAME ]`, the one test that takes the name of a variable."""
    for before, word in pairwise(words):
        if before.text == "-v":
            environment.rename(word)


def _compile(head: Fragment, rest: Sequence[Fragment], exec_form: bool) -> None:
    if head.text == "nvcc":
        compiler.rename(head)
    compiler.version(rest)
    for word in rest:
        compiler.kept_source(word)
    compiler.options(rest, fixed=exec_form)


def _read(words: Sequence[Fragment]) -> None:
    """Commands whose words are names of variables: printenv, read."""
    declared(words, "read")


def _make(words: Sequence[Fragment]) -> None:
    """Variables for make: environment names are the same there."""
    for word in words:
        assignment(word, exported=True)


def _find(words: Sequence[Fragment]) -> None:
    """`find … -exec PROGRAM … ;`."""
    for index, word in enumerate(words[:-1]):
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            _program(words[index + 1 :], False)


def _container(words: Sequence[Fragment]) -> None:
    """docker run, docker build and their relatives."""
    starts = any(word.text in ("run", "pull", "create") for word in words[:3])
    for index, word in enumerate(words):
        before = words[index - 1].text if index else ""
        text = word.text
        if text.startswith(("--gpus", "--runtime=nvidia", "--device=nvidia.com/gpu")) or (
            before == "--runtime" and text == "nvidia"
        ):
            images.gpu(word, f"{text} asks for GPUs of NVIDIA")
        elif before in ("-e", "--env", "--build-arg"):
            passed(word)
        elif match := re.fullmatch(r"(?:-e|--env=|--build-arg=)(\w+(?:=.*)?)", text, re.S):
            passed(word.part(*match.span(1)))
        elif starts and not text.startswith("-"):
            images.image(word)
            tools.report(word)


def declared(words: Sequence[Fragment], program: str = "export") -> None:
    """The words of export, declare, local, readonly and unset."""
    for word in words:
        if not assignment(word, exported=program == "export") and re.fullmatch(r"[A-Za-z_]\w*", word.text):
            environment.rename(word, exported=program == "export")


def passed(word: Fragment) -> None:
    """A variable that is handed on: `NAME` or `NAME=VALUE`."""
    if not assignment(word, exported=True):
        environment.rename(word, exported=True)


def assignment(word: Fragment, *, exported: bool) -> bool:
    """A word `NAME=VALUE`; whether it is one."""
    match = _ASSIGNMENT.fullmatch(word.text)
    if match is None:
        return False
    values.translate(word.part(*match.span(2)), match.group(1))
    environment.rename(word.part(*match.span(1)), exported=exported)
    return True


_HANDLERS: dict[str, Callable[[Sequence[Fragment]], None]] = {
    **dict.fromkeys(_LOOKING_UP, _look_up),
    **dict.fromkeys(("printenv", "read", "mapfile", "readarray"), _read),
    **dict.fromkeys(("[", "test"), _test),
    **dict.fromkeys(_CONTAINERS, _container),
    **dict.fromkeys(("make", "gmake", "ninja"), _make),
    **dict.fromkeys(packages.INSTALLERS, packages.installed),
    **dict.fromkeys(packages.MODULES, packages.modules),
    **dict.fromkeys(packages.DOWNLOADERS, packages.downloaded),
    "cmake": definitions.decide,
    "find": _find,
}
