"""The lexer of shell scripts: what it makes of the text, and that it loses none of it."""

from __future__ import annotations

import shlex
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musa_port.build.fragment import Fragment
from musa_port.build.shell_commands import Command, commands, plain
from musa_port.build.shell_syntax import Node, lex
from musa_port.cuda import engine
from musa_port.cuda.index import build
from musa_port.draft import Draft
from musa_port.options import Options

PROFILE = settings(max_examples=300, deadline=None, derandomize=True)
PIECES = st.sampled_from(
    "a b9 = + # $ $X ${X} ${X:-d} ${X:-\"d e\"} ' \" ` \\ ( ) (( )) $( $(( < > << <<EOF <<-'E' EOF E | & ; ;; && { } "
    "[[ ]] case in esac if for do done A=( $' !( *.c é\n \r\n \n \t".split(" ")
) | st.sampled_from([" ", "\\\n", "\r\n", "\n", "\nEOF\n", "\n\tE\n", "x=1", "f() {", "\u4e2d", "\x00"])
scripts = st.lists(PIECES, max_size=30).map("".join)


@PROFILE
@given(scripts)
def test_nodes_cover_the_text(text: str) -> None:
    nodes = lex(text)
    assert "".join(text[node.start : node.end] for node in nodes) == text
    for node in nodes:
        _check_nested(node)


def _check_nested(node: Node) -> None:
    position = node.start
    for child in node.children:
        assert position <= child.start <= child.end <= node.end
        position = child.end
        _check_nested(child)


@PROFILE
@given(scripts)
def test_every_command_is_part_of_the_text(text: str) -> None:
    for command in commands(text, lex(text)):
        for word in [*command.assignments, *command.words]:
            assert 0 <= word.start < word.end <= len(text)


@cache
def tables() -> engine.Tables:
    return engine.load(Options())


def fragment(text: str) -> Fragment:
    draft = Draft("x.sh", text.encode("latin-1"), build([], {}, {}, []), tables())
    return Fragment.of_file(draft)


def words(text: str) -> list[str]:
    """The words of the first command, without quotes."""
    whole = fragment(text)
    first = next(commands(text, lex(text)))
    return [plain(whole, word).text for word in [*first.assignments, *first.words]]


QUOTED = st.text("ab '\"\\=/.-_", min_size=1, max_size=6).map(shlex.quote)
UNQUOTED = st.text("ab=/.-_", min_size=1, max_size=6) | st.sampled_from(
    ["\\ ", "\\'", '\\"', '"a\\"b"', '"a b"', "'#'"]
)


@PROFILE
@given(st.lists(st.lists(QUOTED | UNQUOTED, min_size=1, max_size=3).map("".join), min_size=1, max_size=4))
def test_quoting_is_that_of_the_standard_library(pieces: list[str]) -> None:
    """`shlex` reads the same words out of text without expansions."""
    text = " ".join(["cmd", *pieces])
    assert words(text) == shlex.split(text)


