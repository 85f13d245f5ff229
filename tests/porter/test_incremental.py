"""`--state`: a later run does only what changed, gives what a full run gives, and keeps what people wrote by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from musa_port import FileStatus, Options, Report, UsageError, port_tree
from musa_port.cuda import engine

FREE = "void f(void* p) { cudaFree(p); }\n"
SOURCES = {
    "a.cu": '#include "util.cuh"\n' + FREE,
    "b.cu": "void g(void* p) { cudaMalloc(&p, 1); other_lib_cuda_init(); }\n",
    "c.h": '__device__ void h() { asm volatile("membar.gl;"); other_lib_cuda_init(); }\n',
    "d.h": "int nothing();\n",
    "paste.h": "#define CALL(f) cuda##f\n",
    "pasted.cu": '#include "paste.h"\nvoid k(void* p) { CALL(Free)(p); }\n',
    "util.cuh": "#pragma once\n",
    "n.mu": "native",
    "CMakeLists.txt": "project(x LANGUAGES CUDA)\n",
}


class Project:
    """A source tree with a state file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.src, self.out, self.state = folder / "src", folder / "out", folder / "state.json"
        write(self.src, SOURCES)

    def run(self, **options: Any) -> Report:
        return port_tree(self.src, self.out, Options(state=self.state, **options))

    def fresh(self, name: str, **options: Any) -> Report:
        """A full run into a new folder."""
        return port_tree(self.src, self.folder / name, Options(**options))


