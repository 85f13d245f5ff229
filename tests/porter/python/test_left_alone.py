"""What is left alone: texts, names of the project, files of other kinds, and every byte outside of an edit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from musa_port import FileStatus, port_sources

if TYPE_CHECKING:
    from tests.porter.python.conftest import Notices, Port, Rewrites

HEAD, MUSA = "import torch\n", "import torch\nimport torch_musa\n"

TEXTS = {
    "comment": "# torch.cuda.empty_cache() and x.cuda() on device='cuda'\nx = 1  # cuda:0\n",
    "module-docstring": '"""torch.cuda.empty_cache(): device="cuda"."""\n',
    "function-docstring": 'def f():\n    """Moves to cuda:0.\n\n    >>> x.to("cuda")\n    """\n',
    "class-docstring": 'class A:\n    "cuda"\n',
    "async-docstring": "async def f():\n    'cuda'\n    return 1\n",
    "string-statement": 'x = 1\n"cuda"\n"""torch.cuda"""\n',
    "log": 'logger.warning("cuda")\nlogger.info("using cuda:0", "cuda")\nprint("cuda", file="cuda")\n',
    "log-format": 'logger.info(f"cuda:{i}")\nprint("cuda:%d" % i, "cuda:{}".format(i))\n',
    "assertion": 'assert x, "cuda"\nassert f(x), f"cuda:{i}"\n',
    "exception": 'raise RuntimeError("cuda:0 is not available")\nraise CudaError("cuda")\n',
    "path": 'p = "/data/cuda_results"\nq = Path("cuda") / "cuda"\nopen("cuda")\nos.path.join(root, "cuda")\n',
    "address": 'URL = "https://docs.example.com/cuda/torch.cuda.html"\n',
    "dictionary-key": 'd = {"cuda": 1}\nd["cuda"] = 2\nd.get("cuda")\nd.setdefault("cuda", 3)\ndel d["cuda"]\n',
    "set-of-names": 'names = {"cuda_a", "cuda_b"}\n',
    "word": 'barracuda = 1\nx = "barracuda"\nf(barracuda=barracuda)\n',
    "identifiers": "use_cuda = True\nclass CudaTimer: ...\ndef run_cuda(cuda_graph_sizes=None): ...\ncuda_x = 1\n",
    "parameters": "def f(use_cuda, cuda=False, *, no_cuda=True): return use_cuda, cuda, no_cuda\nf(cuda=2)\n",
    "attributes": "x.cuda_graphs = x.has_cuda\nx.use_cuda(x.cuda_time)\nx.CUDA\n",
    "global": "cuda = None\ndef f():\n    global cuda\n    cuda = 1\n",
    "nonlocal": "def f():\n    cuda = 1\n    def g():\n        nonlocal cuda\n        cuda += 1\n",
    "loop-variable": "for cuda in xs:\n    print(cuda)\n",
    "label": 'x = f("cuda", label="cuda", title=\'cuda\')\n',
    "argparse-flag": 'p.add_argument("--cuda", action="store_true", help="use cuda")\n',
    "argparse-other": 'p.add_argument("--backend-name", default="cuda")\np.add_argument("--no-cuda", dest="cuda")\n',
    "argparse-choices": 'p.add_argument("--mode", choices=["cuda", "cpu"], default="cuda")\n',
    "argparse-help": 'p.add_argument("--x", help="cuda")\np.add_argument("--y", metavar="cuda", type=int)\n',
    "dataclass-field": "@dataclass\nclass A:\n    cuda: bool = False\n    cuda_graph: int = 1\n",
    "named-tuple": 'T = namedtuple("T", ["cuda", "cpu"])\n',
    "enum": 'class Kind(Enum):\n    CUDA = "cuda"\n    CPU = "cpu"\n',
    "type-checking": "if TYPE_CHECKING:\n    from mylib.cuda import x\n",
    "quoted-annotation": 'def f(x: "torch.cuda.Stream") -> "list[torch.cuda.Event]":\n    y: "torch.cuda.Stream" = x\n',
    "test-ids": '@pytest.mark.parametrize("x", [1], ids=["cuda"])\ndef test_cuda(x): ...\n',
    "marker": "@pytest.mark.cuda\ndef test_x(): ...\npytestmark = pytest.mark.cuda\n",
    "version-pin": 'setup(install_requires=["torch==2.1+cu121", "my-cuda-lib>=1"], name="cuda_ops")\n',
    "wheel": 'W = "torch-2.1.0+cu121-cp310-cp310-linux_x86_64.whl"  # cuda\n',
    "all": '__all__ = ["cuda", "use_cuda"]\n',
    "checkpoint": 'state["module.cuda.weight"] = w\nsd.pop("cuda.bias")\n',
    "pickle": 'pickle.dump({"cuda": 1}, open("cuda.pkl", "wb"))\n',
    "other-vendors": 'os.environ["HIP_VISIBLE_DEVICES"], os.environ["ROCM_PATH"]  # cuda\n',
    "bytes": 'x.to(b"cuda")\nf(device=b"cuda:0")\nd.type == b"cuda"\n',
    "split": '"cuda cpu".split()\n"a,cuda".split(",")\n',
    "exec": 'exec("torch.cuda.empty_cache()")\neval("x.cuda()")\n',
    "del": "del cuda\ndel x.cuda\n",
    "call-of-a-name": "cuda()\ncuda(x)\ncuda.x()\n",
    "subscript": "x[cuda]\ncuda[0]\n",
    "decorator": "@cuda\ndef f(): ...\n@mylib.cuda.jit\ndef g(): ...\n",
    "string-method": '"cuda".upper()\n"cuda:0".split(":")\n", ".join(["cuda", "cpu"])\n',
    "type-alias": 'Kind = Literal["cuda", "cpu"]\n',
    "regular-expression": 're.match(r"cuda:(\\d+)", x)\n',
    "multi-line-string": "x = '''\nimport torch\ntorch.cuda.empty_cache()\nx.cuda()\n'''\n",
    "template": 'x = """{torch.cuda.device_count()}"""\ny = "$cuda %(cuda)s {cuda}".format(cuda=1)\n',
    "format-key": 'print("{cuda}".format(cuda=1), f"{cuda}", f"{x!r:cuda}")\n',
    "ellipsis": "def cuda(self): ...\nclass cuda: ...\n",
    "continued-comment": "x = [  # cuda:0\n    1,  # torch.cuda\n]\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_alone(rewrites: Rewrites, text: str) -> None:
    """In a file that imports torch, and in one that does not."""
    rewrites(text)
    rewrites(text + HEAD)
    if not text.startswith('"""'):
        rewrites(f"from __future__ import annotations\nimport os\n{HEAD}{text}")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_beside_something_that_changes(rewrites: Rewrites, text: str) -> None:
    """The same texts, with an edit before and after them."""
    if text.startswith('"""'):
        pytest.skip("a module's docstring must come first: test_torch_musa_import has it")
    before = f"x = torch.cuda.device_count()\n{text}x.to('cuda')\n"
    after = f"x = torch.musa.device_count()\n{text}x.to('musa')\n"
    rewrites(HEAD + before, MUSA + after, ["P1", "P5"])


