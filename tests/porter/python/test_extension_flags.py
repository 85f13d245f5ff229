"""P16: flags, macros, libraries and folders of extensions, in every way that a program may put their lists together."""

from __future__ import annotations

import ast
import io
import random
import tokenize
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Notices, Port, Rewrites

HEAD = "from torch.utils.cpp_extension import CUDAExtension\n"
MUSA = "from torch_musa.utils.musa_extension import MUSAExtension\n"
#: What the table makes of each flag; those that it does not know stay.
FLAGS = {
    "-O3": ["-O3"],
    "-DX=1": ["-DX=1"],
    "--use_fast_math": ["-ffast-math"],
    "--expt-relaxed-constexpr": [],
    "-lineinfo": ["-gline-tables-only"],
    "-Xptxas -v": [],
    "-Xcompiler -fPIC": ["-fPIC"],
    "--threads 4": [],
    "-gencode arch=compute_90,code=sm_90": ["--offload-arch=mp_31"],
    "-dc": ["-c", "-fgpu-rdc"],
    "-G": ["-g"],
}


def compiled(text: str) -> str:
    return f"CUDAExtension('m', [], extra_compile_args={{'nvcc': {text}}})\n"


def ported(text: str) -> str:
    return f"MUSAExtension('m', [], extra_compile_args={{'mcc': {text}}})\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("['--threads', '4', 'a']", "['a']"),
        ("['a', '--threads', '4']", "['a']"),
        ("['a', '--threads', '4', 'b']", "['a', 'b']"),
        ("['a',  '-t0',  'b' ]", "['a',  'b' ]"),
        ("['-t0']", "[]"),
        ("['-t0' , ]", "[ ]"),
        ("['a', '-t0',]", "['a',]"),
        ("('a', '-t0')", "('a',)"),
        ("('-t0', 'a', 'b')", "('a', 'b')"),
        ("('-t0',)", "()"),
        ("['-Xcompiler', '-fPIC,-g']", "['-fPIC', '-g']"),
        ('["-Xcompiler", r"-fPIC"]', '[r"-fPIC"]'),
        ("['-dc', 'a']", "['-c', '-fgpu-rdc', 'a']"),
        ('["-dc"]', '["-c", "-fgpu-rdc"]'),
        ("[*['-t0', 'a'], '-G']", "[*['a'], '-g']"),
        ("['a'] + ['-t0', 'b']", "['a'] + ['b']"),
        ("['-G'] if x else ['-O0']", "['-g'] if x else ['-O0']"),
        ("['-G' if x else '-O0']", "['-g' if x else '-O0']"),
        ("[x for x in ['-G'] if x]", "[x for x in ['-g'] if x]"),
        ("list(('-G',))", "list(('-g',))"),
        ("'-O3 -G  -t0 -DX'.split()", "'-O3 -g -DX'.split()"),
        ("['-Xptxas', opts, 'a']", "['a']"),
        ("['-Xcompiler', opts]", "[opts]"),
        ("[f'--threads={n}', 'a']", "['a']"),
        ("[f'-DX={n}', '-G']", "[f'-DX={n}', '-g']"),
    ],
)
def test_lists(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(HEAD + compiled(before), MUSA + ported(after), ["P15", "P16"])


LAYOUTS = {
    "line-each": ("[\n    '-O3',\n    '-t0',\n    '-G',\n]", "[\n    '-O3',\n    '-g',\n]"),
    "no-last-comma": ("[\n    '-O3',\n    '-t0'\n]", "[\n    '-O3',\n]"),
    "comment": (
        "[\n    '-O3',  # one\n    '-t0',  # two\n    '-G',  # three\n]",
        "[\n    '-O3',  # one\n    # two\n    '-g',  # three\n]",
    ),
    "comment-line": ("[\n    # one\n    '-t0',\n    # two\n]", "[\n    # one\n    # two\n]"),
    "comment-behind": ("['-O3', '-t0',  # two\n    '-G']", "['-O3',  # two\n    '-g']"),
    "comma-first": ("[ '-O3'\n, '-t0'\n, '-G'\n]", "[ '-O3'\n, '-g'\n]"),
    "two-on-a-line": ("[\n    '--threads', '4',\n    'a', '-t0',\n    'b',\n]", "[\n    'a',\n    'b',\n]"),
    "begins-on-the-line": ("['-t0',\n '-O3']", "[\n '-O3']"),
    "ends-on-the-line": ("['-O3',\n '-t0']", "['-O3',\n ]"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(port: Port, name: str) -> None:
    """What the list holds, and its comments; where the text says so, every byte."""
    before, after = LAYOUTS[name]
    got = port(HEAD + compiled(before)).data.decode()
    if name != "comma-first":
        assert got == MUSA + ported(after)
    assert flags_of(got) == ast.literal_eval(after)


def flags_of(text: str) -> list[str]:
    (value,) = [
        value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "mcc"
    ]
    found: list[str] = ast.literal_eval(value)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_any_list(port: Port, seed: int) -> None:
    """Lists of any length and layout: the result holds what the table says, and each comment."""
    random_ = random.Random(seed)
    chosen = [random_.choice(list(FLAGS)) for _ in range(random_.randint(0, 6))]
    words = [word for flag in chosen for word in flag.split(" ")]
    parts = []
    for index, word in enumerate(words):
        comma = "," if index + 1 < len(words) or random_.random() < 0.5 else ""
        parts.append(
            random_.choice(["", " ", "\n    ", "  # before\n "]) + repr(word) + random_.choice(["", " "]) + comma
        )
        parts.append(random_.choice(["", "", " ", "\n", "  # behind\n"]))
    before = HEAD + compiled("[" + "".join(parts) + "]")
    after = port(before).data.decode()
    assert sorted(flags_of(after)) == sorted(expected(chosen))
    assert comments(after) == comments(before)


def expected(chosen: list[str]) -> list[str]:
    """An architecture is named once."""
    found: list[str] = []
    for flag in chosen:
        found += [word for word in FLAGS[flag] if not (word.startswith("--offload") and word in found)]
    return found


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "a = []\na.append('-G')\na += ['-t0']\na.extend(['-lineinfo'])\n",
            "a = []\na.append('-g')\na.extend(['-gline-tables-only'])\n",
        ),
        ("a = ['-O3']\nif x:\n    a.append('-t0')\n", "a = ['-O3']\nif x:\n    pass\n"),
        ("a = ['-O3']\nif x:\n    y = 1\n    a.append('-t0')\n", "a = ['-O3']\nif x:\n    y = 1\n"),
        ("a = []\nif x:\n    a.append('-Xcompiler')\n    a.append('-g')\n", "a = []\nif x:\n    a.append('-g')\n"),
        ("a = []\nif x:\n    a += ['-t0']\n    a += ['-t0']\n", "a = []\nif x:\n    pass\n"),
        ("def f(b):\n    return b + ['-t0']\na = f([])\n", "def f(b):\n    return b\na = f([])\n"),
        ("a = b + (['-t0'])\n", "a = b + ([])\n"),
        ("a = ['-O3']\nif x: a.append('-t0')\n", "a = ['-O3']\nif x: pass\n"),
        ("a = ['-O3']; a.append('-t0'); y = 1\n", "a = ['-O3']; y = 1\n"),
        ("a = ['-O3']\na.append('-t0')  # why\n", "a = ['-O3']\n# why\n"),
        ("a = []\na.append('-Xptxas')\na.append('-v')\n", "a = []\n"),
        ("a = []\na.insert(0, '-G')\n", "a = []\na.insert(0, '-g')\n"),
        ("def f():\n    b = ['-G']\n    return b\na = f()\n", "def f():\n    b = ['-g']\n    return b\na = f()\n"),
        (
            "def f(x):\n    return ['-G'] + x\na = f(['-lineinfo'])\n",
            "def f(x):\n    return ['-g'] + x\na = f(['-gline-tables-only'])\n",
        ),
        ("b = ['-G']\na = b\n", "b = ['-g']\na = b\n"),
        ("b = '-G'\na = ['-O3', b]\n", "b = '-g'\na = ['-O3', b]\n"),
        ("class A:\n    b = ['-G']\na = A.b\n", "class A:\n    b = ['-g']\na = A.b\n"),
    ],
)
def test_lists_that_flow(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(HEAD + before + compiled("a"), MUSA + after + ported("a"))


def test_lists_of_other_scopes_stay(rewrites: Rewrites) -> None:
    """The same name in another function is another list."""
    other = "def f():\n    a = ['-G']\n    a.append('-lineinfo')\n    return g(a)\n"
    rewrites(f"{HEAD}{other}a = ['-G']\n{compiled('a')}", f"{MUSA}{other}a = ['-g']\n{ported('a')}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = {'cxx': ['-G'], 'nvcc': ['-G']}\n", "a = {'cxx': ['-G'], 'mcc': ['-g']}\n"),
        ("a = dict(cxx=[], nvcc=['-G'])\n", "a = dict(cxx=[], mcc=['-g'])\n"),
        (
            "a = {}\na['nvcc'] = ['-G']\na['nvcc'] += ['-lineinfo']\n",
            "a = {}\na['mcc'] = ['-g']\na['mcc'] += ['-gline-tables-only']\n",
        ),
        ("a = {'nvcc': []}\na['nvcc'].append('-G')\n", "a = {'mcc': []}\na['mcc'].append('-g')\n"),
        ("b = {'nvcc': ['-G']}\na = {'cxx': [], **b}\n", "b = {'mcc': ['-g']}\na = {'cxx': [], **b}\n"),
        ("a = {'cxx': []}\na.update({'nvcc': ['-G']})\n", "a = {'cxx': []}\na.update({'mcc': ['-g']})\n"),
        ("def f():\n    return {'nvcc': ['-G']}\na = f()\n", "def f():\n    return {'mcc': ['-g']}\na = f()\n"),
        ("a = {'nvcc': []} if x else {'cxx': []}\n", "a = {'mcc': []} if x else {'cxx': []}\n"),
        ("a = {'nvcc_dlink': ['-O3']}\n", "a = {'mcc_dlink': ['-O3']}\n"),
    ],
)
def test_dictionaries(rewrites: Rewrites, before: str, after: str) -> None:
    end = "Extension('m', [], extra_compile_args=a)\n"
    rewrites(f"{HEAD}{before}CUDA{end}", f"{MUSA}{after}MUSA{end}", ["P15", "P16"])


