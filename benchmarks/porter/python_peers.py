"""Other things to do with Python sources, as programs of their own: `python python_peers.py WAY SOURCE OUTPUT`.

rename  libcst's own codemod RenameCommand, which resolves scopes and qualified names: `torch.cuda` to `torch.musa` and
        nothing else. It runs on files that contain `torch.cuda`.
parse   libcst's parser and its generation of code: nothing is resolved or changed.
words   One regular expression over the text: every whole word `cuda` becomes `musa`, in comments and strings too.
copy    Copies the files.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.porter.peers import pairs  # noqa: E402


def main() -> None:
    """Treat a tree in the way that the first argument names."""
    way, source, output = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    treat = WAYS[way]()
    for old, new in pairs(source, output):
        data = old.read_bytes()
        new.write_bytes(treat(data) if old.suffix == ".py" else data)


Treatment = Callable[[bytes], bytes]


def rename() -> Treatment:
    """Let libcst rename one module."""
    from libcst import parse_module
    from libcst.codemod import CodemodContext
    from libcst.codemod.commands.rename import RenameCommand

    def treat(data: bytes) -> bytes:
        if b"torch.cuda" not in data:
            return data
        command = RenameCommand(CodemodContext(), "torch.cuda", "torch.musa")
        return command.transform_module(parse_module(data)).bytes

    return treat


def parse() -> Treatment:
    """Parse and generate."""
    from libcst import parse_module

    return lambda data: parse_module(data).bytes


def words() -> Treatment:
    """Replace words."""
    word = re.compile(rb"\bcuda\b")
    return lambda data: word.sub(b"musa", data)


def copy() -> Treatment:
    """Do nothing."""
    return lambda data: data


WAYS: dict[str, Callable[[], Treatment]] = {
    "rename": rename,
    "parse": parse,
    "words": words,
    "copy": copy,
}

if __name__ == "__main__":
    main()