OPTIONS = {
    "default": 'p.add_argument("--device", default="cuda")\n',
    "index": "p.add_argument('--device', type=str, default='cuda:0', help='cuda or cpu')\n",
    "short": 'p.add_argument("-d", "--device", default="cuda", metavar="cuda")\n',
    "choices": 'p.add_argument("--device", choices=["cuda", "cpu"], default="cpu")\n',
    "choices-tuple": 'p.add_argument("--device", choices=("cpu", "cuda"), default="cuda")\n',
    "positional": 'p.add_argument("device", nargs="?", default="cuda")\n',
}


@pytest.mark.parametrize("text", OPTIONS.values(), ids=OPTIONS)
def test_options_called_device(port: Port, text: str) -> None:
    """The exception: defaults and choices of an option called device."""
    head = "import argparse\nimport torch\np = argparse.ArgumentParser()\n"
    result = port(head + text).data.decode().split("ArgumentParser()\n")[1]
    expected = text.replace('"cuda', '"musa').replace("default='cuda", "default='musa")
    assert result == expected.replace('metavar="musa"', 'metavar="cuda"')


@pytest.mark.parametrize(
    "text",
    ['@click.option("--device", default="cuda")\ndef f(device): ...\n',
     'p.add_argument("--device-type", default="cuda")\n',
     'p.add_argument("--gpu", dest="device", default="cuda")\n',
     'p.add_argument("--backend", default="nccl")\n'],
)  # fmt: skip
def test_other_options_are_noticed(notices: Notices, text: str) -> None:
    notices("import argparse, click\nimport torch\np = argparse.ArgumentParser()\n" + text, text[:9])


# ---- bytes -------------------------------------------------------------------------------------------------------

