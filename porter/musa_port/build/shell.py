"""Shell scripts, and the scripts that images and workflows hold."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from musa_port import flags
from musa_port.build import commands, compiler, environment, program_options, python_text, shell_suffixes, toolkit, traces, values
from musa_port.build.fragment import Fragment
from musa_port.build.shell_commands import ASSIGNMENT, Command, plain
from musa_port.build.shell_commands import commands as commands_of
from musa_port.build.shell_syntax import Node, lex
from musa_port.draft import Draft
from musa_port.languages import Language, register
from musa_port.model import Severity
from musa_port.rules import Rule
from musa_port.rules import register as register_rule

TEXT = register_rule(
    Rule(
        "B49",
        "name-in-script-text",
        Severity.INFO,
        "Lists environment names in the text of a script: messages, patterns, commands in variables, other languages.",
        why="Text is read by people and by other programs; only the places where the shell reads a name are certain. "
        "Text that seems to set a variable is a warning.",
        example=('echo "CUDA_HOME is not set"', 'echo "CUDA_HOME is not set"'),
        advice="Change it when a program reads the name from this text.",
    )
)

#: Files that shells read, and files of a workflow that hold assignments.
_SHELL_FILE = re.compile(
    r"(?:.*/)?(?:[\w.-]+\.(?:sh|bash|zsh|env|conf)|\.?(?:bash|zsh)?rc|\.?(?:bash_|z)?profile|environment|\.env)"
)
_WORKFLOW_FILE = re.compile(r"\$\{?GITHUB_(?:ENV|PATH)\}?")
_SHELLS = frozenset("sh bash zsh dash ksh".split())
_REMOTE = frozenset("ssh sbatch salloc".split())
_OTHER_LANGUAGES = re.compile(r"(?:python|perl|ruby|node)[\d.]*")
_DEFAULT = re.compile(r":?[-=+]\s*([\"']?)(.*?)\1", re.S)
_NAME = re.compile(r"(?<!\w)[A-Z][A-Z0-9_]{3,}(?!\w)")
#: Scripts in scripts deeper than this are text.
_DEPTH = 5


def port(draft: Draft) -> None:
    """Decide a shell script."""
    whole = Fragment.of_file(draft)
    start = 3 if whole.text.startswith("\xef\xbb\xbf") else 0
    script(whole.part(start, len(whole.text)))


def script(text: Fragment, depth: int = 0) -> None:
    """Decide a script, wherever it stands."""
    nodes = lex(text.text)
    for node in nodes:
        for inner in node.walk():
            if inner.kind == "variable":
                _variable(text, inner)
    found = list(commands_of(text.text, nodes))
    for command in found:
        _Decision(text, command, depth).run()
    shell_suffixes.decide(text, nodes, found)
    for node in nodes:
        if node.kind == "word":
            _list_names(text, node.start, node.end)


def words(items: Sequence[Fragment], depth: int = 0) -> None:
    """Decide a command that is given as a list of words."""
    inner = _scripts(items)
    for text in inner:
        script(text, depth + 1)
    for text in python_text.code_words(items):
        python_text.decide(text)
    commands.decide([word for word in items if not any(word is text for text in inner)], exec_form=True)


def expansions(text: Fragment) -> None:
    """Rename the variables that a text expands."""
    for node in lex(text.text):
        for inner in node.walk():
            if inner.kind == "variable":
                _variable(text, inner)


def _variable(text: Fragment, node: Node) -> None:
    """An expansion: its name, and the default that it gives."""
    if not node.children or node.children[0].kind != "name":
        return
    name = node.children[0]
    if text.text[node.start : node.start + 2] == "${":
        default = text.part(name.end, node.end - 1)
        if match := _DEFAULT.fullmatch(default.text):
            _default(default.part(*match.span(2)), text.text[name.start : name.end])
    environment.rename(text.part(name.start, name.end))


def _default(value: Fragment, name: str) -> None:
    if name in values.ARCHITECTURES:
        values.translate(value, name)
    elif value.text == "nvcc":
        compiler.rename(value)
    else:
        toolkit.paths(value, root=name in toolkit.ROOTS)


class _Decision:
    """One command of a script."""

    def __init__(self, text: Fragment, command: Command, depth: int) -> None:
        self._text = text
        self._command = command
        self._depth = depth
        self._words = [plain(text, word) for word in command.words]

    def run(self) -> None:
        command = self._command
        for word in command.assignments:
            self._assignment(word, exported=bool(command.words))
        for _, target in command.redirects:
            toolkit.paths(plain(self._text, target))
        if command.keyword == "":
            self._simple()
        elif command.keyword == "for":
            self._loop()
        elif command.keyword == "array" and any(flags.is_for_nvcc(text.text) for text in self._words):
            compiler.options(self._words)
        elif command.keyword in ("[[", "array"):
            for text in self._words:
                toolkit.paths(text)
                compiler.source(text)
            program_options.left(self._words)
        for heredoc in command.heredocs:
            self._heredoc(heredoc)

    def _assignment(self, word: Node, exported: bool) -> None:
        match = ASSIGNMENT.match(self._text.text, word.start, word.end)
        if match is None:
            return
        name = match.group(1)
        value = plain(self._text, word)
        values.translate(value.part(value.text.index("=") + 1, len(value.text)), name)
        environment.rename(self._text.part(*match.span(1)), exported=exported)

    def _loop(self) -> None:
        if self._words and re.fullmatch(r"[A-Za-z_]\w*", self._words[0].text):
            environment.rename(self._words[0])
        for word in self._words[1:]:
            compiler.source(word)

    def _simple(self) -> None:
        if self._words and posixpath.basename(self._words[0].text) in commands.PRINTING:
            if self._writes(is_shell_file) and self._depth < _DEPTH:
                for word in self._words[1:]:
                    script(word, self._depth + 1)
            return
        inner = _scripts(self._words) if self._depth < _DEPTH else []
        for text in inner:
            script(text, self._depth + 1)
        for text in python_text.code_words(self._words):
            python_text.decide(text)
        commands.decide([word for word in self._words if not any(word is text for text in inner)])

    def _writes(self, test: Callable[[str], bool]) -> bool:
        """Whether the output goes to a file whose name passes the test."""
        return any(
            operator in (">", ">>", ">|") and test(plain(self._text, target).text)
            for operator, target in self._command.redirects
        )

    def _heredoc(self, node: Node) -> None:
        body = node.children[0]
        programs = {posixpath.basename(word.text) for word in self._words}
        if self._depth < _DEPTH and (programs & (_SHELLS | _REMOTE) or self._goes_to_shell()):
            script(self._text.part(body.start, body.end), self._depth + 1)
            return
        if any(map(program_options.is_python, self._words)) or self._writes(python_text.is_python_file):
            python_text.decide(self._text.part(body.start, body.end))
        other = any(_OTHER_LANGUAGES.fullmatch(program) for program in programs)
        _list_names(self._text, body.start, body.end, Severity.WARNING if other else Severity.INFO)

    def _goes_to_shell(self) -> bool:
        tee = bool(self._words) and self._words[0].text in ("tee", "sudo")
        return self._writes(is_shell_file) or (tee and any(is_shell_file(word.text) for word in self._words))


def is_shell_file(name: str) -> bool:
    """Whether a shell reads the file of this name, or a workflow takes variables from it."""
    return _SHELL_FILE.fullmatch(name) is not None or _WORKFLOW_FILE.fullmatch(name) is not None


def _scripts(items: Sequence[Fragment]) -> list[Fragment]:
    """The words of a command that are scripts themselves: of `bash -c`, `eval`, `trap`, `ssh`."""
    found: list[Fragment] = []
    programs = [posixpath.basename(item.text) for item in items]
    if not items:
        return found
    if programs[0] == "eval":
        found += items[1:]
    elif programs[0] == "trap":
        found += items[1:2]
    elif programs[0] == "ssh":
        found += [item for item in items[1:] if " " in item.text]
    for index, item in enumerate(items[:-1]):
        if re.fullmatch(r"-[a-z]*c", item.text) and (index == 0 or _SHELLS & set(programs[:index])):
            found.append(items[index + 1])
    return found


def _list_names(text: Fragment, start: int, end: int, severity: Severity = Severity.INFO) -> None:
    """Report the environment names in a stretch that nothing decided."""
    draft = text.draft
    for match in _NAME.finditer(text.text, start, end):
        name = match.group()
        if draft.is_claimed(text.place(*match.span())[0]) or not environment.row_for(draft, name):
            continue
        sets = text.text.startswith("=", match.end())
        text.report(
            "name-in-script-text",
            *match.span(),
            f"{name} in text is left as it is",
            severity=Severity.WARNING if sets else severity,
            name=name,
            once=f"{name}{sets}",
        )


SHELL = register(
    Language(
        "shell",
        "shell",
        ("*.sh", "*.bash", "*.zsh", "*.ksh", "*.sbatch", "*.slurm", ".envrc", ".bashrc", ".zshrc", ".profile"),
        port,
        interpreter=r"(?:env +)?(?:ba|z|k|da)?sh",
        traces=traces.found,
    )
)
