"""`musa-port: off`, `on` and `ignore` in comments, in every kind of file: nothing there is changed or reported."""

from __future__ import annotations

import pytest

from musa_port import FilePort, port_sources

#: A file name, how a comment begins there, a line with CUDA, and what it becomes.
KINDS = {
    "python": ("a.py", "#", "x = x.cuda()", "x = x.musa()"),
    "tilelang": ("k.py", "#", 'f = tilelang.compile(k, target="cuda")', 'f = tilelang.compile(k, target="musa")'),
    "c++": ("a.cpp", "//", "void f() { cudaDeviceSynchronize(); }", "void f() { musaDeviceSynchronize(); }"),
    "cmake": ("CMakeLists.txt", "#", "target_link_libraries(a cudart)", "target_link_libraries(a musart)"),
    "make": ("Makefile", "#", "X = -lcudart", "X = -lmusart"),
    "shell": ("a.sh", "#", "export CUDA_HOME=/x", "export MUSA_HOME=/x"),
    "dockerfile": ("Dockerfile", "#", "ENV CUDA_HOME=/x", "ENV MUSA_HOME=/x"),
}
HEADS = {"python": "import torch\nimport torch_musa\n", "tilelang": "import tilelang\n", "dockerfile": "FROM a\n"}
every = pytest.mark.parametrize("kind", KINDS)


def ported(path: str, text: str) -> FilePort:
    return port_sources({path: text.encode()})[path]


def said(result: FilePort) -> list[tuple[str, int]]:
    return [(finding.rule, finding.line) for finding in result.findings if finding.rule in ("C60", "C61")]


@every
def test_region(kind: str) -> None:
    path, mark, before, after = KINDS[kind]
    head = HEADS.get(kind, "")
    text = f"{head}{mark} musa-port: off\n{{0}}\n{mark} musa-port: on\n{{1}}\n"
    result = ported(path, text.format(before, before))
    assert result.data.decode() == text.format(before, after)
    assert said(result) == [("C60", head.count("\n") + 1)]


@every
@pytest.mark.parametrize("marker", ["musa-port: ignore", "MUSIFY_EXCL_LINE"])
def test_line(kind: str, marker: str) -> None:
    path, mark, before, after = KINDS[kind]
    head = HEADS.get(kind, "")
    text = f"{head}{{0}}  {mark} {marker}\n{{1}}\n"
    result = ported(path, text.format(before, before))
    assert result.data.decode() == text.format(before, after)
    assert said(result) == [("C60", head.count("\n") + 1)]


@every
def test_region_that_is_never_closed(kind: str) -> None:
    path, mark, before, after = KINDS[kind]
    head = HEADS.get(kind, "")
    text = f"{head}{{1}}\n{mark} MUSIFY_EXCL_START\n{{0}}\n"
    result = ported(path, text.format(before, before))
    assert result.data.decode() == text.format(before, after)
    line = head.count("\n") + 2
    assert sorted(said(result)) == [("C60", line), ("C61", line)]


@pytest.mark.parametrize(
    "text",
    [
        's = "# musa-port: off"\n',
        "s = '''\n# musa-port: off\n'''\n",
        's = "\\"# musa-port: off"\n',
        'def f():\n    """Write # musa-port: ignore behind it."""\n',
    ],
)
def test_text_of_python_is_no_comment(text: str) -> None:
    result = ported("a.py", f"import torch\nimport torch_musa\n{text}x.cuda()\n")
    assert result.data.endswith(b"x.musa()\n")
    assert said(result) == []


def test_comment_of_python_behind_strings() -> None:
    text = "import torch\nx.to('#', \"it's\").cuda()  # it's musa-port: ignore\n"
    assert ported("a.py", text).data.decode() == text


def test_nothing_is_imported_for_what_is_left() -> None:
    text = 'import torch\n# musa-port: off\ntorch.cuda.synchronize()\nx = x.to("cuda")\n'
    assert ported("a.py", text).data.decode() == text


def test_findings_of_python_in_a_region_disappear() -> None:
    code = 'torch.cuda.clock_rate()\nif platform == "cuda": pass\n'
    result = ported("a.py", f"import torch\n# musa-port: off\n{code}# musa-port: on\n")
    assert [finding.rule for finding in result.findings] == ["C60"]


def test_file_that_does_not_parse_is_reported_all_the_same() -> None:
    result = ported("a.py", "import torch\n# musa-port: off\nx.cuda(\n")
    assert "F16" in {finding.rule for finding in result.findings}