BYTES: dict[str, tuple[bytes, bytes]] = {
    "crlf": (
        b"import torch\r\n# cuda\r\nx = '''a\r\nb'''\r\ntorch.cuda.empty_cache()\r\n",
        b"import torch\r\nimport torch_musa\r\n# cuda\r\nx = '''a\r\nb'''\r\ntorch.musa.empty_cache()\r\n",
    ),
    "carriage-return-in-a-comment": (
        b"import torch\n# a\x0c cuda\ntorch.cuda.empty_cache()\n",
        b"import torch\nimport torch_musa\n# a\x0c cuda\ntorch.musa.empty_cache()\n",
    ),
    "tabs": (
        b"import torch\nif x:\n\tif y:\n\t\ttorch.cuda.empty_cache() \t # cuda\n",
        b"import torch\nimport torch_musa\nif x:\n\tif y:\n\t\ttorch.musa.empty_cache() \t # cuda\n",
    ),
    "no-newline": (
        b"import torch\ntorch.cuda.empty_cache()",
        b"import torch\nimport torch_musa\ntorch.musa.empty_cache()",
    ),
    "no-newline-crlf": (
        b"import torch\r\nx.cuda()",
        b"import torch\r\nimport torch_musa\r\nx.musa()",
    ),
    "trailing-space": (
        b"import torch   \n\n\n\nx.cuda()   \n   \n\n",
        b"import torch   \nimport torch_musa\n\n\n\nx.musa()   \n   \n\n",
    ),
    "byte-order-mark": (
        b"\xef\xbb\xbfimport torch\nx.cuda()  # \xc3\xa9\n",
        b"\xef\xbb\xbfimport torch\nimport torch_musa\nx.musa()  # \xc3\xa9\n",
    ),
    "byte-order-mark-in-the-first-line": (
        b"\xef\xbb\xbfimport torch; x.cuda()\n",
        b"\xef\xbb\xbfimport torch; import torch_musa; x.musa()\n",
    ),
    "latin-1": (
        b"# -*- coding: latin-1 -*-\nimport torch\ns = '\xe9 cuda'; x.cuda()  # \xe9\xff\n",
        b"# -*- coding: latin-1 -*-\nimport torch\nimport torch_musa\ns = '\xe9 cuda'; x.musa()  # \xe9\xff\n",
    ),
    "cookie-in-the-second-line": (
        b"#!/usr/bin/env python\n# vim: set fileencoding=iso-8859-15 :\nimport torch\ns = '\xa4'; x.cuda()\n",
        b"#!/usr/bin/env python\n# vim: set fileencoding=iso-8859-15 :\nimport torch\nimport torch_musa\n"
        b"s = '\xa4'; x.musa()\n",
    ),
    "utf-8": (
        "import torch\nprint('é中😀 cuda', x.cuda(), '😀', y.is_cuda, f'中{z.cuda()}')\n".encode(),
        "import torch\nimport torch_musa\nprint('é中😀 cuda', x.musa(), '😀', y.is_musa, f'中{z.musa()}')\n".encode(),
    ),
    "form-feed": (
        b"import torch\n\x0c\ndef f():\n    x.cuda()\n\x0c\ny.cuda()\n",
        b"import torch\nimport torch_musa\n\x0c\ndef f():\n    x.musa()\n\x0c\ny.musa()\n",
    ),
    "form-feed-before-code": (
        b"import torch\n\x0cx.cuda()\n",
        b"import torch\nimport torch_musa\n\x0cx.musa()\n",
    ),
    "line-separator-in-a-string": (
        "import torch\ns = 'a\u2028b\x0b\x1c'; x.cuda()\ny.cuda()\n".encode(),
        "import torch\nimport torch_musa\ns = 'a\u2028b\x0b\x1c'; x.musa()\ny.musa()\n".encode(),
    ),
    "backslash-at-the-end": (
        b"import torch\nx.cuda() \\\n\n",
        b"import torch\nimport torch_musa\nx.musa() \\\n\n",
    ),
    "spaces-and-semicolons": (
        b"import torch ;\nx . cuda ( ) ;y.is_cuda;\n",
        b"import torch ; import torch_musa;\nx . musa ( ) ;y.is_musa;\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BYTES)
def test_bytes(port: Port, name: str) -> None:
    """Encodings, line ends and odd layouts: only the words change, and one import comes in where the layout lets it."""
    before, after = BYTES[name]
    result = port(before)
    assert result.status is FileStatus.PORTED
    if b";" in before.split(b"\n")[0]:  # how to add to a line of several statements is not laid down
        assert [line for line in result.data.split(b"\n")[1:] if b"torch_musa" not in line] == after.split(b"\n")[1:]
        assert result.data.count(b"import torch_musa") == 1
    else:
        assert result.data == after


def test_columns_count_characters(port: Port) -> None:
    result = port("import torch\nx = '😀é'; y.cuda()\n")
    (edit,) = [edit for edit in result.edits if edit.rule == "P7"]
    assert (edit.line, edit.column + edit.old.index("cuda")) == (2, 13)


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\r\n\r\n", b"\xef\xbb\xbf", b"# cuda", b"'cuda'", b"\\\n", b"  # cuda\n"]
)
def test_files_without_a_statement(rewrites: Rewrites, data: bytes) -> None:
    result = rewrites(data)
    assert result.findings == []


BROKEN = {
    "python-2-print": b"import torch\nprint 'cuda', torch.cuda.device_count()\n",
    "python-2-exec": b"exec 'x' in y\nx.cuda()\n",
    "python-2-backticks": b"import torch\nx = `y`\nx.cuda()\n",
    "python-2-octal": b"import torch\nos.chmod(p, 0755)\nx.cuda()\n",
    "template": b"import torch\nx = {{ cuda }}.cuda(\n{% for i in x %}\n",
    "merge-conflict": b"<<<<<<< HEAD\nx.cuda()\n=======\ny.cuda()\n>>>>>>> b\n",
    "unclosed": b"import torch\nx.cuda(\n",
    "bad-indent": b"import torch\nif x:\nx.cuda()\n",
    "nul": b"import torch\nx.cuda()\n\0\n",
    "bad-utf-8": b"import torch\nx = '\xff\xfe'\ny.cuda()\n",
    "unknown-coding": b"# coding: klingon\nimport torch\nx.cuda()\n",
    "wrong-coding": b"# coding: ascii\nimport torch\ns = '\xe9'\nx.cuda()\n",
    "notebook-magic": b"import torch\n%matplotlib inline\n!nvidia-smi\nx.cuda()\n",
    "open-string": b"import torch\nx = 'cuda\ny.cuda()\n",
    "mixed-indentation": b"import torch\nif x:\n\ty.cuda()\n        z.cuda()\n    w\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_files_that_do_not_parse_are_copied_and_reported(data: bytes) -> None:
    result = port_sources({"a.py": data, "b.py": b"import torch\nx.cuda()\n"})
    assert result["a.py"].data == data
    assert result["a.py"].edits == []
    assert result["a.py"].findings or result["a.py"].reason
    assert b".musa()" in result["b.py"].data


DEEP = {
    "parentheses": b"x = " + b"(" * 3000 + b"y.cuda()" + b")" * 3000,
    "lists": b"x = " + b"[" * 3000 + b"y.cuda()" + b"]" * 3000,
    "calls": b"x = " + b"f(" * 3000 + b"y.cuda()" + b")" * 3000,
    "chain": b"x = y" + b".cuda()" * 400,
    "sum": b"x = y.cuda()" + b" + y.cuda()" * 1500,
    "branches": b"if x: pass\n" + b"elif y.cuda(): pass\n" * 1500,
    "blocks": b"".join(b" " * depth + b"if x:\n" for depth in range(98)) + b" " * 98 + b"y.cuda()",
}
PORT = """
import sys
from pathlib import Path
from musa_port import port_tree
port_tree(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_does_not_end_the_run(tmp_path: Path, name: str) -> None:
    """In a process of its own: a parser that runs out of stack would take the tests with it."""
    source, output = tmp_path / "source", tmp_path / "output"
    source.mkdir()
    files = {"deep.py": b"import torch\n" + DEEP[name] + b"\n", "next.py": b"import torch\nx.cuda()\n"}
    for path, data in files.items():
        (source / path).write_bytes(data)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, "-c", PORT, source, output], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    deep = (output / "deep.py").read_bytes()
    assert deep == files["deep.py"] or b".cuda()" not in deep
    assert b".musa()" in (output / "next.py").read_bytes()


def test_newer_syntax_is_ported_or_copied() -> None:
    """Syntax that this Python may not know: never half a port."""
    texts: dict[str, Any] = {
        "quotes.py": b'import torch\nx = f"{y[\'cuda\'].cuda()} {f"{z.cuda()}"}"\n',
        "type.py": b"import torch\ntype X[T] = list[torch.cuda.Stream]\n",
        "except.py": b"import torch\ntry: x.cuda()\nexcept* ValueError: pass\n",
    }
    for path, result in port_sources(texts).items():
        changed = b".musa" in result.data and b".cuda" not in result.data
        assert changed or (result.data == texts[path] and (result.findings or result.reason)), path
    assert sys.version_info >= (3, 10)


def test_other_files_are_not_python() -> None:
    """A text with another extension is not touched by the Python rules."""
    text = b"import torch\nx.cuda()\n"
    for path in ("notes.txt", "a.md", "a.ipynb", "a.rst", "data.json"):
        assert port_sources({path: text})[path].data == text
