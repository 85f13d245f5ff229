"""What is in the way of what. A check is a function over an Environment; it is one fact about the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution
from pathlib import Path

from musa_compat.device import CHOICE, KINDS, SIMULATE
from musa_compat.doctor.environment import Environment, is_ours, needs, normal, overwritten
from musa_compat.doctor.model import Finding
from musa_compat.doctor.tools import find_tools
from musa_compat.packages import PACKAGES, is_the_one

Check = Callable[[Environment], Iterator[Finding]]
_checks: list[Check] = []

#: Import names of the shims, each with the distribution that has it.
SHIMS = {"deep_gemm": "deep-gemm", "flash_mla": "flash-mla", "deep_ep": "deep-ep"}


def check(environment: Environment) -> list[Finding]:
    """All findings, errors first."""
    found = [finding for one in _checks for finding in one(environment)]
    return sorted(found, key=lambda finding: ("error", "warning", "info").index(finding.severity))


def _register(one: Check) -> Check:
    _checks.append(one)
    return one


def _label(one: Distribution) -> str:
    return f"{one.metadata['Name']} {one.version}"


# ---- the shims -------------------------------------------------------------------------------------------------------


@_register
def shims(environment: Environment) -> Iterator[Finding]:
    """An import name of ours that something else answers to."""
    for module, name in SHIMS.items():
        owners = environment.owners(module)
        ours = [one for one in owners if is_ours(one)]
        others = [one for one in owners if not is_ours(one)]
        if ours and others:
            yield _installed_over(module, ours[0], others, _remedy(name, others))
        elif others:
            yield _foreign_shim(module, name, others[0])
        place = environment.place(module)
        if place and environment.installed_by(place) is None and not _is_editable(environment, name):
            yield _shadowed(module, place, owners)


def _installed_over(module: str, ours: Distribution, others: list[Distribution], remedy: str) -> Finding:
    other = " and ".join(map(_label, others))
    changed = overwritten(ours, module)
    state = f"{changed} is no longer ours" if changed else "which files are whose depends on the order of installation"
    return Finding(
        "shim-overwritten",
        "error",
        f"`import {module}` belongs to {_label(ours)} of this project and to {_kind_of(others[0])} {other}; {state}",
        remedy,
    )


def _remedy(name: str, others: list[Distribution]) -> str:
    unwanted = " ".join(one.metadata["Name"] for one in others)
    return f"`pip uninstall {unwanted}`, then `pip install --force-reinstall --no-deps` ours ({name})"


def _foreign_shim(module: str, name: str, other: Distribution) -> Finding:
    kind = _kind_of(other)
    return Finding(
        "other-shim",
        "info" if kind == "the MATE wrapper" else "warning",
        f"`import {module}` gives {kind} {_label(other)}, not this project's {name}",
        f"keep it if you want it; else `pip uninstall {other.metadata['Name']}` and install ours",
    )


def _kind_of(other: Distribution) -> str:
    """Which of the packages that share an import name with us."""
    if needs(other, "mate") or "+musa" in other.version:
        return "the MATE wrapper"
    if any(file.suffix in {".so", ".pyd"} for file in other.files or ()):
        return "the CUDA package"
    return "another package,"


def _shadowed(module: str, place: str, owners: list[Distribution]) -> Finding:
    instead = f"hides {' and '.join(map(_label, owners))}" if owners else "was installed by no distribution"
    return Finding(
        "shadowed-shim",
        "error" if owners else "warning",
        f"`import {module}` finds {place}, which {instead}",
        "start Python from another folder, or take that folder off PYTHONPATH",
    )


def _is_editable(environment: Environment, name: str) -> bool:
    found = environment.distributions.get(normal(name))
    return bool(found and (found.read_text("direct_url.json") or "").replace(" ", "").count('"editable":true'))


# ---- TileLang and MATE -----------------------------------------------------------------------------------------------


@_register
def two_tilelangs(environment: Environment) -> Iterator[Finding]:
    """Both distributions put their files into one folder."""
    main, musa = environment.version("tilelang"), environment.version("tilelang_musa")
    if main and musa:
        yield Finding(
            "two-tilelangs",
            "error",
            f"tilelang {main} and tilelang_musa {musa} are both installed and share the folder `tilelang`",
            "one environment serves one backend: `pip uninstall tilelang tilelang_musa`, then install the one you need",
        )


@_register
def tilelang_for_the_other_card(environment: Environment) -> Iterator[Finding]:
    """The mainline wheel knows no target `musa`, and the MUSA wheel none for `cuda`."""
    main, musa = environment.version("tilelang"), environment.version("tilelang_musa")
    if environment.cards.get("musa") and main and not musa:
        yield Finding(
            "tilelang-without-musa",
            "warning",
            f"tilelang {main} has no target `musa`, and this machine has a Moore Threads card",
            f"replace it with tilelang_musa, {PACKAGES['tilelang_musa'].source}",
        )
    numpy = environment.version("numpy")
    if musa and numpy and int(numpy.partition(".")[0]) >= 2:
        yield Finding(
            "numpy-2",
            "warning",
            f"tilelang_musa {musa} asks for numpy below 2, and numpy {numpy} is installed",
            "`pip install 'numpy<2'`",
        )
    ffi = environment.version("apache-tvm-ffi")
    if musa and ffi and "+musa" not in ffi:
        yield Finding(
            "tvm-ffi-without-musa",
            "error",
            f"tilelang_musa {musa} needs the vendor's build of apache-tvm-ffi, and {ffi} is not one (no `+musa`)",
            f"install it {PACKAGES['tilelang_musa'].source}",
        )


@_register
def toolkits(environment: Environment) -> Iterator[Finding]:
    """With both toolkits TileLang's target "auto" takes CUDA; without a compiler nothing can be simulated."""
    tools = find_tools(environment.variables)
    if tools["mcc"] and tools["nvcc"] and environment.place("tilelang"):
        yield Finding(
            "two-toolkits",
            "warning",
            'with both mcc and nvcc present TileLang\'s target "auto" means CUDA',
            'say target="musa", or set TILELANG_DEFAULT_TARGET=musa',
        )
    if not tools["g++"]:
        yield Finding(
            "no-compiler",
            "info",
            "no C++ compiler is found, and the simulated device is built by one at its first use",
            "install g++, or name a compiler in CXX",
        )


