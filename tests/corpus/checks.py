"""What must be true of every port. Each check yields one line for each violation."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .api import Api
from .includes import Tree
from .lexer import Token
from .port import Port, walk

#: Statuses of files whose bytes are to stay as they are.
UNTOUCHED = frozenset({"unchanged", "copied", "skipped"})
#: Libraries that projects extend by reopening their namespace, and a header that only the library itself has.
LIBRARIES = {
    "cutlass": "cutlass/cutlass.h",
    "cute": "cute/tensor.hpp",
    "at": "ATen/ATen.h",
    "c10": "c10/core/Device.h",
    "torch": "torch/torch.h",
    "thrust": "thrust/version.h",
    "cub": "cub/cub.cuh",
}


def crashes(port: Port) -> Iterator[str]:
    """Files on which musa-port itself failed."""
    for file in port.report["files"]:
        if file["status"] == "failed":
            yield f"{file['path']}: failed: {file['reason']}"
        yield from (f"{f['path']}: {f['message']}" for f in file["findings"] if f["rule"] == "F10")


def lost_files(port: Port) -> Iterator[str]:
    """Files of the source without an output or a reason, changed files that must not change, files out of nowhere."""
    yield from (f"{path}: is not in the report" for path in port.sources if path not in port.files)
    yield from (f"{path}: is in the report only" for path in port.files.keys() - set(port.sources))
    expected = set()
    for path, file in port.files.items():
        if file["output_path"] is None:
            if not file["reason"]:
                yield f"{path}: is left out without a reason"
            continue
        expected.add(file["output_path"])
        source, output = port.source / path, port.output / file["output_path"]
        if not output.is_symlink() and not output.exists():
            yield f"{path}: there is no {file['output_path']}"
        elif file["status"] in UNTOUCHED and not source.is_symlink() and not filecmp.cmp(source, output, shallow=False):
            yield f"{path}: is {file['status']}, but its bytes changed"
        elif file["status"] == "skipped" and not file["reason"]:
            yield f"{path}: is skipped without a reason"
    yield from (f"{path}: is in the output for no reason" for path in sorted(set(walk(port.output)) - expected))


def changes_again(port: Port, again: Port) -> Iterator[str]:
    """Differences between a port and the port of that port."""
    one, two = set(walk(port.output)), set(walk(again.output))
    yield from (f"{path}: is in one of the two only" for path in sorted(one ^ two))
    _, different, unreadable = filecmp.cmpfiles(port.output, again.output, sorted(one & two), shallow=False)
    yield from (f"{path}: differs" for path in sorted(different + unreadable))


def wrong_edits(port: Port) -> Iterator[str]:
    """Edits that do not match the source at their place, or that do not give the output."""
    for file in port.examined():
        path = file["path"]
        text = (port.source / path).read_bytes().decode("utf-8", "surrogateescape")
        starts = [0]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        pieces, done = [], 0
        for edit in file["edits"]:
            start = starts[edit["line"] - 1] + edit["column"] - 1
            if start < done or not text.startswith(edit["old"], start) or edit["old"] == edit["new"]:
                yield f"{path}:{edit['line']}:{edit['column']}: an edit of {edit['old']!r} does not match the source"
            pieces += [text[done:start], edit["new"]]
            done = start + len(edit["old"])
        ported = "".join([*pieces, text[done:]]).encode("utf-8", "surrogateescape")
        if ported != (port.output / file["output_path"]).read_bytes():
            yield f"{path}: its edits do not give {file['output_path']}"


def silent_names(port: Port, api: Api) -> Iterator[str]:
    """CUDA names in the output that neither the project declares nor a finding explains."""
    owned = {library for library, header in LIBRARIES.items() if port.holds(header)}
    silent = [
        use for use in _unexplained(port, api) if use.first not in owned and api.libraries.get(use.name) not in owned
    ]
    declared = port.declared({word for use in silent for word in (use.name, use.first)})
    for use in silent:
        is_own_namespace = use.first != use.name and use.first in declared and use.first not in LIBRARIES
        if use.name not in declared and not is_own_namespace:
            place, line = port.after(use.path).place(use.start)
            yield f"{use.path}:{place}: {use.name} in: {line}"


class Use(NamedTuple):
    """A CUDA name in the output of a source; `first` is the head of a qualified name."""

    path: str
    start: int
    name: str

    @property
    def first(self) -> str:
        return self.name.split("::")[0]


def _unexplained(port: Port, api: Api) -> Iterator[Use]:
    """CUDA names in the output without a finding in their file. Names to look at are listed once for the whole tree."""
    findings = [finding for file in port.report["files"] for finding in file["findings"]]
    looked_at = {finding["name"] for finding in findings if finding["rule"] == "C7"}
    heads = api.words | {path.split("::")[0] for path in api.paths}
    for file in port.sources_in_output():
        source = port.after(file["path"])
        if source.words & heads:
            explained = _explained(file) | looked_at
            for token, name in api_names(source.tokens, api):
                if name not in explained:
                    yield Use(file["path"], token.start, name)


def api_names(tokens: Sequence[Token], api: Api) -> Iterator[tuple[Token, str]]:
    """CUDA names among tokens: whole qualified names as far as a row goes, and identifiers that are no members."""
    for index, token in enumerate(tokens):
        if token.kind != "word":
            continue
        before = tokens[index - 1].text if index else ""
        if before != "::" and (path := _path(tokens, index, api)):
            yield token, path
        elif token.text in api.words and before not in (".", "->"):
            yield token, token.text


def _path(tokens: Sequence[Token], index: int, api: Api) -> str:
    """The longest qualified name from here on that has a row, or an empty string."""
    name = tokens[index].text
    found = name if name in api.paths else ""
    while index + 2 < len(tokens) and tokens[index + 1].text == "::" and tokens[index + 2].kind == "word":
        index += 2
        name = f"{name}::{tokens[index].text}"
        found = name if name in api.paths else found
    return found if "::" in name else ""


def _explained(file: dict[str, Any]) -> set[str]:
    """Names that a finding of the file is about."""
    return {finding["name"] for finding in file["findings"]} | {finding["old"] for finding in file["findings"]}


def silent_headers(port: Port, api: Api) -> Iterator[str]:
    """Includes of CUDA headers in the output that neither the tree holds nor a finding explains."""
    tree = Tree(file["output_path"] for file in port.files.values() if file["output_path"])
    for file in port.sources_in_output():
        explained = _explained(file)
        for target in port.after(file["path"]).includes:
            path = target[1:-1]
            if path in api.headers and path not in explained and not tree.find(file["output_path"], target):
                yield f"{file['output_path']}: includes {target}"


def broken_includes(port: Port, api: Api) -> Iterator[str]:
    """Includes that find a file of the tree in the source, and not that file's port in the output."""
    before, after = Tree(port.sources), Tree(file["output_path"] for file in port.files.values() if file["output_path"])
    for file in port.examined_sources():
        old, new = port.before(file["path"]).includes, port.after(file["path"]).includes
        if len(old) != len(new):
            yield f"{file['path']}: {len(old)} includes became {len(new)}"
            continue
        for source, target in zip(old, new, strict=True):
            if source[0] == "<" and "/" not in source and source[1:-1] in api.headers:
                continue  # `<cuda.h>` means the SDK's, wherever the tree has a file of that name
            held = [port.files[path] for path in before.find(file["path"], source)]
            wanted = {other["output_path"] for other in held if not other["reason"].startswith("vendored")}
            found = set(after.find(file["output_path"], target))
            if wanted and not wanted & found:
                yield f"{file['path']}: {source} became {target}, which finds {sorted(found) or 'nothing'}"
