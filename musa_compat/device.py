"""Which accelerator this process can use, and what it is like.

Nothing here imports torch, and nothing initialises a device, except `properties` and `target` for a card: they ask
torch about one device, which the caller is about to use anyway. So a program may ask `kind()` and fork afterwards.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

__all__ = [
    "DEFAULT_ARCH",
    "KINDS",
    "Kind",
    "Properties",
    "Target",
    "kind",
    "kind_of",
    "pci_cards",
    "properties",
    "simulated",
    "target",
    "why",
]

Kind = Literal["musa", "cuda", "sim", "cpu"]
#: A Moore Threads card, an NVIDIA card, the simulated MUSA device, none of them.
KINDS: tuple[Kind, ...] = get_args(Kind)

#: Chooses the accelerator: one of KINDS, or `auto`, which is what an unset variable means.
CHOICE = "MUSA_COMPAT_DEVICE"
#: Asks for the simulated device.
SIMULATE = "MUSA_COMPAT_SIM"
#: Architecture of the simulated device, when the device itself does not say it.
SIMULATED_ARCH = "MUSA_COMPAT_SIM_ARCH"

#: What is assumed where an architecture is needed and no card is there to be asked: the MTT S5000.
DEFAULT_ARCH: dict[Kind, str | None] = {"musa": "mp_31", "sim": "mp_31", "cuda": "sm_90", "cpu": None}

#: Vendor numbers on the PCI bus.
_VENDORS: dict[str, Kind] = {"0x1ed5": "musa", "0x10de": "cuda"}
_PCI = Path("/sys/bus/pci/devices")


class Target(NamedTuple):
    """What code is selected for: a kind of accelerator and its architecture, such as `mp_31`."""

    kind: Kind
    arch: str | None = None

    def __str__(self) -> str:
        return f"{self.kind} ({self.arch})" if self.arch else self.kind


@dataclass(frozen=True)
class Properties:
    """One device. Sizes are in bytes."""

    kind: Kind
    index: int
    name: str
    arch: str | None
    capability: tuple[int, int] | None
    multi_processor_count: int
    total_memory: int


def kind() -> Kind:
    """The accelerator that this process can use: `musa`, `cuda`, `sim` or `cpu`.

    With torch imported, torch is asked, in a way that leaves a later fork alone. Before that, the answer is what torch
    will find: the packages that are installed and the cards on the PCI bus.

    Raises ValueError if the variable MUSA_COMPAT_DEVICE holds something else than a kind or `auto`.
    """
    return _decide()[0]


def why() -> str:
    """What `kind` was decided by, in words. Raises as `kind` does."""
    return _decide()[1]


def simulated() -> bool:
    """Whether MUSA devices in this process are simulated ones, now or as soon as they are used."""
    module = sys.modules.get("torch_musa")
    if module is not None:
        return bool(getattr(module, "__simulated__", False))
    return os.environ.get(SIMULATE, "").lower() in {"1", "true", "yes", "on"}


def kind_of(device: Any) -> Kind:
    """The kind of a `torch.device`, or of a name such as `musa:0`.

    Raises ValueError for a device that is none of ours, such as `xpu`.
    """
    name = device if isinstance(device, str) else device.type
    name = name.partition(":")[0]
    if name == "musa":
        return "sim" if simulated() else "musa"
    if name in {"cpu", "cuda"}:
        return "cpu" if name == "cpu" else "cuda"
    raise ValueError(f"device {name!r}: expected musa, cuda or cpu; move the tensor to one of them")


# torch.device -> target. Asking torch costs microseconds, and a device does not change its architecture.
_targets: dict[Any, Target] = {}


def target(device: Any) -> Target:
    """The target of a `torch.device`, as `tensor.device` gives it; one dictionary look-up after the first call.

    The first call for a card initialises it. Raises ValueError for a device that is none of ours.
    """
    try:
        return _targets[device]
    except KeyError:
        which = kind_of(device)
        found = Target(which, _arch(which, device.index))
        # A device without an index means the current one, which may be another one next time.
        if which == "cpu" or device.index is not None:
            _targets[device] = found
        return found


def properties(index: int | None = None) -> Properties:
    """The device with this index, or the current one, of the accelerator that `kind` names. Initialises the device.

    Raises RuntimeError if the accelerator needs torch and torch cannot be imported, and what torch raises for an index
    that does not exist.
    """
    which = kind()
    if which == "cpu":
        return _processor()
    module = _torch_module(which)
    if index is None:
        index = int(module.current_device())
    facts = module.get_device_properties(index)
    return Properties(
        kind=which,
        index=index,
        name=str(facts.name),
        arch=_arch(which, index),
        capability=_capability(module, index),
        multi_processor_count=int(facts.multi_processor_count),
        total_memory=int(facts.total_memory),
    )


def pci_cards(root: Path = _PCI) -> dict[Kind, int]:
    """How many display and compute cards of each vendor the PCI bus shows; needs no driver.

    Cards that a container may not use are counted too.
    """
    found: dict[Kind, int] = {}
    for vendor, device_class in _pci_functions(root):
        # Class 0x03 is "display controller" (a GPU), 0x12 "processing accelerator".
        if vendor in _VENDORS and device_class[:4] in {"0x03", "0x12"}:
            which = _VENDORS[vendor]
            found[which] = found.get(which, 0) + 1
    return found


def _pci_functions(root: Path) -> Iterator[tuple[str, str]]:
    try:
        folders = sorted(root.iterdir())
    except OSError:
        return
    for folder in folders:
        try:
            yield (folder / "vendor").read_text().strip(), (folder / "class").read_text().strip()
        except OSError:
            continue


# ---- the decision ----------------------------------------------------------------------------------------------------

# What was decided, with what it was decided from.
_decided: tuple[tuple[object, ...], tuple[Kind, str]] | None = None


def _decide() -> tuple[Kind, str]:
    global _decided
    torch = sys.modules.get("torch")
    # Torch while it is being imported has not loaded its backends yet: it is as good as not imported.
    loaded = torch is not None and hasattr(torch, "accelerator")
    musa = getattr(torch, "musa", None)
    state = (os.environ.get(CHOICE), simulated(), loaded, id(musa))
    known = _decided
    if known is not None and known[0] == state:
        return known[1]
    answer = _chosen(state[0]) or _simulated() or (_asked(torch, musa) if loaded else _predicted())
    _decided = (state, answer)
    return answer


def _chosen(choice: object) -> tuple[Kind, str] | None:
    if not choice or choice == "auto":
        return None
    for which in KINDS:
        if choice == which:
            return which, f"{CHOICE}={which}"
    raise ValueError(f"{CHOICE}={choice}: expected auto, {', '.join(KINDS)}; change or unset the variable")


def _simulated() -> tuple[Kind, str] | None:
    if not simulated():
        return None
    loaded = "torch_musa" in sys.modules
    return "sim", "the simulated torch_musa is loaded" if loaded else f"{SIMULATE} is set"


def _asked(torch: Any, musa: Any) -> tuple[Kind, str]:
    """What the imported torch says. `device_count` initialises no device, `is_available` may."""
    musa_devices = musa.device_count() if musa is not None else 0
    if musa_devices:
        return "musa", f"torch.musa.device_count() is {musa_devices}"
    cuda_devices = torch.cuda.device_count()
    if cuda_devices:
        return "cuda", f"torch.cuda.device_count() is {cuda_devices}"
    return "cpu", "torch is imported and sees no MUSA and no CUDA device"


def _predicted() -> tuple[Kind, str]:
    """What torch is going to find, from files alone."""
    cards = pci_cards()
    if cards.get("musa") and _spec("torch_musa"):
        return "musa", "torch_musa is installed and the PCI bus has a Moore Threads card"
    if cards.get("cuda") and _spec("torch"):
        return "cuda", "torch is installed and the PCI bus has an NVIDIA card"
    if not cards:
        return "cpu", "the PCI bus has no Moore Threads and no NVIDIA card"
    missing = "torch_musa" if cards.get("musa") else "torch"
    return "cpu", f"the PCI bus has a card, and {missing} is not installed"


def _spec(name: str) -> ModuleSpec | None:
    """Where a top-level module would come from. Neither imports it nor trusts what stands in for it in sys.modules."""
    return PathFinder.find_spec(name)


# ---- one device ------------------------------------------------------------------------------------------------------


def _torch_module(which: Kind) -> Any:
    """`torch.musa` or `torch.cuda`."""
    try:
        import torch
    except ImportError as error:
        raise RuntimeError(
            f"the properties of a {which} device need torch, which cannot be imported: {error}; install torch"
        ) from error
    name = "cuda" if which == "cuda" else "musa"
    module = getattr(torch, name, None)
    if module is None:
        raise RuntimeError(f"torch.{name} does not exist; import torch_musa first, or enable musa_compat.sim")
    return module


def _capability(module: Any, index: int | None) -> tuple[int, int]:
    major, minor = module.get_device_capability(index)
    return int(major), int(minor)


def _arch(which: Kind, index: int | None) -> str | None:
    if which == "cpu":
        return None
    if which == "sim":
        # Not from the capability: the simulated device may be told to report that of an NVIDIA card.
        said = getattr(sys.modules.get("torch_musa"), "__simulated_arch__", None)
        return str(said or os.environ.get(SIMULATED_ARCH) or DEFAULT_ARCH["sim"])
    major, minor = _capability(_torch_module(which), index)
    return f"sm_{major}{minor}" if which == "cuda" else f"mp_{major}{minor}"


def _processor() -> Properties:
    import platform

    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not a POSIX system
        memory = 0
    name = platform.processor() or platform.machine()
    return Properties("cpu", 0, name, None, None, os.cpu_count() or 1, memory)
