"""What holds for every Python file: programs put together from parts with a known result, and files of the library."""

from __future__ import annotations

import ast
import io
import keyword
import random
import sysconfig
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from musa_port import FileStatus, Options, port_sources

if TYPE_CHECKING:
    from tests.porter.python.conftest import Port

#: Random but the same in every run, so that a failure is somebody's change.
PROFILE = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


class Part(NamedTuple):
    """A piece of a program, and what it becomes."""

    before: str
    after: str


def same(text: str) -> Part:
    return Part(text, text)


def to_musa(text: str) -> Part:
    return Part(text, text.replace("cuda", "musa"))


EXPRESSIONS = [
    *map(
        to_musa,
        [
            "torch.cuda.device_count()", "torch.cuda.Stream", "x.cuda()", "x.cuda(0)", "y[0].cuda(non_blocking=True)",
            "x.is_cuda", "torch.ones(2, device='cuda')", 'f(1, device="cuda:1")', "x.to('cuda')",
            'torch.device("cuda:0")', "torch.device(f'cuda:{i}')", "str(device).startswith('cuda')",
            "x.device.type == 'cuda'", "f(x, map_location='cuda', *y, **z)", "torch.cuda.current_stream().query()",
        ],
    ),
    *map(
        same,
        [
            "1", "'cuda'", "f('cuda')", "cuda", "use_cuda", "f(use_cuda=True)", "mylib.cuda.synchronize()", "x.cuda_",
            "{'cuda': 1}['cuda']", '"torch.cuda"', "f'cuda {x} torch.cuda'", "b'cuda'", "x.to(torch.half, 'cuda')",
            "(lambda torch: torch.cuda.x)(y)", "[torch.cuda for torch in y]", "barracuda", "x.use_cuda()", "r'\\cuda'",
            "x['device']", "not x", "...", "'''a\n# cuda\nb'''", "f(backend='gloo')", "x.cuda",
        ],
    ),
]  # fmt: skip
expressions = st.sampled_from(EXPRESSIONS)


def combined(template: str, *parts: Part) -> Part:
    return Part(template.format(*(part.before for part in parts)), template.format(*(part.after for part in parts)))


LARGER = [
    "({0}, {1})", "f({0}, k={1})", "[{0} for i in ({1},)]", "({0} if {1} else None)", "(n := {0}, {1})",
    "{{**g({0}), 'cuda': {1}}}", "(lambda a={0}: {1})", "({0})[({1}):]", "(\n    {0}  # cuda\n    , {1}\n)",
    "[\n{0},\n\n        # torch.cuda\n{1}]",
]  # fmt: skip
nested = st.recursive(
    expressions,
    lambda inner: st.builds(combined, st.sampled_from(LARGER), inner, inner),
    max_leaves=4,
)
STATEMENTS = [
    "v = {0}", "{0}", "assert {0}, 'cuda'", "v: t = {0}", "return_ = {0}; w = {1}", "if {0}: {1}", "del v[{0}]",
    "v += {0}  # cuda: x.cuda()", "for v in {0}: pass", "while {0}: break", "with {0} as v, {1}: {0}",
    "raise E({0}) from {1}", "@d({0})\ndef f(a, b={1}): ...", "class C(B, k={0}):\n    '''cuda'''\n    v = {1}",
    "def f(a={0}, *b, c={1}, **d):\n    'cuda'\n    return {0}",
    "async def f():\n    await {0}\n    async with {1} as v: pass\n    return [v async for v in {0}]",
    "try:\n    {0}\nexcept E as v:\n    {1}\nelse: pass\nfinally:\n\tpass",
    "match {0}:\n    case [v, *_] if {1}:\n        {0}\n    case 'cuda' | {{'cuda': _}}: pass",
    "def f(torch, cuda):\n    torch.cuda.synchronize()\n    cuda()\n    return torch.device('cpu')",
    "if v: {0}\nelif {1}:\n    pass\nelse:\n    {0}",
    "print({0}, file={1}) ; v = '''\n cuda\n'''", "global_ = {0} \\\n    , {1}",
]  # fmt: skip


