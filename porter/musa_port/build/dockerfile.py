"""Dockerfiles: base images, variables, and the commands that build and start an image."""

from __future__ import annotations

import json
import posixpath
import re

from musa_port.build import commands, compiler, environment, images, packages, python_text, shell, toolkit, traces, values
from musa_port.build.dockerfile_syntax import Instruction, instructions
from musa_port.build.fragment import Fragment
from musa_port.build.quoting import align
from musa_port.build.shell_commands import plain
from musa_port.build.shell_syntax import lex
from musa_port.draft import Draft
from musa_port.languages import Language, register
from musa_port.model import Severity
from musa_port.rules import Rule
from musa_port.rules import register as register_rule

OTHER_SHELL = register_rule(
    Rule(
        "B53",
        "other-shell",
        Severity.INFO,
        "Leaves commands that are not for a POSIX shell: PowerShell, cmd, Perl.",
        why="Their quoting differs, so that a name cannot be told from text.",
        example=(
            'SHELL ["powershell"]\nRUN $env:CUDA_HOME = "C:/cuda"',
            'SHELL ["powershell"]\nRUN $env:CUDA_HOME = "C:/cuda"',
        ),
        advice="Port the commands by hand.",
    )
)

_FLAGS = re.compile(r"(?:\s|\\\r?\n)*(?:--[a-z][\w-]*(?:=\S+)?(?:[ \t]|\\\r?\n)+)*")
_ESCAPE = re.compile(r"(?:#[^\n]*\n)*?#[ \t]*escape[ \t]*=[ \t]*`", re.I)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_OLD_ENV = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]*)[ \t]+(.*?)\s*", re.S)
_POSIX = re.compile(r"(?:.*/)?(?:ba|da|z|k)?sh|(?:.*/)?env")


def port(draft: Draft) -> None:
    """Decide a Dockerfile."""
    whole = Fragment.of_file(draft)
    if match := _ESCAPE.match(whole.text):
        whole.report("other-shell", *match.span(), "a Dockerfile for Windows is left")
        return
    posix = True
    for instruction in instructions(whole):
        if instruction.keyword == "SHELL":
            items = exec_form(instruction.body)
            posix = not items or _POSIX.fullmatch(items[0].text) is not None
            if not posix:
                instruction.body.report(
                    "other-shell", 0, len(instruction.body.text), "the commands that follow are left"
                )
        else:
            _instruction(instruction, posix)


def _instruction(instruction: Instruction, posix: bool) -> None:
    keyword, body = instruction
    if keyword == "ONBUILD" and (match := re.match(r"\s*(\w+)", body.text)):
        _instruction(Instruction(match.group(1).upper(), body.part(match.end(), len(body.text))), posix)
    elif keyword in ("RUN", "CMD", "ENTRYPOINT"):
        if posix:
            _command(body)
    elif keyword == "HEALTHCHECK":
        if match := re.search(r"\bCMD\b", body.text):
            _command(body.part(match.end(), len(body.text)))
    elif keyword not in ("MAINTAINER", "EXPOSE", "STOPSIGNAL"):
        shell.expansions(body)
        _plain(keyword, body)


def _command(body: Fragment) -> None:
    """What RUN, CMD or ENTRYPOINT runs: a list of words, a script, or a here-document that is a script."""
    match = _FLAGS.match(body.text)
    body = body.part(match.end() if match else 0, len(body.text))
    if items := exec_form(body):
        shell.words(items)
        return
    nodes = lex(body.text)
    if nodes and nodes[0].kind == "operator" and body.text.startswith("<<"):
        for node in nodes:
            if node.kind == "heredoc":
                _script(body.part(node.children[0].start, node.children[0].end))
    else:
        shell.script(body)


def _script(text: Fragment) -> None:
    first = text.text.partition("\n")[0]
    if first.startswith("#!") and re.search(r"\bpython", first):
        python_text.decide(text)
    elif first.startswith("#!") and not re.search(r"sh\b", first):
        text.report("other-shell", 0, len(first), f"a script for {first[2:].strip()} is left")
    else:
        shell.script(text)


def exec_form(body: Fragment) -> list[Fragment]:
    """The words of a JSON list of strings; none when the text is something else."""
    text = body.text.strip()
    if not text.startswith("["):
        return []
    try:
        listed = json.loads(text)
    except ValueError:
        return []
    places = list(_STRING.finditer(body.text))
    if not all(isinstance(item, str) for item in listed) or len(places) != len(listed):
        return []
    found = (align(item, body.part(*place.span(1)), escapes=True) for item, place in zip(listed, places, strict=True))
    return [item for item in found if item is not None]


def _plain(keyword: str, body: Fragment) -> None:
    """The instructions that are no commands."""
    words = [plain(body, node) for node in lex(body.text) if node.kind == "word"]
    words = [word for word in words if not re.match(r"--[a-z]", word.text)]
    if keyword == "FROM" and words:
        images.image(words[0])
    elif keyword == "ARG":
        commands.declared(words)
    elif keyword == "ENV" and words:
        _environment(words, body)
    elif keyword in ("COPY", "ADD"):
        _copied(words, body)
    elif keyword in ("WORKDIR", "VOLUME", "USER"):
        for word in words:
            toolkit.paths(word)


def _environment(words: list[Fragment], body: Fragment) -> None:
    """`ENV A=b C=d`, or the old `ENV A b`."""
    if "=" in words[0].text:
        commands.declared(words)
        return
    if match := _OLD_ENV.fullmatch(body.text):
        values.translate(body.part(*match.span(2)), match.group(1))
        environment.rename(body.part(*match.span(1)), exported=True)


def _copied(words: list[Fragment], body: Fragment) -> None:
    for word in words:
        compiler.source(word)
        toolkit.paths(word, keep=True)
        packages.download(word)
    target = words[-1].text if words else ""
    for node in lex(body.text):
        if node.kind == "heredoc" and shell.is_shell_file(posixpath.basename(target) or target):
            shell.script(body.part(node.children[0].start, node.children[0].end))


DOCKERFILE = register(
    Language(
        "dockerfile",
        "shell",
        ("Dockerfile", "Dockerfile[._-]*", "*.Dockerfile", "*.dockerfile", "Containerfile", "Containerfile[._-]*"),
        port,
        traces=traces.found,
    )
)
