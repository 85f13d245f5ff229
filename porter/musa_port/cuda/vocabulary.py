"""Which words of a source file are worth a look. Built once; answers are cached per word."""

from __future__ import annotations

import re
from collections.abc import Callable

from musa_port.cuda import registry
from musa_port.cuda.features import Features
from musa_port.cuda.text import WORD
from musa_port.mappings import Row
from musa_port.names import Names

#: Words that make a file worth parsing although they are no names: includes of files that may be renamed, macros of
#: other platforms, and device code that may count lanes.
_TRIGGERS = frozenset(
    b"cu cuh mu muh __HIP_PLATFORM_AMD__ __HIP_PLATFORM_HCC__ __HIPCC__ __HIP__ USE_ROCM SYCL_LANGUAGE_VERSION "
    b"__SYCL_DEVICE_ONLY__ threadIdx".split()
)
#: Names that projects give to the number of lanes, and to the mask of all lanes.
WARP_CONSTANT = re.compile(r"warp_?size|warp_?width|threads_per_warp|kwarp|full_?(?:warp_?)?mask|all_?lanes", re.I)
_OTHER_SIDE = re.compile(r"musa|MUSA|Musa|cuda|CUDA|Cuda")
_NAME_OR_CALL = re.compile(rb"([A-Za-z_]\w*)(?:\s*\([\w\s,.]*\))?")


class _Cache(dict[bytes, int]):
    """Answers of a function by word: a look-up costs no call once the word was seen."""

    def __init__(self, function: Callable[[bytes], int]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: bytes) -> int:
        answer = self[word] = self._function(word)
        return answer


class Vocabulary:
    """Knows candidates (names that some table, family rule or feature speaks of) and the rules' trigger words."""

    def __init__(self, names: Names, features: Features, project_names: bool = False) -> None:
        self.names = names
        self.features = features
        #: Whether names of the other side matter: --rename-project-names must not run into one.
        self._project_names = project_names
        self._headers = _header_words(names)
        #: 0 for words of no interest, 1 for candidates, 2 for trigger words only.
        self.knows = _Cache(self._classify)
        self._segments = _path_segments(names)

    def is_candidate(self, word: bytes) -> bool:
        return self.knows[word] == 1

    def is_exact(self, data: bytes, start: int) -> bool:
        """Whether the word at `start` has a row of its own."""
        match = WORD.match(data, start)
        return match is not None and match.group().decode("utf-8", "replace") in self.names.identifiers

    def _classify(self, word: bytes) -> int:
        if not word or not word.isascii():
            return 0
        name = word.decode()
        if self._is_name(name):
            return 1
        if name.endswith("_sync") or WARP_CONSTANT.search(name):
            return 2
        return 2 if word in registry.word_extractors or word in _TRIGGERS or name in self._headers else 0

    def _is_name(self, name: str) -> bool:
        names = self.names
        row = names.identifiers.get(name)
        if row is not None:
            return name in names.forced or changes(row)
        return (
            name in self._segments
            or name in names.methods
            or name in names.environment
            or self.features.find(name) is not None
            or names.suspect(name)
            or names.find(name) is not None
            or names.family(name) is not None
            or name in names.keep
            or (self._project_names and _OTHER_SIDE.search(name) is not None)
        )

    def macro_kind(self, name: str, body: bytes) -> str:
        """What `#define name body` is, the body being without comments.

        setting     an API name without a body: it switches something in the SDK's headers
        alias       gives a name of one side the name of the other side, or its own
        sdk         gives an API name another API name, as the SDK's headers do for versioned functions
        definition  anything else: the project defines the name
        """
        if not body:
            return "setting" if name in self.names.identifiers else "definition"
        match = _NAME_OR_CALL.fullmatch(body)
        if match is None:
            return "definition"
        target = match.group(1).decode()
        row, inverse = self.names.find(name), self.names.find(target)
        family = self.names.family(name)
        if target == name or _leads(row, target) or _leads(inverse, name):
            return "alias"
        if row is None and family is not None and family.rename(name) == target:
            return "alias"
        return "sdk" if name in self.names.identifiers and target in self.names.identifiers else "definition"


def _leads(row: Row | None, target: str) -> bool:
    return row is not None and row.musa == target


def changes(row: Row) -> bool:
    """Whether a row has anything to say: another name, or a remark."""
    return row.musa != row.cuda or row.flag != "" or row.confidence in ("unknown", "none")


def _header_words(names: Names) -> frozenset[str]:
    """The words by which includes are noticed whose path holds no other word of interest (`mma.h`, `NvInfer.h`)."""
    words = set()
    for row in names.headers.values():
        if changes(row) and not names.suspect(row.cuda):
            words.add(re.split(r"\W", row.cuda.rsplit("/", 1)[-1])[0])
    return frozenset(words)


def _path_segments(names: Names) -> frozenset[str]:
    """One word of each qualified name by which it is noticed."""
    words = set()
    for row in names.paths.values():
        if not changes(row):
            continue
        cuda, musa = row.cuda.split("::"), row.musa.split("::")
        words.add(next((a for a, b in zip(cuda, musa, strict=False) if a and a != b), cuda[-1] or cuda[0]))
    return frozenset(words)
