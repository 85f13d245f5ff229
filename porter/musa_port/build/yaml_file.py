"""YAML of workflows, compose files and clusters: environment blocks, scripts, images. Other values are left."""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml

from musa_port.build import compiler, configuration, distributions, environment, images, packages, python_text, shell, traces, values
from musa_port.build.fragment import Fragment
from musa_port.build.yaml_text import Document, NotYaml
from musa_port.draft import Draft
from musa_port.languages import Language, register
from musa_port.model import Severity
from musa_port.rules import Rule
from musa_port.rules import register as register_rule

NOT_YAML = register_rule(
    Rule(
        "B60",
        "not-yaml",
        Severity.INFO,
        "Leaves a file that has the name of YAML and is none, such as a template.",
        why="Without its structure an environment block cannot be told from text.",
        example=("{% if gpu %}\nenv: {CUDA_HOME: x}", "{% if gpu %}\nenv: {CUDA_HOME: x}"),
        advice="Port the file by hand.",
    )
)
ACTION = register_rule(
    Rule(
        "B62",
        "workflow-action",
        Severity.WARNING,
        "Reports actions of a workflow that install CUDA.",
        example=("uses: Jimver/cuda-toolkit@v0.2.16", "uses: Jimver/cuda-toolkit@v0.2.16"),
        advice="Install the MUSA SDK in a step of its own, or run the job in an image that holds it.",
    )
)

_ENVIRONMENT = frozenset("env environment variables envs env_vars environment_variables build_args".split())
_SCRIPTS = frozenset("run script before_script after_script commands before_install install after_success".split())
_COMMANDS = frozenset("command args entrypoint cmd".split())
_IMAGES = frozenset("image container base_image docker_image".split())
_NAMED = re.compile(r"([A-Za-z_]\w*)(=.*)?", re.S)
_LINES = re.compile(r"(?:[A-Za-z_]\w*=[^\n]*\n?|\s+)+")
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.S)
#: How pods and pipelines name a variable: `$(CUDA_HOME)`.
_REFERENCE = re.compile(r"\$\(([A-Za-z_]\w*)\)")
_CONTEXT = re.compile(r"\benv\.([A-Za-z_]\w*)")
#: Lists of scripts that are nested deeper than this hold themselves.
_DEPTH = 8
_LEFT = "a requirement in YAML is left"


def port(draft: Draft) -> None:
    """Decide a YAML file."""
    try:
        document = Document(draft)
    except NotYaml as error:
        draft.report("not-yaml", error.place, error.place, f"this is no YAML: {error}")
        return
    for node in document.nodes:
        _Visitor(document, node).visit(node)