def write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def contents(folder: Path) -> dict[str, tuple[str, int]]:
    """Text and mode of each file."""
    return {
        str(path.relative_to(folder)): (path.read_text(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file()
    }


def times(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def account(report: Report) -> list[dict[str, Any]]:
    """All that a report says about the files."""
    return [asdict(file) for file in report.files]


def remarks(report: Report, rule: str) -> list[str]:
    return [finding.path for finding in report.findings() if finding.rule == rule]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def ported(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that the engine decides, as it does."""
    paths: list[str] = []
    original = engine.port

    def spy(path: str, *arguments: Any) -> Any:
        paths.append(path)
        return original(path, *arguments)

    monkeypatch.setattr(engine, "port", spy)
    return paths


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The sources that the engine parses."""
    sources: list[bytes] = []
    original = engine.scan

    def spy(data: bytes, *arguments: Any) -> Any:
        sources.append(data)
        return original(data, *arguments)

    monkeypatch.setattr(engine, "scan", spy)
    return sources


# ---- only what changed ------------------------------------------------------------------------------------------


def test_nothing_changed(project: Project, ported: list[str], scanned: list[bytes]) -> None:
    first = project.run()
    assert len(ported) == 7
    assert len(scanned) == 8  # the native file declares names too
    before = times(project.out)
    del ported[:], scanned[:]
    second = project.run()
    assert ported == []
    assert scanned == []
    assert times(project.out) == before
    assert account(second) == account(first)


def test_first_run_is_a_full_run(project: Project) -> None:
    assert account(project.run()) == account(project.fresh("full"))
    assert contents(project.out) == contents(project.folder / "full")


def test_a_new_time_is_no_change(project: Project, ported: list[str]) -> None:
    project.run()
    del ported[:]
    for path in project.src.iterdir():
        os.utime(path, (1, 1))
    project.run()
    assert ported == []


def test_changed_body(project: Project, ported: list[str], scanned: list[bytes]) -> None:
    """A change that declares nothing new touches its own file only."""
    project.run()
    before = times(project.out)
    del ported[:], scanned[:]
    write(project.src, {"b.cu": SOURCES["b.cu"] + "\n// more\n"})
    project.run()
    assert ported == ["b.cu"]
    assert len(scanned) == 1
    after = times(project.out)
    assert {path for path in after if after[path] != before[path]} == {"b.mu"}
    assert (project.out / "b.mu").read_text().endswith("// more\n")


def test_changed_declaration(project: Project) -> None:
    """A declaration in one file changes a decision in another that did not change."""
    project.run()
    assert "musaFree" in (project.out / "a.mu").read_text()
    write(project.src, {"d.h": "inline void cudaFree(void* p) { }\n"})
    project.run()
    assert "cudaFree" in (project.out / "a.mu").read_text()
    write(project.src, {"d.h": SOURCES["d.h"]})
    project.run()
    assert "musaFree" in (project.out / "a.mu").read_text()


def test_deleted_output(project: Project, ported: list[str]) -> None:
    project.run()
    expected = contents(project.out)
    del ported[:]
    for name in ("a.mu", "d.h", "CMakeLists.txt"):
        (project.out / name).unlink()
    project.run()
    assert contents(project.out) == expected
    assert sorted(ported) == ["a.cu", "d.h"]


def test_lost_output_folder(project: Project) -> None:
    project.run()
    expected = contents(project.out)
    for path in project.out.iterdir():
        path.unlink()
    project.out.rmdir()
    project.run()
    assert contents(project.out) == expected


@pytest.mark.parametrize(
    "options",
    [{"arch": ("mp_31",)}, {"comments": True}, {"min_confidence": "high"}, {"keep_names": ("cudaFree",)},
     {"guards": "report"}, {"cuda_version": 12080}, {"keep_edits": True}, {"reverse": True}],
)  # fmt: skip
def test_other_options(project: Project, ported: list[str], options: dict[str, Any]) -> None:
    """All again: decisions depend on options."""
    project.run()
    del ported[:]
    report = project.run(**options)
    decided = {file.path for file in report.files if file.status in (FileStatus.PORTED, FileStatus.UNCHANGED)}
    assert sorted(ported) == sorted(decided - {"CMakeLists.txt"}), "the spy sees C-family sources only"
    assert account(report) == account(project.fresh("full", **options))


@pytest.mark.parametrize("options", [{"jobs": 2}, {"force": True}])
def test_options_that_decide_nothing(project: Project, ported: list[str], options: dict[str, Any]) -> None:
    first = project.run()
    before = times(project.out)
    del ported[:]
    assert account(project.run(**options)) == account(first)
    assert ported == []
    assert times(project.out) == before


@pytest.mark.parametrize("option", ["map_files", "arch_map"])
def test_changed_table(project: Project, ported: list[str], option: str) -> None:
    """The content of a map file counts, not its name."""
    table = project.folder / "table"
    texts = ['{"cudaFree": "one"}', '{"cudaFree": "two"}'] if option == "map_files" else ["800,220\n", "800,221\n"]
    options = {option: (table,) if option == "map_files" else table}
    table.write_text(texts[0])
    project.run(**options)
    del ported[:]
    project.run(**options)
    assert ported == []
    table.write_text(texts[1])
    report = project.run(**options)
    assert len(ported) == 7
    assert account(report) == account(project.fresh("full", **options))


def test_state_holds_between_processes(project: Project) -> None:
    """The same sources and options have the same digests in each process, whatever Python's hash seed is."""
    states = []
    for seed in ("1", "2", "3"):
        subprocess.run(
            [sys.executable, "-m", "musa_port", project.src, "-o", project.out, "--state", project.state, "-q"],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=False,
            timeout=60,
        )
        states.append(json.loads(project.state.read_text()))
    assert len({state["digest"] for state in states}) == 1
    assert len({state["index"] for state in states}) == 1
    assert states[0] == states[1] == states[2]


# ---- the same as a full run -------------------------------------------------------------------------------------


def rename(project: Project) -> None:
    (project.src / "a.cu").rename(project.src / "a2.cu")


def remove(project: Project) -> None:
    (project.src / "b.cu").unlink()


def add(project: Project) -> None:
    write(project.src, {"new/e.cu": FREE, "new/f.txt": "text"})


def edit(project: Project) -> None:
    write(project.src, {"c.h": "int clean();\n", "CMakeLists.txt": "project(y)\n"})


def take_name(project: Project) -> None:
    write(project.src, {"a.mu": "native"})


def unknown_name(project: Project) -> None:
    """The "look at this name" of the tree moves to another file."""
    write(project.src, {"b.cu": FREE, "z.cu": "void z() { other_lib_cuda_init(); other_lib_cuda_init(); }\n"})


def executable(project: Project) -> None:
    (project.src / "a.cu").chmod(0o755)
    (project.src / "CMakeLists.txt").chmod(0o755)


def other_paste(project: Project) -> None:
    write(project.src, {"pasted.cu": '#include "paste.h"\nvoid k(void* p) { CALL(NoSuchThing)(p); }\n'})


def no_longer_text(project: Project) -> None:
    (project.src / "b.cu").write_bytes(b"\0\1\2 cudaFree")


def generated(project: Project) -> None:
    write(project.src, {"b.cu": "// @generated\n" + FREE})


def header_goes(project: Project) -> None:
    """The include of a file that is gone is no longer the project's."""
    (project.src / "util.cuh").unlink()


CHANGES = [rename, remove, add, edit, take_name, unknown_name, executable, other_paste, no_longer_text, generated,
           header_goes]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_report_is_that_of_a_full_run(project: Project, change: Callable[[Project], None]) -> None:
    project.run()
    change(project)
    assert account(project.run()) == account(project.fresh("full"))
    assert account(project.run()) == account(project.fresh("full2"))


@pytest.mark.parametrize("change", CHANGES)
def test_output_is_that_of_a_full_run(project: Project, change: Callable[[Project], None]) -> None:
    """Outputs of sources that are gone go too, when they are as the last run left them: builds that collect `*.mu`
    would compile them."""
    project.run()
    change(project)
    project.run()
    project.fresh("full")
    assert contents(project.out) == contents(project.folder / "full")


def test_records_of_lost_sources_go(project: Project) -> None:
    project.run()
    remove(project)
    project.run()
    assert "b.cu" not in json.loads(project.state.read_text())["records"]


# ---- what people changed by hand --------------------------------------------------------------------------------


def test_edited_output_is_kept(project: Project) -> None:
    project.run()
    write(project.out, {"a.mu": "mine"})
    for _ in range(2):
        report = project.run()
        assert (project.out / "a.mu").read_text() == "mine"
        assert remarks(report, "F11") == ["a.cu"]
    report = project.run(force=True)
    assert "musaFree" in (project.out / "a.mu").read_text()
    assert remarks(report, "F11") == []
    assert remarks(project.run(), "F11") == []


def test_edit_that_was_taken_back(project: Project) -> None:
    first = project.run()
    text = (project.out / "a.mu").read_text()
    write(project.out, {"a.mu": "mine"})
    project.run()
    write(project.out, {"a.mu": text})
    assert account(project.run()) == account(first)


def test_edited_output_is_kept_when_its_source_changes(project: Project) -> None:
    project.run()
    write(project.out, {"a.mu": "mine"})
    write(project.src, {"a.cu": FREE + FREE})
    report = project.run()
    assert (project.out / "a.mu").read_text() == "mine"
    assert remarks(report, "F11") == ["a.cu"]
    project.run(force=True)
    assert (project.out / "a.mu").read_text() == (FREE + FREE).replace("cuda", "musa")


def test_edited_output_is_kept_when_options_change(project: Project) -> None:
    project.run()
    write(project.out, {"a.mu": "mine"})
    report = project.run(comments=True)
    assert (project.out / "a.mu").read_text() == "mine"
    assert remarks(report, "F11") == ["a.cu"]


@pytest.mark.parametrize("name", ["CMakeLists.txt", "n.mu", "d.h"])
def test_edited_copy_is_kept(project: Project, name: str) -> None:
    """Files that are only copied are just those that must be ported by hand."""
    project.run()
    write(project.out, {name: "mine"})
    report = project.run()
    assert (project.out / name).read_text() == "mine"
    assert remarks(report, "F11") == [name]


def test_output_of_a_lost_source_is_kept_when_edited(project: Project) -> None:
    project.run()
    write(project.out, {"b.mu": "mine", "own.mu": "mine too"})
    remove(project)
    project.run()
    assert (project.out / "b.mu").read_text() == "mine"
    assert (project.out / "own.mu").read_text() == "mine too"


def test_without_state_nothing_is_kept(project: Project) -> None:
    port_tree(project.src, project.out)
    write(project.out, {"a.mu": "mine"})
    port_tree(project.src, project.out)
    assert "musaFree" in (project.out / "a.mu").read_text()


# ---- states that do not fit -------------------------------------------------------------------------------------


def damaged(state: Path, how: str) -> bytes:
    text = state.read_bytes()
    table = json.loads(text)
    if how == "record":
        table["records"]["a.cu"] = {"nonsense": 1}
    elif how == "records":
        table["records"] = [1, 2]
    elif how == "result":
        table["records"]["a.cu"]["result"] = {}
    elif how == "result-type":
        table["records"]["a.cu"]["result"] = "nonsense"
    elif how == "status":
        table["records"]["a.cu"]["result"]["status"] = "nonsense"
    elif how == "cut":
        return text[: len(text) // 2]
    return json.dumps(table).encode()


def refuse(project: Project, content: bytes) -> None:
    project.state.write_bytes(content)
    before = times(project.folder)
    with pytest.raises(UsageError, match=r"--state .*state\.json.*no state file"):
        project.run()
    assert times(project.folder) == before
    assert project.state.read_bytes() == content


@pytest.mark.parametrize(
    "content", [b"", b"x", b"\xff\xfe", b"[]", b"1", b"null", b"{}", b'{"cudaFree": "x"}', b"\0" * 100, b"[" * 100_000]
)
def test_no_state_file(project: Project, content: bytes) -> None:
    """Most likely another file that is named by mistake: it is not overwritten."""
    refuse(project, content)


@pytest.mark.parametrize("how", ["record", "records", "result", "result-type", "status", "cut"])
def test_damaged_state(project: Project, how: str) -> None:
    project.run()
    refuse(project, damaged(project.state, how))


def test_state_that_cannot_be_read(project: Project) -> None:
    project.state.mkdir()
    with pytest.raises(UsageError, match=r"--state .*cannot be read"):
        project.run()
    assert not project.out.exists()


def test_state_in_a_new_folder(project: Project) -> None:
    project.state = project.folder / "new/folder/state.json"
    project.run()
    assert project.state.is_file()


def test_state_of_another_version(project: Project, ported: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("musa_port.run.__version__", "0.0.0")
        project.run()
    del ported[:]
    project.run()
    assert len(ported) == 7


def test_state_of_another_tree(project: Project) -> None:
    """Content counts: what differs is ported again, what has the same path and bytes need not be."""
    project.run()
    other = project.folder / "other"
    write(other, {**SOURCES, "a.cu": FREE, "d.h": "inline void cudaMalloc(void** p, int n) { }\n", "e.cu": FREE})
    for name in ("c.h", "pasted.cu"):
        (other / name).unlink()
    report = port_tree(other, project.folder / "other-out", Options(state=project.state))
    full = port_tree(other, project.folder / "full")
    assert account(report) == account(full)
    assert contents(project.folder / "other-out") == contents(project.folder / "full")


def test_state_and_another_output(project: Project) -> None:
    project.run()
    port_tree(project.src, project.folder / "out2", Options(state=project.state))
    assert contents(project.folder / "out2") == contents(project.out)


def test_failed_file_is_tried_again(project: Project) -> None:
    write(project.out, {"a.mu/in-the-way": "x"})
    report = project.run()
    assert [file.path for file in report.files if file.status is FileStatus.FAILED] == ["a.cu"]
    (project.out / "a.mu/in-the-way").unlink()
    (project.out / "a.mu").rmdir()
    assert account(project.run()) == account(project.fresh("full"))
    assert contents(project.out) == contents(project.folder / "full")