def indented(part: Part, head: str) -> Part:
    """The part as the body of a block; lines inside of texts move along, as in a real program."""

    def move(text: str) -> str:
        return head + "".join(f"\n    {line}" if line else "\n" for line in text.split("\n"))

    return Part(move(part.before), move(part.after))


statements = st.builds(combined, st.sampled_from(STATEMENTS), nested, nested)
HEADS = ["def g():", "class A:", "if x:", "for i in y:", "with z:", "async def h(self):", "while 1:"]
blocks = st.recursive(
    statements,
    lambda inner: st.builds(indented, inner, st.sampled_from(HEADS)),
    max_leaves=3,
)
programs = st.lists(blocks, min_size=1, max_size=6)


def program(parts: list[Part], head: str = "import torch\n") -> Part:
    before = head + "\n".join(part.before for part in parts) + "\n"
    after = "\n".join(part.after for part in parts) + "\n"
    musa = "import torch_musa\n" if _parses(after) and needs_import(after) else ""
    return Part(before, head + musa + after)


def needs_import(text: str) -> bool:
    """`torch.musa`, `.musa()` or a device string in code: read off the tree."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr == "musa":
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("musa"):
            return True
    return False


def without_import(text: str) -> str:
    return text.replace("import torch_musa\n", "")


@PROFILE
@given(programs)
def test_programs_become_what_their_parts_become(port: Port, parts: list[Part]) -> None:
    """The result for an expression depends on the expression, not on where in a program it stands."""
    before, after = program(parts)
    if _parses(before):
        result = port(before).data.decode()
        assert without_import(result) == without_import(after)
        if ".is_musa" not in after:  # whether that alone needs the import is not laid down
            assert result == after


@PROFILE
@given(programs, st.sampled_from(["\r\n", "\n"]), st.booleans(), st.sampled_from(["", "\ufeff"]))
def test_layout_is_kept(port: Port, parts: list[Part], end: str, newline: bool, mark: str) -> None:
    """Line ends, a missing last newline and a byte order mark."""
    before, after = program(parts)
    if not _parses(before):
        return
    cut = len(before) if newline else -1
    data = (mark + before[:cut]).replace("\n", end).encode()
    result = port(data).data.decode().replace(end, "\n")
    assert without_import(result) == without_import(mark + (after if newline else after[:-1]))


@PROFILE
@given(programs)
def test_aliases_do_not_matter(port: Port, parts: list[Part]) -> None:
    """`import torch as th`, and th for torch in all of the program: the same edits."""
    renamed = [Part(part.before.replace("torch", "th"), part.after.replace("torch", "th")) for part in parts]
    before, after = program(renamed, "import torch as th\n")
    if _parses(before):
        assert without_import(port(before).data.decode()) == without_import(after)


@PROFILE
@given(programs)
def test_without_torch_nothing_needs_torch(port: Port, parts: list[Part]) -> None:
    """In a file that never imports torch, `.cuda()`, `.is_cuda` and `torch.cuda` are somebody else's."""
    text = program(parts, "import os\n").before
    if _parses(text):
        result = port(text).data.decode()
        for word in (".cuda(", ".is_cuda", "torch.cuda."):
            assert result.count(word) == text.count(word)


def _parses(text: str) -> bool:
    try:
        compile(text, "a.py", "exec", ast.PyCF_ONLY_AST)
    except SyntaxError:
        return False
    return True


@PROFILE
@given(st.text(max_size=300) | st.lists(blocks.map(lambda part: part.before) | st.text(max_size=9)).map("".join))
def test_any_text_is_safe(text: str) -> None:
    data = ("import torch\n" + text).encode("utf-8", "surrogatepass")
    result = port_sources({"a.py": data})["a.py"]
    assert result.status in (FileStatus.PORTED, FileStatus.UNCHANGED, FileStatus.SKIPPED, FileStatus.COPIED)
    assert "F10" not in {finding.rule for finding in result.findings}
    if result.status is not FileStatus.PORTED:
        assert result.data == data
    else:
        again = port_sources({"a.py": result.data})["a.py"]
        assert again.data == result.data