class _Visitor:
    """Walks one document. Methods take nodes; what they decide are the fragments of scalars."""

    def __init__(self, document: Document, root: yaml.Node) -> None:
        self._document = document
        self._seen: set[int] = set()
        self._is_compose = _value(root, "services") is not None

    # ---- walking ----------------------------------------------------------------------------------------------

    def visit(self, node: yaml.Node, key: str = "") -> None:
        """A node, and what its key is."""
        if id(node) in self._seen:
            return
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                self._pair(node, name, value)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self.visit(item, key)
        elif isinstance(node, yaml.ScalarNode):
            self._scalar(node, key)

    def _pair(self, mapping: yaml.MappingNode, name: yaml.Node, value: yaml.Node) -> None:
        key = name.value if isinstance(name, yaml.ScalarNode) else ""
        if key.startswith("nvidia.com/"):
            self._report_gpu(name, f"{key} is a resource of NVIDIA")
        if key in _ENVIRONMENT or (key == "args" and isinstance(value, yaml.MappingNode)):
            self._environment(value)
        elif key in _SCRIPTS:
            self._scripts(value, mapping)
        elif key in _COMMANDS:
            self._command(value)
        elif key == "dependencies" and isinstance(value, yaml.SequenceNode):
            self._packages(value)
        elif key == "build-args" and isinstance(value, yaml.ScalarNode):
            self._assignments(value)
        else:
            self.visit(value, key)

    def _scalar(self, node: yaml.ScalarNode, key: str) -> None:
        """A value that is in no block of a known kind."""
        text = self._text(node)
        if text is None or not text.text:
            return
        if self._is_compose or key == "if":
            shell.expansions(text)
        if key == "if":
            self._context(text, 0, len(text.text))
        compiler.source(text)
        if key in _IMAGES or (key == "name" and images.is_known(text.text)):
            images.image(text)
        elif key == "uses" and re.search(r"cuda|nvidia", text.text, re.I):
            text.report("workflow-action", 0, len(text.text), f"{text.text} installs CUDA", name=text.text)
        elif (key in ("runtime", "driver", "runtimeClassName", "gpus") and re.match(r"nvidia|all", text.text)) or (
            text.text.startswith("nvidia.com/")
        ):
            images.gpu(text, f"{key}: {text.text} asks for GPUs of NVIDIA")
        elif key == "options" and re.search(r"--gpus\b|--runtime[= ]nvidia\b", text.text):
            images.gpu(text, "the options of the container ask for GPUs of NVIDIA")
        elif key == "channels" and text.text == "nvidia":
            packages.package(text)
        else:
            configuration.value(key, text)

    def _text(self, node: yaml.Node) -> Fragment | None:
        """The text of a scalar. Names in its workflow expressions are renamed, then the expressions are masked."""
        if not isinstance(node, yaml.ScalarNode):
            return None
        text = self._document.fragment(node)
        if text is None:
            return None
        for expression in _EXPRESSION.finditer(text.text):
            self._context(text, *expression.span())
        for match in _REFERENCE.finditer(text.text):
            if match.group(1) in text.draft.names.environment:
                environment.rename(text.part(*match.span(1)))
        masked = _EXPRESSION.sub(lambda match: "_" * len(match.group()), text.text)
        return Fragment(text.draft, masked, text.at)

    def _context(self, text: Fragment, start: int, end: int) -> None:
        """Variables in an expression of a workflow: `env.CUDA_HOME`."""
        for match in _CONTEXT.finditer(text.text, start, end):
            environment.rename(text.part(*match.span(1)))

    def _report_gpu(self, node: yaml.Node, message: str) -> None:
        if (text := self._text(node)) is not None:
            images.gpu(text, message)

    # ---- environment blocks -----------------------------------------------------------------------------------------

    def _environment(self, node: yaml.Node) -> None:
        """`{NAME: value}`, `[NAME=value]`, or `[{name: NAME, value: value}]`."""
        if isinstance(node, yaml.MappingNode):
            self._variables(node)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self._variable(item)
        elif isinstance(node, yaml.ScalarNode):
            self._assignments(node)

    def _variables(self, mapping: yaml.MappingNode) -> None:
        taken: set[str] = set()
        for name, value in mapping.value:
            key = self._text(name)
            if key is None:
                continue
            self._set(key, value, taken)

    def _set(self, name: Fragment, value: yaml.Node | None, taken: set[str]) -> None:
        """One variable. A mapping must not get the same key twice."""
        inner = _value(value, "value") if isinstance(value, yaml.MappingNode) else value
        if inner is not None:
            self._value(inner, name.text)
        row = environment.row_for(name.draft, name.text)
        if row is not None and row.musa in taken:
            message = f"{name.text} is left: {row.musa} is set above"
            name.report("environment-left", 0, len(name.text), message, severity=Severity.INFO, name=name.text)
            return
        taken.add(row.musa if row else name.text)
        environment.rename(name, exported=True)

    def _value(self, node: yaml.Node, name: str) -> None:
        text = self._text(node)
        if text is None or not text.text:
            return
        if name.startswith(("CIBW_ENVIRONMENT", "CIBW_BEFORE", "CIBW_TEST_COMMAND")):
            shell.script(text)
            return
        values.translate(text, name)
        shell.expansions(text)

    def _variable(self, item: yaml.Node) -> None:
        if isinstance(item, yaml.MappingNode):
            name, value = _value(item, "name"), _value(item, "value")
            if name is None:
                self._variables(item)
            elif (text := self._text(name)) is not None:
                self._set(text, value, set())
        elif (text := self._text(item)) is not None and (match := _NAMED.fullmatch(text.text)):
            name_part = text.part(*match.span(1))
            if match.group(2):
                part = text.part(match.start(2) + 1, match.end(2))
                values.translate(part, name_part.text)
                shell.expansions(part)
            environment.rename(name_part, exported=True)

    def _assignments(self, node: yaml.ScalarNode) -> None:
        """A text of lines `NAME=value`."""
        text = self._text(node)
        if text is not None and _LINES.fullmatch(text.text):
            shell.script(text)
        else:
            self._scalar(node, "")

    # ---- scripts ----------------------------------------------------------------------------------------------------

    def _scripts(self, node: yaml.Node, mapping: yaml.MappingNode) -> None:
        """A script, or a list of scripts."""
        interpreter = _value(mapping, "shell")
        for item in _flat(node):
            text = self._text(item)
            if text is None:
                self.visit(item)
            elif isinstance(interpreter, yaml.ScalarNode) and not re.search(
                r"(?:^|[/\s])(?:ba|z|da|k)?sh\b", interpreter.value
            ):
                self._leave(text, interpreter.value)
            elif re.match(r"#!(?!.*sh\b)", text.text):
                self._leave(text, text.text.partition("\n")[0][2:].strip())
            else:
                shell.script(text)

    def _leave(self, text: Fragment, interpreter: str) -> None:
        if re.search(r"\bpython", interpreter):
            python_text.decide(text)
        elif re.search(r"cuda|nccl|nvcc|nvidia", text.text, re.I):
            end = len(text.text.partition("\n")[0])
            text.report("other-shell", 0, end, f"a script for {interpreter} is left")

    def _command(self, node: yaml.Node) -> None:
        """A command: a script, a list of words, or (in some systems) a list of scripts."""
        if not isinstance(node, yaml.SequenceNode):
            self._scripts(node, yaml.MappingNode("", []))
            return
        items = [text for text in map(self._text, node.value) if text is not None]
        if items and (" " in items[0].text or "\n" in items[0].text):
            for text in items:
                shell.script(text)
        else:
            shell.words(items)

    # ---- conda ------------------------------------------------------------------------------------------------------

    def _packages(self, node: yaml.SequenceNode) -> None:
        """The dependencies of a conda environment."""
        for item in node.value:
            if (text := self._text(item)) is not None:
                name = re.split(r"[ =<>!]", text.text.rpartition("::")[2])[0]
                if packages.is_cuda_package(name):
                    packages.package(text)
                else:
                    distributions.decide(text, fixed=_LEFT)
            elif (pip := _value(item, "pip")) is not None:
                for requirement in _flat(pip):
                    if (text := self._text(requirement)) is not None:
                        distributions.decide(text, fixed=_LEFT)
            else:
                self.visit(item)


def _value(node: yaml.Node, key: str) -> yaml.Node | None:
    """The value of a key of a mapping."""
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for name, value in node.value if isinstance(name, yaml.ScalarNode) and name.value == key), None)


def _flat(node: yaml.Node, depth: int = 0) -> Sequence[yaml.Node]:
    """The items of a sequence and of those in it; the node itself when it is none."""
    if not isinstance(node, yaml.SequenceNode):
        return [node]
    return [inner for item in node.value for inner in _flat(item, depth + 1)] if depth < _DEPTH else []


YAML = register(Language("yaml", "shell", ("*.yml", "*.yaml"), port, traces=traces.found))