@_register
def wrong_mate(environment: Environment) -> Iterator[Finding]:
    """Another project has the name on PyPI, and any folder of that name passes for the package."""
    found = environment.distributions.get("mate")
    if found and not is_the_one(PACKAGES["mate"], found):
        yield Finding(
            "wrong-mate",
            "error",
            f"{_label(found)} is not Moore Threads' MATE but another project of that name",
            f"`pip uninstall mate`, then get it {PACKAGES['mate'].source}",
        )
    if not found and environment.is_namespace("mate"):
        yield Finding(
            "mate-is-a-folder",
            "info",
            f"MATE is not installed, and `import mate` would give the plain folder {environment.place('mate')}",
            "do not test for MATE by importing it; ask for its distribution",
        )


@_register
def mate_parts(environment: Environment) -> Iterator[Finding]:
    """MATE, its binaries and its wrappers are released together."""
    mate = environment.version("mate")
    if not mate:
        return
    for name in ("mate-mubin", "deep-gemm", "flash-mla", "flash_attn_3", "flashinfer-python"):
        other = environment.distributions.get(normal(name))
        if other is None or (name != "mate-mubin" and _kind_of(other) != "the MATE wrapper"):
            continue
        if _release(other.version) != _release(mate):
            yield Finding(
                "mate-versions",
                "warning",
                f"mate {mate} and {_label(other)} are of different releases",
                f"install both at {_release(mate)}",
            )


def _release(version: str) -> str:
    """`0.2.7` of `0.2.7+musa`, `0.2.7.post1`."""
    return ".".join(re.findall(r"\d+", version)[:3])


# ---- torch -----------------------------------------------------------------------------------------------------------


@_register
def torch_and_torch_musa(environment: Environment) -> Iterator[Finding]:
    """torch_musa is built against one release of torch, which the vendor patches."""
    torch, musa = environment.version("torch"), environment.version("torch_musa")
    if environment.cards.get("musa") and not musa:
        yield Finding(
            "no-torch-musa",
            "error",
            "this machine has a Moore Threads card, and torch_musa is not installed",
            f"get it {PACKAGES['torch_musa'].source}",
        )
    if musa and torch and torch.split(".")[:2] != musa.split(".")[:2]:
        yield Finding(
            "torch-versions",
            "error",
            f"torch_musa {musa} is not for torch {torch}: their first two numbers differ",
            "install the two wheels of one release of the vendor",
        )
    if musa and torch and "+cu" in torch:
        yield Finding(
            "torch-for-cuda",
            "error",
            f"torch {torch} is built for CUDA, and torch_musa {musa} needs the torch that was released with it",
            f"install torch with torch_musa, {PACKAGES['torch_musa'].source}",
        )