@PROFILE
@given(st.binary(max_size=200), st.integers(0, 200), programs)
def test_any_bytes_are_safe(noise: bytes, place: int, parts: list[Part]) -> None:
    source = program(parts).before.encode()
    data = source[:place] + noise + source[place:]
    result = port_sources({"a.py": data}, Options())["a.py"]
    assert "F10" not in {finding.rule for finding in result.findings}
    assert (result.data == data) == (not result.edits)


# ---- files of the standard library -------------------------------------------------------------------------------

LIBRARY = Path(sysconfig.get_path("stdlib"))
FILES = [
    "bisect.py", "colorsys.py", "contextlib.py", "copy.py", "fnmatch.py", "functools.py", "gettext.py", "glob.py",
    "heapq.py", "io.py", "keyword.py", "numbers.py", "queue.py", "reprlib.py", "sched.py", "shlex.py", "string.py",
    "textwrap.py", "types.py", "warnings.py", "json/decoder.py", "json/encoder.py", "logging/handlers.py",
]  # fmt: skip


def sources() -> list[str]:
    return [name for name in FILES if (LIBRARY / name).exists() and (LIBRARY / name).stat().st_size < 25_000]


def cudafied(text: str, rng: random.Random) -> str:
    """The file with the word in its comments, in texts that are no values of anything, and in its names."""
    pieces = []
    position = [1, 0]
    lines = text.splitlines(keepends=True)
    mapping: dict[str, str] = {}
    previous = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        pieces.append(_between(lines, position, token.start))
        piece = token.string
        if token.type == tokenize.COMMENT and "coding" not in piece:
            piece += " torch.cuda.empty_cache() on cuda:0, x.cuda()"
        elif token.type == tokenize.NAME and not keyword.iskeyword(piece) and not keyword.issoftkeyword(piece):
            if piece not in mapping:
                mapping[piece] = rng.choice([piece, piece, f"cuda_{piece}", f"{piece}_cuda", f"use_cuda{piece}"])
            if not piece.startswith("__") and previous not in ("import", "from"):
                piece = mapping[piece]
        pieces.append(piece)
        previous = token.string
        position = list(token.end)
    return "".join(pieces)


def _between(lines: list[str], start: list[int], end: tuple[int, int]) -> str:
    (row, column), (last, until) = start, end
    if row == last:
        return lines[row - 1][column:until] if row <= len(lines) else ""
    middle = "".join(lines[row : last - 1])
    return lines[row - 1][column:] + middle + (lines[last - 1][:until] if last <= len(lines) else "")


@pytest.mark.parametrize("name", sources())
def test_library_with_the_word_everywhere(port: Port, name: str) -> None:
    """No edit in a file whose comments and names are full of the word: none of them is an API of torch."""
    text = cudafied((LIBRARY / name).read_text(encoding="utf-8"), random.Random(name))
    assert "cuda" in text
    assert _parses(text)
    result = port(text)
    assert result.data.decode() == text
    assert result.edits == []


@pytest.mark.parametrize("name", sources())
def test_library_with_known_statements_between(port: Port, name: str) -> None:
    """Statements with a known result between those of a real file: they change, the file around them does not."""
    text = (LIBRARY / name).read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    rng = random.Random(name)
    body = ast.parse(text).body
    first = next((node for node in body if not _must_be_first(node)), None)
    if first is None:
        pytest.skip("nothing but a docstring")
    places = {_first_line(first): Part("import torch\n", "import torch\nimport torch_musa\n")}
    for node in rng.sample(body, min(6, len(body))):
        if _first_line(node) > _first_line(first) and _first_line(node) > (node.end_lineno or 0) - 10_000:
            part = rng.choice([part for part in EXPRESSIONS if "\n" not in part.before])
            places[_first_line(node)] = Part(part.before + "\n", part.after + "\n")
    places[len(lines) + 1] = to_musa("torch.cuda.synchronize()\n")
    before, after = "", ""
    for number, line in enumerate([*lines, ""], 1):
        if number in places and _starts_a_line(lines, number):
            before, after = before + places[number].before, after + places[number].after
        before, after = before + line, after + line
    assert port(before).data.decode() == after


def _must_be_first(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _starts_a_line(lines: list[str], number: int) -> bool:
    return number > len(lines) or not lines[number - 1][:1].isspace()
