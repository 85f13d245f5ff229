"""Python distributions as requirements name them: which belong to CUDA, and what takes their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from musa_port.build.fragment import Fragment
from musa_port.mappings import Row, read_rows
from musa_port.model import Severity
from musa_port.rules import Rule, register

WHEEL = register(
    Rule(
        "B70",
        "nvidia-wheel",
        Severity.WARNING,
        "Removes a requirement on a wheel that holds libraries of the CUDA toolkit.",
        why="The MUSA SDK has its own libraries, and is no Python distribution.",
        example=("nvidia-cublas-cu12==12.4.5.8\nnumpy", "numpy"),
        advice="Install the MUSA SDK where the program runs.",
        evidence="libraries.csv, kind python-package",
    )
)
PACKAGE = register(
    Rule(
        "B71",
        "python-package",
        Severity.WARNING,
        "Renames a requirement that has a proven counterpart, and reports those that have none or an unproven one.",
        why="Versions of the two distributions have nothing to do with each other, so that a version is dropped.",
        example=("nvidia-ml-py>=12.0", "mthreads-ml-py"),
        advice="Remove the requirement, or name the distribution that your vendor provides.",
        evidence="libraries.csv, kind python-package",
    )
)
BUILD = register(
    Rule(
        "B72",
        "cuda-wheel",
        Severity.ERROR,
        "Reports requirements on wheels built for a version of CUDA, and the indexes that hold them.",
        why="Such a wheel replaces the PyTorch that torch_musa needs. Versions and addresses are never changed.",
        example=("torch==2.4.0+cu121  # CUDA 12.1", "torch==2.4.0+cu121  # CUDA 12.1"),
        advice="Require the version without the part after the plus sign, from an index without cu in its address.",
    )
)
TORCH = register(
    Rule(
        "B73",
        "torch-requirement",
        Severity.INFO,
        "Notes that a program which requires torch needs torch_musa on MUSA.",
        why="torch_musa comes from your vendor and fixes the version of torch.",
        example=("torch>=2.2  # with CUDA", "torch>=2.2  # with CUDA"),
        advice="Install the torch_musa that goes with your SDK, and the torch that it names.",
        evidence="libraries.csv, kind python-package",
    )
)

_REQUIREMENT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?P<extras>\[[^\]]*\])?"
    r"(?P<version>\s*(?:@\s*\S+|\(?\s*[<>=!~^][^;#]*?))?\s*(?P<marker>;.*)?",
    re.S,
)
_TOOLKIT = re.compile(
    r"nvidia-(?:cublas|cuda-[a-z]+(?:-[a-z]+)*|cudnn|cufft|cufile|curand|cusolver|cusparse|cusparselt|nccl|nvjitlink"
    r"|nvjpeg|nvtx|nvshmem|nvfatbin|nvvm|npp)(?:-cu\d+)?"
)
_FOR_CUDA = re.compile(r"(?:[\w-]*-)?(?:cuda|cu\d{2,3}x?|nvidia|nvtx|tensorrt|cuda\d+x?|cudf|cuml|cugraph)(?:-[\w-]*)?|[\w-]+-gpu")
_LOCAL = re.compile(r"\+cu\d+")
_ADDRESS = re.compile(r"https?://\S*(?:/cu\d{2,3}\b|cu\d{2,3}[\w.-]*\.whl|pypi\.nvidia\.com|pypi\.ngc\.nvidia)\S*")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


@cache
def _rows() -> dict[str, Row]:
    return {row.cuda: row for row in read_rows("libraries") if row.kind == "python-package"}


def row_for(name: str) -> Row | None:
    """The row of a normalised name; a wheel for another version of CUDA has the same row."""
    if row := _rows().get(name):
        return row
    family = re.sub(r"(cu|cuda)\d+x?$", "", name)
    return next(
        (row for key, row in _rows().items() if re.sub(r"(cu|cuda)\d+x?$", "", key).rstrip("-") == family.rstrip("-")),
        None,
    )


def normalise(name: str) -> str:
    """The name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_toolkit(name: str) -> bool:
    """Whether the distribution holds a part of the CUDA toolkit."""
    return _TOOLKIT.fullmatch(name) is not None or (
        name.startswith("nvidia-") and re.search(r"-cu\d+$", name) is not None
    )


def decide(text: Fragment, *, fixed: str = "", hashed: bool = False) -> bool:
    """Decide one requirement; whether it is to be removed.

    fixed   why it cannot be changed here, "" when it can
    hashed  whether hashes fix its name, so that it can be removed but not renamed
    """
    match = _REQUIREMENT.fullmatch(text.text)
    if match is None:
        address(text)
        return False
    name = normalise(match["name"])
    if is_toolkit(name):
        return _remove(text, match, fixed)
    row = row_for(name)
    span = match.span("name")
    version = (match["version"] or "").strip()
    if _LOCAL.search(version) and not version.startswith("@"):
        message = f"{text.text.strip()} is built for CUDA"
        text.report("cuda-wheel", *span, message, name=name)
    if name == "torch":
        note = "a program that requires torch needs torch_musa on MUSA"
        text.report("torch-requirement", *span, note, name=name, once=name)
    elif row is not None:
        _replace(text, match, row, "its hashes belong to it" if hashed else fixed)
    elif _FOR_CUDA.fullmatch(name):
        text.report("python-package", *span, f"{name} is for GPUs of NVIDIA by its name, and is in no table", name=name)
    address(text)
    return False


def _remove(text: Fragment, match: re.Match[str], fixed: str) -> bool:
    span, name = match.span("name"), match["name"]
    what = f"is left: {fixed}" if fixed else "is removed"
    text.report("nvidia-wheel", *span, f"{name} holds a part of the CUDA toolkit and {what}", name=name)
    return not fixed


def _replace(text: Fragment, match: re.Match[str], row: Row, fixed: str) -> None:
    span, name = match.span("name"), match["name"]
    note = f": {row.note}" if row.note else ""
    if not row.supported:
        message = f"{name} has no MUSA counterpart{note}"
        text.report("python-package", *span, message, severity=Severity.ERROR, name=name)
    elif fixed or row.confidence != "high" or row.flag or not _NAME.fullmatch(row.musa):
        why = f" ({fixed})" if fixed else ""
        text.report("python-package", *span, f"{name} is left{why}; on MUSA there is {row.musa}{note}", name=name)
    elif text.draft.names.allowed(row) and text.edit(*span, row.musa, "python-package", row.confidence):
        message = f"{name} became {row.musa}{note}"
        if match["version"]:
            text.edit(*match.span("version"), "", "python-package")
            message = f"{name} became {row.musa}; {match['version'].strip()} was a version of {name}{note}"
        text.report("python-package", *span, message, severity=Severity.INFO, new=row.musa, name=name)


def version(text: Fragment, name: str) -> None:
    """Report a version that is a build for CUDA, where it stands apart from the name."""
    if match := _LOCAL.search(text.text):
        text.report("cuda-wheel", *match.span(), f"{name} {text.text} is built for CUDA", name=name)


def address(text: Fragment) -> None:
    """Report an address of wheels for CUDA."""
    if match := _ADDRESS.search(text.text):
        message = f"{match.group()} holds wheels for CUDA"
        text.report("cuda-wheel", *match.span(), message, severity=Severity.WARNING, name=match.group())


def command(words: Sequence[Fragment]) -> None:
    """The words of `pip install`: nothing is changed there."""
    for word in words:
        if word.text.startswith("-"):
            address(word)
        elif not re.search(r"[/\\$]|\.(?:txt|whl|toml|gz)$", word.text) or "://" in word.text:
            decide(word, fixed="a script installs it")