@_register
def torch_answers(environment: Environment) -> Iterator[Finding]:
    """What torch said when it was asked."""
    said = environment.torch
    if "error" in said:
        cause = f" ({said['cause']})" if "cause" in said else ""
        yield Finding(
            "torch-import",
            "error",
            f"torch cannot be imported: {said['error']}{cause}",
            "install torch, torch_musa and the MUSA SDK of one release; with TORCH_DEVICE_BACKEND_AUTOLOAD=0 torch "
            "leaves torch_musa alone, which shows whose fault it is",
        )
        return
    if environment.version("torch_musa") and "version" in said and not said.get("musa"):
        yield Finding(
            "torch-unpatched",
            "warning",
            f"torch {said['version']} is a plain one (torch.version.musa is not set); torch_musa is built against the "
            "vendor's",
            f"get torch with torch_musa, {PACKAGES['torch_musa'].source}",
        )
    if said and environment.cards.get("musa") and not said.get("musa_devices") and environment.version("torch_musa"):
        yield Finding(
            "no-device",
            "error",
            "torch_musa is installed, the machine has a card, and torch sees no MUSA device",
            "look at the driver, at the container's access to the device, and at MUSA_VISIBLE_DEVICES",
        )


@_register
def torchada(environment: Environment) -> Iterator[Finding]:
    """The other redirect of torch.cuda."""
    version = environment.version("torchada")
    if version:
        yield Finding(
            "torchada",
            "info",
            f"torchada {version} is installed; importing it changes torch.cuda for the whole process, for good",
            "import it before musa_compat if you want both, or choose one",
        )


# ---- variables -------------------------------------------------------------------------------------------------------


@_register
def visible_devices(environment: Environment) -> Iterator[Finding]:
    """MUSA's variable counts; the other one is read by frameworks."""
    cuda, musa = (environment.variables.get(f"{name}_VISIBLE_DEVICES") for name in ("CUDA", "MUSA"))
    if cuda is not None and musa is not None and cuda != musa:
        yield Finding(
            "visible-devices",
            "warning",
            f"MUSA_VISIBLE_DEVICES={musa} and CUDA_VISIBLE_DEVICES={cuda} differ; MUSA reads the first only",
            "make them equal, before torch is imported",
        )
    elif cuda is not None and musa is None and environment.version("torch_musa"):
        yield Finding(
            "visible-devices",
            "warning",
            f"CUDA_VISIBLE_DEVICES={cuda} is set and MUSA does not read it: every card is visible",
            f"set MUSA_VISIBLE_DEVICES={cuda}, before torch is imported",
        )


@_register
def autoload(environment: Environment) -> Iterator[Finding]:
    """Import torch alone and torch.musa is there, unless this is set."""
    if environment.variables.get("TORCH_DEVICE_BACKEND_AUTOLOAD") == "0" and environment.version("torch_musa"):
        yield Finding(
            "no-autoload",
            "info",
            "TORCH_DEVICE_BACKEND_AUTOLOAD=0: `import torch` does not load torch_musa",
            "unset it, or `import torch_musa` yourself",
        )


@_register
def own_variables(environment: Environment) -> Iterator[Finding]:
    """Ours."""
    choice = environment.variables.get(CHOICE)
    if choice and choice not in {"auto", *KINDS}:
        yield Finding(
            "unknown-device",
            "error",
            f"{CHOICE}={choice} names no accelerator",
            f"set it to auto, {', '.join(KINDS)}, or unset it",
        )
    simulate = environment.variables.get(SIMULATE, "").lower() in {"1", "true", "yes", "on"}
    if simulate and environment.cards.get("musa") and environment.version("torch_musa"):
        yield Finding(
            "simulated-beside-a-card",
            "warning",
            f"{SIMULATE} is set on a machine with a Moore Threads card and torch_musa",
            "unset it to use the card",
        )


# ---- frameworks ------------------------------------------------------------------------------------------------------


@_register
def sglang(environment: Environment) -> Iterator[Finding]:
    """SGLang imports FlashMLA from a package whose MUSA build does not have it."""
    place = environment.place("sgl_kernel")
    if place and environment.version("torch_musa") and not _has_submodule(place, "flash_mla"):
        yield Finding(
            "sgl-kernel-without-flash-mla",
            "info",
            f"SGLang imports sgl_kernel.flash_mla, which {Path(place).parent} does not have",
            "have that name lead to the package flash_mla before SGLang is imported",
        )


def _has_submodule(init: str, name: str) -> bool:
    folder = Path(init).parent
    return (folder / f"{name}.py").is_file() or (folder / name).is_dir()