def shown(text: str, command: Command) -> tuple[str, list[str]]:
    return command.keyword, [text[word.start : word.end] for word in [*command.assignments, *command.words]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1 B=2 cmd x", [("", ["A=1", "B=2", "cmd", "x"])]),
        ("a && b || c; d & e\nf", [("", [name]) for name in "abcdef"]),
        ("a | b |& c", [("", ["a"]), ("", ["b"]), ("", ["c"])]),
        ("if a; then b; elif c; then d; else e; fi", [("", [name]) for name in "abcde"]),
        ("while a; do b; done < file", [("", ["a"]), ("", ["b"]), ("", [])]),
        ("for x in a b; do c $x; done", [("for", ["x", "a", "b"]), ("", ["c", "$x"])]),
        ("for ((i = 0; i < 3; i++)); do c; done", [("for", []), ("", ["c"])]),
        (
            "case $x in\n a|b) c ;;\n (d) e ;& *) f;;\nesac; g",
            [
                ("case", ["$x"]),
                ("pattern", ["a", "b"]),
                ("", ["c"]),
                ("pattern", ["d"]),
                ("", ["e"]),
                ("pattern", ["*"]),
                ("", ["f"]),
                ("", ["g"]),
            ],
        ),
        ("f() { a; }; function g { b; }", [("function", ["f"]), ("", ["a"]), ("function", ["g"]), ("", ["b"])]),
        ("[[ $a == b && ( c < d ) ]] && e", [("[[", ["$a", "==", "b", "c"]), ("", ["e"])]),
        ("a >out 2>&1 b", [("", ["a", "b"])]),
        ("a \\\n  b # c\nd", [("", ["a", "b"]), ("", ["d"])]),
        ("a \\\r\n  b\r\nd", [("", ["a", "b"]), ("", ["d"])]),
        ("x=$(a b)", [("", ["x=$(a b)"]), ("", ["a", "b"])]),
        ("x=`a b`", [("", ["x=`a b`"]), ("", ["a", "b"])]),
        ('echo "$(a "$(b)")"', [("", ["echo", '"$(a "$(b)")"']), ("", ["a", '"$(b)"']), ("", ["b"])]),
        (
            "x=$(case y in z) a;; esac) b",
            [("", ["x=$(case y in z) a;; esac)", "b"]), ("case", ["y"]), ("pattern", ["z"]), ("", ["a"])],
        ),
        ("x=$(echo case) b", [("", ["x=$(echo case)", "b"]), ("", ["echo", "case"])]),
        ("x=$((1 << 2)) y", [("", ["x=$((1 << 2))", "y"])]),
        ("(( a = 1 << 2 ))\nb", [("", ["b"])]),
        ("A=(a 'b c') d", [("", ["A=(a 'b c')", "d"]), ("array", ["a", "'b c'"])]),
        ("diff <(a) >(b)", [("", ["diff", "<(a)", ">(b)"]), ("", ["a"]), ("", ["b"])]),
        ("ls !(a|b)", [("", ["ls", "!(a|b)"])]),
        ("echo ${x:-$(a)} b", [("", ["echo", "${x:-$(a)}", "b"]), ("", ["a"])]),
        ("a <<<b c", [("", ["a", "c"])]),
    ],
)
def test_commands(text: str, expected: list[tuple[str, list[str]]]) -> None:
    assert [shown(text, command) for command in commands(text, lex(text))] == expected


@pytest.mark.parametrize(
    ("text", "bodies", "after"),
    [
        ("cat <<EOF\na $X\nEOF\nb", [("body", "a $X\n")], "b"),
        ("cat <<'EOF'\na $X\nEOF\nb", [("raw", "a $X\n")], "b"),
        ("cat <<-EOF\n\ta\n\tEOF\nb", [("body", "\ta\n")], "b"),
        ("cat <<A <<B\na\nA\nb\nB\nc", [("body", "a\n"), ("body", "b\n")], "c"),
        ("cat <<EOF | x\nEOFF\nEOF\nc", [("body", "EOFF\n")], "c"),
        ("cat <<EOF\r\na\r\nEOF\r\nc", [("body", "a\r\n")], "c"),
        ("cat <<EOF\na\n", [("body", "a\n")], ""),
    ],
)
def test_here_documents(text: str, bodies: list[tuple[str, str]], after: str) -> None:
    nodes = lex(text)
    found = [node.children[0] for node in nodes if node.kind == "heredoc"]
    assert [(body.kind, text[body.start : body.end]) for body in found] == bodies
    assert next(commands(text, nodes)).words
    assert after in {text[node.start : node.end] for node in nodes} | {""}


def test_deep_nesting_ends() -> None:
    text = "$(" * 5000 + '"${x:-' * 5000
    assert "".join(text[node.start : node.end] for node in lex(text)) == text