def test_extensions_in_a_build_command(rewrites: Rewrites) -> None:
    rewrites(
        "from torch.utils.cpp_extension import BuildExtension\nclass B(BuildExtension):\n    def build(self):\n"
        "        for e in self.extensions:\n            e.extra_compile_args['nvcc'] += ['-G']\n",
        "from torch_musa.utils.musa_extension import BuildExtension\nclass B(BuildExtension):\n    def build(self):\n"
        "        for e in self.extensions:\n            e.extra_compile_args['mcc'] += ['-g']\n",
        ["P15", "P16"],
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("libraries=['cudart', 'm', 'nccl']", "libraries=['musart', 'm', 'mccl']"),
        ("extra_link_args=['-lcublas', '-Wl,-z']", "extra_link_args=['-lmublas', '-Wl,-z']"),
        ("library_dirs=['/usr/local/cuda/lib64', x]", "library_dirs=['/usr/local/musa/lib', x]"),
        ("include_dirs=['/usr/local/cuda/include', 'cuda']", "include_dirs=['/usr/local/musa/include', 'cuda']"),
        (
            "define_macros=[('__CUDA_NO_HALF_OPERATORS__', None), ('A', '1')]",
            "define_macros=[('__MUSA_NO_HALF_OPERATORS__', None), ('A', '1')]",
        ),
        (
            "extra_compile_args={'cxx': ['-D__CUDA_NO_HALF_OPERATORS__', '-G']}",
            "extra_compile_args={'cxx': ['-D__MUSA_NO_HALF_OPERATORS__', '-G']}",
        ),
    ],
)
def test_libraries_macros_and_folders(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(f"{HEAD}CUDAExtension('m', [], {before})\n", f"{MUSA}MUSAExtension('m', [], {after})\n", ["P15", "P16"])


def test_libraries_of_host_extensions(rewrites: Rewrites) -> None:
    """A library of the toolkit is one for a host extension too; its build stays where it is."""
    rewrites(
        "from torch.utils.cpp_extension import CppExtension\nCppExtension('m', [], libraries=['cudart'])\n",
        "from torch.utils.cpp_extension import CppExtension\nCppExtension('m', [], libraries=['musart'])\n",
        ["P16"],
    )


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("['--maxrregcount=64']", "error"),
        ("['-gencode', f'arch=compute_{a},code=sm_{a}']", "error"),
        ("['-arch=sm_' + sm]", "error"),
        ("['-arch=sm_%s' % sm]", "error"),
        ("['-gencode', arch]", "error"),
        ("['-use_fast_math']", "warning"),
    ],
)
def test_findings(port: Port, text: str, severity: str) -> None:
    result = port(HEAD + compiled(text))
    assert severity in {finding.severity.value for finding in result.findings if finding.rule == "P16"}


@pytest.mark.parametrize("text", ["flags()", "config.flags", "['-O3'] + flags", "(lambda: ['-G'])()"])
def test_flags_from_elsewhere_are_noticed(port: Port, text: str) -> None:
    result = port(HEAD + "from config import flags\n" + compiled(text))
    assert "P16" in {finding.rule for finding in result.findings}


def test_a_list_where_a_dictionary_is_needed(notices: Notices) -> None:
    """MUSAExtension takes a dictionary only."""
    text = f"{HEAD}CUDAExtension('m', [],\n    extra_compile_args=['-O3'])\n"
    result = notices(text, "['-O3']")
    assert ("P16", "error") in {(finding.rule, finding.severity.value) for finding in result.findings}


def test_min_confidence(port: Port) -> None:
    result = port(HEAD + compiled("['-lineinfo', '--use_fast_math']"), min_confidence="high")
    assert flags_of(result.data.decode()) == ["-lineinfo", "-ffast-math"]
    assert "-lineinfo" in {finding.name for finding in result.findings}
