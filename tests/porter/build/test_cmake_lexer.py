"""The lexer and the parser for CMake, against CMake itself where it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from musa_port.build.cmake.file import CMakeFile, parse
from musa_port.build.cmake.lexer import Kind, tokens
from musa_port.draft import Draft

CMAKE = shutil.which("cmake")
PIECES = st.sampled_from(
    [
        "(",
        ")",
        '"',
        "#",
        "[[",
        "]]",
        "[=[",
        "]=]",
        "\\",
        "\n",
        "\r\n",
        " ",
        "set",
        "a;b",
        "${A}",
        "$<",
        ">",
        "$(X)",
        "\t",
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=30).map("".join)


def parsed(text: str | bytes) -> CMakeFile:
    data = text if isinstance(text, bytes) else text.encode()
    return parse(cast(Draft, SimpleNamespace(data=data)))


@given(st.one_of(TEXTS.map(str.encode), st.binary(max_size=60)))
@example(b'set(A "unclosed)\n# [[ comment\n')
@example(b"[==[ never closed ]]")
@example(b"\xef\xbb\xbfset(A \xe4\xf6)")
@example(b"a\\")
def test_tokens_join_to_the_file(data: bytes) -> None:
    position = 0
    for token in tokens(data):
        assert token.start == position
        assert token.end > token.start
        position = token.end
    assert position == len(data)
    parsed(data)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("set(A b c)", ["A", "b", "c"]),
        ("SET ( A\n\tb\n)", ["A", "b"]),
        ('set(A "b c;d" "" "e\\"f" "g\\\\")', ["A", "b c;d", "", 'e\\"f', "g\\\\"]),
        ('set(A "two\nlines")', ["A", "two\nlines"]),
        ('set(A [[b "c" ) ${d}]] [=[e]]f]=])', ["A", 'b "c" ) ${d}', "e]]f"]),
        ("set(A b # c) d\n e)", ["A", "b", "e"]),
        ("set(A b #[[ c) \n]] e)", ["A", "b", "e"]),
        ("if(NOT (A AND (B OR C)))", ["NOT", "A", "AND", "B", "OR", "C"]),
        ('add_definitions(-DX="a b" -DY=\\"c\\")', ['-DX="a b"', '-DY=\\"c\\"']),
        (
            "set(A ${B${C}} $ENV{D} $<$<BOOL:x>:y> a\\ b a\\;b)",
            ["A", "${B${C}}", "$ENV{D}", "$<$<BOOL:x>:y>", "a\\ b", "a\\;b"],
        ),
        ("set(A $(MAKE) [x] a[1])", ["A", "$(MAKE)", "[x]", "a[1]"]),
        ("set()", []),
    ],
)
def test_arguments(text: str, arguments: list[str]) -> None:
    file = parsed(text)
    assert file.error == -1
    (command,) = file.commands
    assert [argument.text for argument in command.arguments] == arguments
    for argument in command.arguments:
        assert text[argument.start : argument.end] == argument.text
    assert text[command.start : command.end] == text


@pytest.mark.parametrize(
    ("text", "names", "line"),
    [
        ("a()\nset(A b", ["a"], 2),
        ('a()\nb("x)\n', ["a"], 2),
        ("a()\n@X@\nb()", ["a", "b"], 0),
        ("# only a comment", [], 0),
        ("", [], 0),
    ],
)
def test_what_is_no_cmake(text: str, names: list[str], line: int) -> None:
    file = parsed(text)
    assert [command.name for command in file.commands] == names
    assert (text[: file.error].count("\n") + 1 if file.error >= 0 else 0) == line


def test_blocks() -> None:
    file = parsed("if(A)\nx()\nelseif(B)\nx()\nforeach(i 1)\nx()\nendforeach()\nelse()\nx()\nendif()\nx()")
    assert [command.blocks for command in file.named("x")] == [((0, 0),), ((0, 1),), ((0, 1), (4, 0)), ((0, 2),), ()]
    assert [command.blocks for command in file.named("if", "elseif", "else", "endif")] == [(), (), (), ()]


SCRIPT = r"""
# a comment ( with " things
set(A b "c d" [[e ) f]] [=[g ]] h]=])   # trailing
if(DEFINED A AND (NOT "${A}" STREQUAL "x;y"))
  set (B #[[ inside ]] "a\"b\\" a\;b ${A} $ENV{HOME} $<CONFIG:x> -DX="q r"
    $(NAME)
  )
endif()
string(APPEND B "line one
line two")
set(C)
SET(D "")
"""


@pytest.mark.skipif(CMAKE is None, reason="cmake is not installed")
def test_same_commands_as_cmake(tmp_path: Path) -> None:
    """CMake's own trace of a script has the commands and arguments that the parser finds."""
    script, trace = tmp_path / "script.cmake", tmp_path / "trace.json"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [str(CMAKE), "--trace", "--trace-format=json-v1", f"--trace-redirect={trace}", "-P", str(script)]
    subprocess.run(command, check=True, capture_output=True)
    entries: list[dict[str, Any]] = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    seen = [(entry["cmd"].lower(), entry["args"], entry["line"]) for entry in entries if "cmd" in entry]
    ours = [
        (command.name, _with_parentheses(command.name, SCRIPT[command.name_end : command.end], command), line)
        for command in parsed(SCRIPT).commands
        for line in [SCRIPT.count("\n", 0, command.start) + 1]
    ]
    assert [entry for entry in seen if entry[0] != "endif"] == [entry for entry in ours if entry[0] != "endif"]


def _with_parentheses(name: str, text: str, command: Any) -> list[str]:
    """The arguments as CMake counts them: parentheses in conditions are arguments too."""
    if name != "if":
        return [argument.text for argument in command.arguments]
    offset = command.name_end
    kinds = {Kind.OPEN: "(", Kind.CLOSE: ")"}
    inner = list(tokens(text.encode()))[1:-1]
    texts = {argument.outer[0] - offset: argument.text for argument in command.arguments}
    return [kinds.get(t.kind) or texts[t.start] for t in inner if t.kind in kinds or t.start in texts]
