"""JSON: presets of CMake, containers for development, and configuration files. Everything between the edits stays."""

from __future__ import annotations

from musa_port.build import compiler, configuration, definitions, environment, images, json_values, shell, traces, values
from musa_port.build.fragment import Fragment
from musa_port.draft import Draft
from musa_port.languages import Language, register

_ENVIRONMENT = frozenset({"environment", "env", "containerEnv", "remoteEnv"})
#: Written by programs: what they hold follows from other files.
_LOCKS = frozenset({"package-lock.json", "compile_commands.json", "composer.lock.json"})


def port(draft: Draft) -> None:
    """Decide a JSON file."""
    if draft.path.rpartition("/")[2] in _LOCKS:
        return
    whole = Fragment.of_file(draft)
    for value in json_values.values(whole.text):
        text = whole.part(value.start, value.end)
        if "\\" not in text.text:
            _decide(whole, value, text)


def _decide(whole: Fragment, value: json_values.Value, text: Fragment) -> None:
    outer = value.path[-2] if len(value.path) > 1 else ""
    key = value.path[-1] if value.path else ""
    if outer == "cacheVariables" and value.key:
        definitions.variable(whole.part(*value.key), text)
    elif key == "value" and len(value.path) > 2 and value.path[-3] == "cacheVariables":
        _typed_variable(whole, value, text)
    elif outer in _ENVIRONMENT and value.key:
        values.translate(text, key)
        shell.expansions(text)
        environment.rename(whole.part(*value.key), exported=True)
    elif key == "image":
        images.image(text)
    elif not configuration.value(key, text):
        compiler.source(text)


def _typed_variable(whole: Fragment, value: json_values.Value, text: Fragment) -> None:
    """`"NAME": {"type": "STRING", "value": "..."}`: the name stands before the brace."""
    name = value.path[-2]
    start = whole.text.rfind(f'"{name}"', 0, value.start) + 1
    definitions.variable(whole.part(start, start + len(name)), text)


JSON = register(Language("json", "shell", ("*.json",), port, traces=traces.found))
