"""Whole trees: every file arrives with its bytes, mode and name, links stay safe, and `--in-place` loses nothing."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from musa_port import FileStatus, Options, Report, UsageError, port_tree
from musa_port.run import Run, execute

CODE = "void f(void* p) { cudaFree(p); }\n"
PORTED = CODE.replace("cuda", "musa")
NOTHING = "int f();\n"


def tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def contents(folder: Path) -> dict[str, object]:
    """Every file and link below the folder, empty folders too: text (or bytes), or where the link leads."""
    table: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            table[name] = ("->", os.readlink(path))
        elif path.is_dir():
            if not any(path.iterdir()):
                table[name] = "empty folder"
        else:
            data = path.read_bytes()
            try:
                table[name] = data.decode()
            except UnicodeDecodeError:
                table[name] = data
    return table


def ported(tmp_path: Path, files: Mapping[str, str | bytes], **options: Any) -> dict[str, object]:
    """The output tree."""
    port_tree(tree(tmp_path / "src", files), tmp_path / "out", Options(**options))
    return contents(tmp_path / "out")


def statuses(report: Report) -> dict[str, str]:
    return {file.path: file.status.value for file in report.files}


def rules(report: Report) -> list[tuple[str, str]]:
    return [(finding.rule, finding.path) for finding in report.findings()]


# ---- bytes and modes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b""),
        (b"\n", b"\n"),
        (b"cudaFree(p);", b"musaFree(p);"),
        (b"cudaFree(p);\r\ncudaFree(q);\r\n", b"musaFree(p);\r\nmusaFree(q);\r\n"),
        (b"cudaFree(p);\rcudaFree(q);\r", b"musaFree(p);\rmusaFree(q);\r"),
        (b"cudaFree(p);\r\ncudaFree(q);\n\r\n\r", b"musaFree(p);\r\nmusaFree(q);\n\r\n\r"),
        (b"// caf\xe9 \x80\xff\ncudaFree(p);\n", b"// caf\xe9 \x80\xff\nmusaFree(p);\n"),
        (b'cudaFree("\xe9"); // \xfe\n', b'musaFree("\xe9"); // \xfe\n'),
        (b"\xef\xbb\xbfcudaFree(p);\n", b"\xef\xbb\xbfmusaFree(p);\n"),
        ("// \u4e2d\u6587\u2028 x\ncudaFree(p);\n".encode(), "// \u4e2d\u6587\u2028 x\nmusaFree(p);\n".encode()),
        (b"// " + "\u4e2d".encode("gbk") + b"\ncudaFree(p);\n", b"// " + "\u4e2d".encode("gbk") + b"\nmusaFree(p);\n"),
        (b"\tcudaFree(p);  \t\n\x0c\n\x1a", b"\tmusaFree(p);  \t\n\x0c\n\x1a"),
        (b"x" * 5000 + b"\0 cudaFree(p);\n", b"x" * 5000 + b"\0 musaFree(p);\n"),
    ],
)
def test_bytes(tmp_path: Path, before: bytes, after: bytes) -> None:
    src, out = tree(tmp_path / "src", {"a.h": before, "b.cu": before, "c.txt": before}), tmp_path / "out"
    port_tree(src, out)
    assert [(out / name).read_bytes() for name in ("a.h", "b.mu", "c.txt")] == [after, after, before]


def test_unchanged_files(tmp_path: Path) -> None:
    """Whatever is not ported has the same bytes: text without CUDA, comments, data."""
    noise = random.Random(1).randbytes(100_000)
    files = {
        "a.h": b"// cudaFree \xff\r\nint x;\r\n ",
        "b.bin": noise,
        "c.h": noise,
        "CMakeLists.txt": b"# find_package(CUDA)\r\nproject(cuda LANGUAGES CXX)\r\n",
        "d.py": b"# torch.cuda\r\nimport torch",
        "Makefile": b"# NVCC = nvcc\nall:",
        "meson.build": b"project('x', 'cuda')",
        "no-extension": b"\0",
        "empty": b"",
    }
    src = tree(tmp_path / "src", files)
    report = port_tree(src, tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == files
    assert report.edit_count == 0
    assert FileStatus.PORTED not in {file.status for file in report.files}


@pytest.mark.parametrize("mode", [0o755, 0o644, 0o600, 0o444])
def test_modes(tmp_path: Path, mode: int) -> None:
    src, out = tree(tmp_path / "src", {"a.cu": CODE, "b.h": NOTHING, "c.sh": "x"}), tmp_path / "out"
    for path in src.iterdir():
        path.chmod(mode)
    port_tree(src, out)
    assert {path.name: path.stat().st_mode & 0o7777 for path in out.iterdir()} == dict.fromkeys(
        ("a.mu", "b.h", "c.sh"), mode
    )


@pytest.mark.parametrize("name", ["a.cu", "b.h", "c.sh"])
def test_mode_that_changed_since(tmp_path: Path, name: str) -> None:
    """`chmod +x` on a source is a change too."""
    src, out = tree(tmp_path / "src", {"a.cu": CODE, "b.h": NOTHING, "c.sh": "x"}), tmp_path / "out"
    port_tree(src, out)
    (src / name).chmod(0o755)
    port_tree(src, out)
    assert (out / name.replace(".cu", ".mu")).stat().st_mode & 0o777 == 0o755


def test_second_run_writes_nothing(tmp_path: Path) -> None:
    """Build tools look at times: what has the right bytes already is not written again."""
    src, out = tree(tmp_path / "src", {"a.cu": CODE, "b.h": NOTHING, "c.txt": "x"}), tmp_path / "out"
    (src / "link.cu").symlink_to("a.cu")
    port_tree(src, out)
    before = {path.name: (path.lstat().st_ino, path.lstat().st_mtime_ns) for path in out.iterdir()}
    port_tree(src, out)
    assert {path.name: (path.lstat().st_ino, path.lstat().st_mtime_ns) for path in out.iterdir()} == before


def test_output_is_replaced_not_written_into(tmp_path: Path) -> None:
    """An output that is a second name of another file (a hard or symbolic link) leaves that file alone."""
    src, out = tree(tmp_path / "src", {"a.cu": CODE, "b.txt": "new", "c.cu": CODE}), tree(tmp_path / "out", {})
    elsewhere = tree(tmp_path / "elsewhere", {"a": "mine", "b": "mine", "c": "mine"})
    (out / "a.mu").hardlink_to(elsewhere / "a")
    (out / "b.txt").symlink_to(elsewhere / "b")
    (out / "c.mu").symlink_to(elsewhere / "c")
    port_tree(src, out)
    assert contents(elsewhere) == {"a": "mine", "b": "mine", "c": "mine"}
    assert contents(out) == {"a.mu": PORTED, "b.txt": "new", "c.mu": PORTED}


def test_folder_link_in_the_output_is_not_followed(tmp_path: Path) -> None:
    """Else a link in OUT would let the run overwrite anything, the source included."""
    src, out = tree(tmp_path / "src", {"sub/a.h": CODE, "sub/b.txt": "new"}), tree(tmp_path / "out", {})
    (out / "sub").symlink_to(src / "sub")
    before = contents(src)
    port_tree(src, out)
    assert contents(src) == before


def test_other_files_in_the_output_stay(tmp_path: Path) -> None:
    tree(tmp_path / "out", {"mine.txt": "mine", "sub/mine.mu": "mine"})
    assert ported(tmp_path, {"a.cu": CODE, "sub/b.cu": CODE}) == {
        "a.mu": PORTED,
        "mine.txt": "mine",
        "sub/b.mu": PORTED,
        "sub/mine.mu": "mine",
    }


# ---- names and places -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        " leading and trailing ",
        "\u4e2d\u6587-gr\u00f6\u00dfe",
        "quo\"te'",
        "new\nline",
        "tab\tand\\backslash",
        "-o",
        "--diff",
        "a[b]*?{c}",
        "#!@%$&;|<>",
        ".hidden",
        "dots.in.name",
        "x.cu",
        os.fsdecode(b"\xff\xfe"),
        "n" * 250,
    ],
)
def test_odd_name(tmp_path: Path, name: str) -> None:
    output = ported(tmp_path, {f"{name}.cu": CODE, f"{name[:240]}/{name}.txt": "x", f"{name}.h": NOTHING})
    assert output == {f"{name}.mu": PORTED, f"{name[:240]}/{name}.txt": "x", f"{name}.h": NOTHING}


def test_include_of_odd_name(tmp_path: Path) -> None:
    text = '#include "gr\u00f6\u00dfe x.cuh"\n#include "sub dir/b.cuh"\n'
    output = ported(tmp_path, {"a.cu": text, "gr\u00f6\u00dfe x.cuh": "", "sub dir/b.cuh": ""})
    assert output["a.mu"] == text.replace("cuh", "muh")


def test_deep_tree(tmp_path: Path) -> None:
    folder = "/".join("d" * 10 for _ in range(100))
    assert ported(tmp_path, {f"{folder}/a.cu": CODE}) == {f"{folder}/a.mu": PORTED}


def test_hidden_and_dotted(tmp_path: Path) -> None:
    files = {".gitignore": "x", ".gitmodules": "x", ".github/a.yml": "x", ".cu": CODE, ".hidden/.a.cu": CODE}
    assert ported(tmp_path, files) == {
        ".gitignore": "x",
        ".gitmodules": "x",
        ".github/a.yml": "x",
        ".cu": CODE,
        ".hidden/.a.mu": PORTED,
    }


@pytest.mark.parametrize(
    "path", [".git/config", ".hg/a.cu", ".svn/a.cu", "sub/.git/a.h", "sub/__pycache__/a.pyc", "sub/.git", ".git"]
)
def test_version_control_is_no_source(tmp_path: Path, path: str) -> None:
    """A file `.git` is what submodules and worktrees have: in OUT it would name the repository of the source."""
    assert ported(tmp_path, {path: CODE, "a.cu": CODE}) == {"a.mu": PORTED}


def test_no_files(tmp_path: Path) -> None:
    report = port_tree(tree(tmp_path / "src", {}), tmp_path / "out")
    assert report.files == []
    assert not report.has_errors


@pytest.mark.parametrize(
    ("files", "output"),
    [
        ({"a.cu": CODE, "a.mu": "x"}, {"a.cu": PORTED, "a.mu": "x"}),
        ({"a.cuh": CODE, "a.muh": "x"}, {"a.cuh": PORTED, "a.muh": "x"}),
        ({"a.cu": CODE, "a.cuh": CODE}, {"a.mu": PORTED, "a.muh": PORTED}),
        ({"a.cu": CODE, "b/a.mu": "x"}, {"a.mu": PORTED, "b/a.mu": "x"}),
        ({"a.cu": CODE, "a.mu/b.txt": "x"}, {"a.cu": PORTED, "a.mu/b.txt": "x"}),
        (
            {"a.cuh": CODE, "a.muh": "x", "b.cu": '#include "a.cuh"\n'},
            {"a.cuh": PORTED, "a.muh": "x", "b.mu": '#include "a.cuh"\n'},
        ),
    ],
)
def test_taken_name(tmp_path: Path, files: dict[str, str], output: dict[str, str]) -> None:
    src = tree(tmp_path / "src", files)
    report = port_tree(src, tmp_path / "out")
    assert contents(tmp_path / "out") == output
    taken = [path for path in files if path in output and path.endswith((".cu", ".cuh"))]
    assert rules(report) == [("F12", path) for path in taken] + [
        ("F1", path) for path in sorted(files) if path.endswith((".mu", ".muh"))
    ]


def test_library_headers_keep_their_names(tmp_path: Path) -> None:
    text = "#include <cub/block/x.cuh>\n#include <thrust/y.cuh>\n#include <util.cuh>\n"
    output = ported(
        tmp_path, {"cub/block/x.cuh": CODE, "inc/thrust/y.cuh": CODE, "util.cuh": "", "cubs/z.cuh": "", "a.cu": text}
    )
    assert output == {
        "cub/block/x.cuh": PORTED,
        "inc/thrust/y.cuh": PORTED,
        "util.muh": "",
        "cubs/z.muh": "",
        "a.mu": text.replace("util.cuh", "util.muh"),
    }


def test_keep_ext(tmp_path: Path) -> None:
    files = {"a.cu": '#include "b.cuh"\n' + CODE, "b.cuh": CODE}
    assert ported(tmp_path, files, rename_ext=False) == {"a.cu": '#include "b.cuh"\n' + PORTED, "b.cuh": PORTED}


# ---- links ------------------------------------------------------------------------------------------------------

LINKED = {
    "a.cu": CODE,
    "b.h": CODE,
    "c.txt": "text",
    "sub/d.cuh": CODE,
    "sub/cub/e.cuh": CODE,
    "f.cu": CODE,
    "f.mu": "native",
    "g.mu/x.txt": "text",
}


@pytest.mark.parametrize(
    ("link", "target", "output", "leads_to"),
    [
        ("link.cu", "a.cu", "link.mu", "a.mu"),
        ("link.h", "b.h", "link.h", "b.h"),
        ("link", "c.txt", "link", "c.txt"),
        ("sub/link.cuh", "d.cuh", "sub/link.muh", "d.muh"),
        ("sub/link.cu", "../a.cu", "sub/link.mu", "../a.mu"),
        ("link.cu", "./sub/../a.cu", "link.mu", "./sub/../a.mu"),
        ("link.txt", "a.cu", "link.txt", "a.mu"),  # what it names was renamed
        ("latest", "sub/d.cuh", "latest", "sub/d.muh"),
        ("link.cu", "c.txt", "link.mu", "c.txt"),  # what it names was not
        ("link.cuh", "a.cu", "link.muh", "a.mu"),
        ("link.cuh", "sub/cub/e.cuh", "link.muh", "sub/cub/e.cuh"),
        ("link.cu", "f.cu", "link.mu", "f.cu"),  # kept its name: f.mu exists
        ("f2.cu", "f.mu", "f2.mu", "f.mu"),
        ("folder", "sub", "folder", "sub"),
        ("folder", "sub/", "folder", "sub/"),
        ("folder.cu", "sub", "folder.cu", "sub"),  # a folder keeps its name
        ("sub/up", "..", "sub/up", ".."),
        ("self", ".", "self", "."),
    ],
)
def test_link(tmp_path: Path, link: str, target: str, output: str, leads_to: str) -> None:
    """A link stays a link, and leads to the port of what it led to."""
    src, out = tree(tmp_path / "src", LINKED), tmp_path / "out"
    (src / link).symlink_to(target)
    port_tree(src, out)
    assert (out / output).is_symlink()
    assert os.path.normpath(os.readlink(out / output)) == os.path.normpath(leads_to)
    assert (out / output).exists()


def test_link_keeps_its_name_when_the_new_one_is_taken(tmp_path: Path) -> None:
    src, out = tree(tmp_path / "src", {"a.cu": CODE, "link.mu": "native"}), tmp_path / "out"
    (src / "link.cu").symlink_to("a.cu")
    port_tree(src, out)
    assert contents(out) == {"a.mu": PORTED, "link.cu": ("->", "a.mu"), "link.mu": "native"}


def test_chain_of_links(tmp_path: Path) -> None:
    src, out = tree(tmp_path / "src", {"a.cu": CODE}), tmp_path / "out"
    (src / "b.cu").symlink_to("a.cu")
    (src / "c.txt").symlink_to("b.cu")
    port_tree(src, out)
    assert (out / "c.txt").read_text() == PORTED


def test_include_of_a_linked_header(tmp_path: Path) -> None:
    """The link is renamed like a header, so includes of it follow."""
    src, out = tree(tmp_path / "src", {"real.cuh": CODE, "a.cu": '#include "link.cuh"\n'}), tmp_path / "out"
    (src / "link.cuh").symlink_to("real.cuh")
    port_tree(src, out)
    assert (out / "a.mu").read_text() == '#include "link.muh"\n'
    assert (out / "link.muh").read_text() == PORTED


def test_header_through_a_linked_folder(tmp_path: Path) -> None:
    src, out = tree(tmp_path / "src", {"real/x.cuh": CODE, "a.cu": '#include "link/x.cuh"\n'}), tmp_path / "out"
    (src / "link").symlink_to("real")
    port_tree(src, out)
    assert (out / "a.mu").read_text() == '#include "link/x.muh"\n'
    assert (out / "link/x.muh").read_text() == PORTED


@pytest.mark.parametrize("name", ["link.cu", "link.h", "link.txt", "link"])
@pytest.mark.parametrize("target", ["../outside/a.cu", "../outside", "../no", "{src}/../outside/a.cu", "/", ".."])
def test_link_out_of_the_tree(tmp_path: Path, name: str, target: str) -> None:
    tree(tmp_path / "outside", {"a.cu": "secret"})
    src, out = tree(tmp_path / "src", {"b.cu": CODE}), tmp_path / "out"
    (src / name).symlink_to(target.format(src=src))
    report = port_tree(src, out)
    assert contents(out) == {"b.mu": PORTED}
    assert contents(tmp_path / "outside") == {"a.cu": "secret"}
    assert statuses(report) == {"b.cu": "ported", name: "left-out"}
    assert rules(report) == [("F4", name)]


def test_absolute_link_into_the_tree(tmp_path: Path) -> None:
    """As it is, it would lead from the port to the source."""
    src, out = tree(tmp_path / "src", {"a.cu": CODE}), tmp_path / "out"
    (src / "link.cu").symlink_to(src / "a.cu")
    report = port_tree(src, out)
    assert rules(report) == [("F4", "link.cu")]
    assert contents(out) == {"a.mu": PORTED}
    message = next(report.findings()).message
    assert "outside" not in message
    assert "absolute" in message


def test_links_without_end(tmp_path: Path) -> None:
    src, out = tree(tmp_path / "src", {"a.cu": CODE}), tmp_path / "out"
    (src / "self.cu").symlink_to("self.cu")
    (src / "one").symlink_to("two")
    (src / "two").symlink_to("one")
    report = port_tree(src, out)
    assert (out / "a.mu").read_text() == PORTED
    assert set(statuses(report)) == {"a.cu", "one", "self.cu", "two"}


def test_link_to_nothing(tmp_path: Path) -> None:
    src, out = tree(tmp_path / "src", {"a.cu": CODE}), tmp_path / "out"
    (src / "link.h").symlink_to("missing.h")
    assert statuses(port_tree(src, out))["link.h"] in ("copied", "left-out")
    assert not (out / "link.h").exists()


def test_links_in_the_source_path(tmp_path: Path) -> None:
    """SRC itself may be a link."""
    tree(tmp_path / "real", {"a.cu": CODE, "sub/b.cu": CODE})
    (tmp_path / "real/link.cu").symlink_to("sub/b.cu")
    (tmp_path / "src").symlink_to("real")
    port_tree(tmp_path / "src", tmp_path / "out")
    assert contents(tmp_path / "out") == {"a.mu": PORTED, "link.mu": ("->", "sub/b.mu"), "sub/b.mu": PORTED}


def test_source_file_that_is_a_link(tmp_path: Path) -> None:
    """Who names a link means the file."""
    tree(tmp_path / "src", {"a.cu": CODE})
    tree(tmp_path / "links", {})
    (tmp_path / "links/link.cu").symlink_to("../src/a.cu")
    port_tree(tmp_path / "links/link.cu", tmp_path / "out")
    assert (tmp_path / "out/link.mu").read_text() == PORTED


# ---- which files ------------------------------------------------------------------------------------------------

SELECTION = {
    "a.cu": CODE,
    "build/b.cu": CODE,
    "c_generated.cu": CODE,
    "d.cu": "// This file is auto-generated by tool.py\n" + CODE,
    "src/e.cu": CODE,
    "src/deep/f.cuh": CODE,
    "third_party/cutlass/include/g.h": CODE,
    "third_party/other/h.h": CODE,
}
BY_DEFAULT = {"a.cu", "src/e.cu", "src/deep/f.cuh", "third_party/other/h.h"}


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ((), (), BY_DEFAULT),
        ((), ("src/",), BY_DEFAULT - {"src/e.cu", "src/deep/f.cuh"}),
        ((), ("src",), BY_DEFAULT - {"src/e.cu", "src/deep/f.cuh"}),
        ((), ("/src",), BY_DEFAULT - {"src/e.cu", "src/deep/f.cuh"}),
        ((), ("deep/",), BY_DEFAULT - {"src/deep/f.cuh"}),
        ((), ("/deep/",), BY_DEFAULT),
        ((), ("*.cu",), {"src/deep/f.cuh", "third_party/other/h.h"}),
        ((), ("/*.cu",), BY_DEFAULT - {"a.cu"}),
        ((), ("src/*.cu",), BY_DEFAULT - {"src/e.cu"}),
        ((), ("**/f.cuh",), BY_DEFAULT - {"src/deep/f.cuh"}),
        ((), ("src/**",), BY_DEFAULT - {"src/e.cu", "src/deep/f.cuh"}),
        ((), ("src/*", "!src/e.cu"), BY_DEFAULT - {"src/deep/f.cuh"}),
        ((), ("# comment", "", "a.cu"), BY_DEFAULT - {"a.cu"}),
        ((), ("[ab].cu",), BY_DEFAULT - {"a.cu"}),
        ((), ("*",), set()),
        (("src/",), (), {"src/e.cu", "src/deep/f.cuh"}),
        (("*.cuh",), (), {"src/deep/f.cuh"}),
        (("src/", "/a.cu"), ("*.cuh",), {"src/e.cu", "a.cu"}),
        (("third_party/cutlass/",), (), {"third_party/cutlass/include/g.h"}),
        (("build/",), (), {"build/b.cu"}),
        (("c_generated.cu", "d.cu"), (), {"c_generated.cu", "d.cu"}),
        (("*",), (), set(SELECTION)),
        (
            ("*",),
            ("build/", "third_party/"),
            set(SELECTION) - {"build/b.cu", "third_party/cutlass/include/g.h", "third_party/other/h.h"},
        ),
    ],
)
def test_selection(tmp_path: Path, include: tuple[str, ...], exclude: tuple[str, ...], expected: set[str]) -> None:
    src, out = tree(tmp_path / "src", SELECTION), tmp_path / "out"
    report = port_tree(src, out, Options(include=include, exclude=exclude))
    assert {file.path for file in report.files if file.status is FileStatus.PORTED} == expected
    for file in report.files:
        assert file.output_path is not None
        renamed = file.path.replace(".cu", ".mu") if file.path in expected else file.path
        assert file.output_path == renamed
        data = (out / renamed).read_text()
        assert data == (
            SELECTION[file.path].replace("cudaFree", "musaFree") if file.path in expected else SELECTION[file.path]
        )
        assert bool(file.reason) == (file.path not in expected)


def test_skipped_files_are_reported(tmp_path: Path) -> None:
    files = SELECTION | {
        "third_party/cutlass/z.h": CODE,
        "n.mu": "x",
        "f.F90": "call cudaMalloc()",
        "g.go": "package x",
    }
    report = port_tree(tree(tmp_path / "src", files), tmp_path / "out")
    assert sorted(rules(report)) == [
        ("F1", "n.mu"),
        ("F2", "build/b.cu"),
        ("F2", "c_generated.cu"),
        ("F2", "d.cu"),
        ("F3", "third_party/cutlass/z.h"),  # once for the library
        ("F7", "f.F90"),
    ]
    assert statuses(report)["third_party/cutlass/include/g.h"] == "skipped"


def test_excluded_files_still_declare(tmp_path: Path) -> None:
    files = {
        "mine/a.h": "void cudaFree(int x) { }\n",
        "b.cu": CODE,
        "c.cu": '#include "mine/x.cuh"\n',
        "mine/x.cuh": "",
    }
    output = ported(tmp_path, files, exclude=("mine/",))
    assert output == {
        "mine/a.h": files["mine/a.h"],
        "mine/x.cuh": "",
        "b.mu": CODE,
        "c.mu": '#include "mine/x.cuh"\n',
    }


@pytest.mark.parametrize(
    ("only", "expected"), [({"cpp"}, PORTED), ({"cpp", "python"}, PORTED), ({"python"}, None), (set(), None)]
)
def test_only(tmp_path: Path, only: set[str], expected: str | None) -> None:
    output = ported(tmp_path, {"a.cu": CODE}, only=frozenset(only))
    assert output == ({"a.mu": expected} if expected else {"a.cu": CODE})


@pytest.mark.parametrize(("limit", "name"), [(len(CODE), "a.mu"), (len(CODE) - 1, "a.cu")])
def test_max_file_size(tmp_path: Path, limit: int, name: str) -> None:
    report = port_tree(tree(tmp_path / "src", {"a.cu": CODE}), tmp_path / "out", Options(max_file_size=limit))
    assert list(contents(tmp_path / "out")) == [name]
    assert rules(report) == ([] if name == "a.mu" else [("F6", "a.cu")])


@pytest.mark.parametrize(
    "first",
    [
        "// Generated by the build\n",
        "/* AUTOGENERATED */\n",
        "// @generated\n",
        "#pragma once\n// Auto-generated file, do not edit\n",
    ],
)
def test_generated_by_its_first_lines(tmp_path: Path, first: str) -> None:
    assert ported(tmp_path, {"a.h": first + CODE}) == {"a.h": first + CODE}


@pytest.mark.parametrize(
    "first",
    [
        "// regenerated bytes\n",
        "// The random numbers are generated on the device\n",
        "int a;\n" * 5 + "// @generated\n",
    ],
)
def test_not_generated(tmp_path: Path, first: str) -> None:
    assert ported(tmp_path, {"a.h": first + CODE}) == {"a.h": first + PORTED}


# ---- processes --------------------------------------------------------------------------------------------------


def test_jobs(tmp_path: Path) -> None:
    """The number of processes changes nothing: not the output, not the report, not their order."""
    files: dict[str, str | bytes] = {f"{number % 7}/{number}.cu": CODE * number for number in range(150)}
    files |= {
        "paste.h": "#define CALL(f) cuda##f\n",
        "use.cu": '#include "paste.h"\nvoid f() { CALL(Free)(p); other_lib_cuda_init(); }\n',
        "use2.cu": "void g() { other_lib_cuda_init(); }\n",
        "bad.cu": 'void f() { asm("membar.gl;"); } }} cudaFree(\n',
        "x.bin": b"\0\1",
        "y.cu": b"\0\1",
    }
    src = tree(tmp_path / "src", files)
    reports = [port_tree(src, tmp_path / f"out{jobs}", Options(jobs=jobs, keep_edits=True)) for jobs in (1, 2)]
    assert contents(tmp_path / "out1") == contents(tmp_path / "out2")
    one, two = ([asdict(file) for file in report.files] for report in reports)
    assert one == two
    assert sorted(file["path"] for file in one) == sorted(files)


# ---- in place ---------------------------------------------------------------------------------------------------

Repository: TypeAlias = Callable[[Mapping[str, str | bytes]], Path]


def git(folder: Path, *arguments: str) -> str:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A git repository in which the given files are committed."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")

    def create(files: Mapping[str, str | bytes]) -> Path:
        folder = tree(tmp_path / "repo", files)
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "first")
        return folder

    return create


def in_place(source: Path, **options: Any) -> Report:
    return execute(Run(source, source if source.is_dir() else source.parent, Options(**options), "in-place"))


def work_tree(folder: Path) -> dict[str, object]:
    return {path: entry for path, entry in contents(folder).items() if not path.startswith(".git/")}


def test_in_place(repository: Repository) -> None:
    repo = repository({"a.cu": '#include "b.cuh"\n' + CODE, "b.cuh": CODE, "c.h": CODE, "d.txt": "x", "e.h": NOTHING})
    (repo / "c.h").chmod(0o755)
    git(repo, "commit", "-qam", "mode")
    untouched = (repo / "e.h").stat()
    in_place(repo)
    assert work_tree(repo) == {
        "a.mu": '#include "b.muh"\n' + PORTED,
        "b.muh": PORTED,
        "c.h": PORTED,
        "d.txt": "x",
        "e.h": NOTHING,
    }
    assert (repo / "c.h").stat().st_mode & 0o777 == 0o755
    assert (repo / "e.h").stat() == untouched
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "ported")
    before = {path.name: path.stat().st_mtime_ns for path in repo.iterdir() if path.is_file()}
    report = in_place(repo)
    assert {path.name: path.stat().st_mtime_ns for path in repo.iterdir() if path.is_file()} == before
    assert report.edit_count == 0
    assert git(repo, "status", "--porcelain") == ""


def test_in_place_equals_out_of_place(repository: Repository, tmp_path: Path) -> None:
    repo = repository({**SELECTION, "x.mu": "native", "y.cu": b"\0", "z.cuh": b"// \xe9\r\ncudaFree(p);"})
    (repo / "link.cu").symlink_to("a.cu")
    (repo / "link.txt").symlink_to("src/deep/f.cuh")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "links")
    port_tree(repo, tmp_path / "out")
    in_place(repo)
    assert work_tree(repo) == contents(tmp_path / "out")


@pytest.mark.parametrize("change", ["modified", "staged", "untracked", "deleted"])
def test_in_place_refuses_a_dirty_tree(repository: Repository, change: str) -> None:
    repo = repository({"a.cu": CODE, "b.h": NOTHING, "c.h": NOTHING})
    if change in ("modified", "staged"):
        (repo / "b.h").write_text("int g();\n")
    if change == "staged":
        git(repo, "add", "-A")
    if change == "untracked":
        (repo / "new.cu").write_text(CODE)
    if change == "deleted":
        (repo / "c.h").unlink()
    before = work_tree(repo)
    with pytest.raises(UsageError, match=r"uncommitted change.*--force"):
        in_place(repo)
    assert work_tree(repo) == before
    in_place(repo, force=True)
    assert work_tree(repo)["a.mu"] == PORTED


def test_in_place_refuses_ignored_sources(repository: Repository) -> None:
    """git cannot bring back what it ignores."""
    repo = repository({"a.cu": CODE, ".gitignore": "local.*\n"})
    (repo / "local.cu").write_text(CODE)
    with pytest.raises(UsageError, match="--force"):
        in_place(repo)
    assert (repo / "local.cu").read_text() == CODE


def test_in_place_allows_other_ignored_files(repository: Repository) -> None:
    """Object files and logs are not touched, so they do not matter."""
    repo = repository({"a.cu": CODE, ".gitignore": "*.o\n*.log\n"})
    tree(repo, {"a.o": "x", "sub/b.log": "x"})
    in_place(repo)
    assert (repo / "a.mu").exists()


def test_in_place_outside_git(tmp_path: Path) -> None:
    src = tree(tmp_path / "src", {"a.cu": CODE})
    with pytest.raises(UsageError, match=r"not in a git repository.*--force"):
        in_place(src)
    assert contents(src) == {"a.cu": CODE}
    in_place(src, force=True)
    assert contents(src) == {"a.mu": PORTED}


def test_in_place_without_git_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    src = tree(tmp_path / "src", {"a.cu": CODE})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="needs git"):
        in_place(src)


def test_in_place_looks_at_its_folder_only(repository: Repository) -> None:
    repo = repository({"one/a.cu": CODE, "two/b.cu": CODE})
    (repo / "two/b.cu").write_text("changed")
    in_place(repo / "one")
    assert work_tree(repo) == {"one/a.mu": PORTED, "two/b.cu": "changed"}


def test_in_place_for_one_file(repository: Repository) -> None:
    repo = repository({"a.cu": CODE, "b.cu": CODE})
    in_place(repo / "a.cu")
    assert work_tree(repo) == {"a.mu": PORTED, "b.cu": CODE}


def test_in_place_keeps_the_old_file_until_the_new_one_is_there(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository({"a.cu": CODE, "b.h": CODE})

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("musa_port.write.os.replace", fail)
        report = in_place(repo)
    assert statuses(report) == {"a.cu": "failed", "b.h": "failed"}
    assert work_tree(repo) == {"a.cu": CODE, "b.h": CODE}

    steps: list[tuple[str, str]] = []
    unlink = Path.unlink

    def spy(path: Path, *arguments: Any, **options: Any) -> None:
        if path.suffix == ".cu":
            steps.append((path.name, (repo / "a.mu").read_text()))
        unlink(path, *arguments, **options)

    monkeypatch.setattr(Path, "unlink", spy)
    in_place(repo)
    assert steps == [("a.cu", PORTED)]


def test_in_place_never_overwrites_a_taken_name(repository: Repository) -> None:
    repo = repository({"a.cu": CODE, "a.mu": "native"})
    in_place(repo)
    assert work_tree(repo) == {"a.cu": PORTED, "a.mu": "native"}


def test_in_place_leaves_links_out_of_the_tree(repository: Repository, tmp_path: Path) -> None:
    outside = tree(tmp_path / "outside", {"a.cu": CODE})
    repo = repository({"b.cu": CODE})
    (repo / "link.cu").symlink_to("../outside/a.cu")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "link")
    in_place(repo)
    assert contents(outside) == {"a.cu": CODE}
    assert work_tree(repo) == {"b.mu": PORTED, "link.cu": ("->", "../outside/a.cu")}


BUILD_FILES = {
    "src/k.cu": CODE,
    "src/u.h": CODE,
    "CMakeLists.txt": "project(x)\nadd_library(k src/k.cu src/u.h)\nadd_executable(t src/k.cu)\n",
    "Makefile": "k.o: src/k.cu\n",
    "setup.py": "from torch.utils.cpp_extension import CUDAExtension\nCUDAExtension('x', ['src/k.cu'])\n",
    "other.cmake": "set(FILES src/u.h other.cu)\n",
    "BUILD.bazel": 'cc_library(\n    srcs = ["src/k.cu"],\n)\n',
    "src/meson.build": "sources = files('k.cu', 'u.h')\n",
    "rules.bzl": "SOURCES = ['other.cu']\n",
    "notes.txt": "src/k.cu\n",
    # a vendored project with a source of the same name, which keeps it
    "vendor/cub/BUILD": "srcs = ['src/k.cu']\n",
    "vendor/cub/src/k.cu": CODE,
}


def stale(report: Report) -> set[tuple[str, int, str]]:
    """The findings of F15."""
    return {(finding.path, finding.line, finding.old) for finding in report.findings() if finding.rule == "F15"}


def test_build_files_of_other_tools_that_name_renamed_sources(tmp_path: Path) -> None:
    """They are not ported: without a word the build would look for files that are gone."""
    src = tree(tmp_path / "src", BUILD_FILES)
    report = port_tree(src, tmp_path / "out")
    assert stale(report) == {("BUILD.bazel", 2, "k.cu"), ("src/meson.build", 1, "k.cu")}
    assert {"vendor/cub/src/k.cu", "src/k.mu"} <= contents(tmp_path / "out").keys()
    for name in ("CMakeLists.txt", "Makefile", "setup.py"):
        assert "src/k.mu" in (tmp_path / "out" / name).read_text(encoding="utf-8")
    kept = port_tree(src, tmp_path / "kept", Options(rename_ext=False))
    assert stale(kept) == set()


@pytest.mark.parametrize(
    "options",
    [{"only": frozenset({"cpp"})}, {"exclude": ("CMakeLists.txt", "Makefile", "setup.py")}],
    ids=["only", "exclude"],
)
def test_build_files_that_the_user_leaves_out(tmp_path: Path, options: dict[str, Any]) -> None:
    report = port_tree(tree(tmp_path / "src", BUILD_FILES), tmp_path / "out", Options(**options))
    assert stale(report) == {
        ("BUILD.bazel", 2, "k.cu"),
        ("CMakeLists.txt", 2, "k.cu"),
        ("Makefile", 1, "k.cu"),
        ("setup.py", 2, "k.cu"),
        ("src/meson.build", 1, "k.cu"),
    }


def test_build_files_of_a_reverse_run(tmp_path: Path) -> None:
    files = {"k.mu": "int k;\n", "CMakeLists.txt": "musa_add_library(k k.mu)\n"}
    report = port_tree(tree(tmp_path / "src", files), tmp_path / "out", Options(reverse=True))
    assert stale(report) == {("CMakeLists.txt", 1, "k.mu")}


def test_files_that_a_reverse_run_does_not_port(tmp_path: Path) -> None:
    """Those that use MUSA are findings; all keep their bytes."""
    files = {
        "k.mu": "void f(void* p) { musaFree(p); }\n",
        "a.py": "import torch_musa\n",
        "b.sh": "mcc -c x.cc\n",
        "CMakeLists.txt": "find_package(MUSAToolkit)\n",
        "run": "#!/bin/sh\nexport MUSA_HOME=/usr/local/musa\n",
        "plain.py": "print(1)\n",
    }
    report = port_tree(tree(tmp_path / "src", files), tmp_path / "out", Options(reverse=True))
    found = [finding for finding in report.findings() if finding.rule == "F17"]
    assert {finding.path for finding in found} == {"a.py", "b.sh", "CMakeLists.txt", "run"}
    assert {finding.severity.value for finding in found} == {"warning"}
    assert {file.path for file in report.files if "--reverse" in file.reason} == files.keys() - {"k.mu"}
    there = contents(tmp_path / "out")
    assert {path: there[path] for path in files if path != "k.mu"} == {
        path: text for path, text in files.items() if path != "k.mu"
    }
