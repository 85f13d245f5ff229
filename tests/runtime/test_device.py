"""Which accelerator is here, without importing torch and without touching a device."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from musa_compat import device

from .conftest import Program

#: A torch that is no torch: what `kind` asks it, and nothing that would initialise a device.
FAKE_TORCH = """
import sys, types
def forbidden(*a, **k): raise AssertionError("a device was initialised")
def module(count):
    return types.SimpleNamespace(device_count=lambda: count, is_available=forbidden, init=forbidden)
torch = types.ModuleType("torch")
torch.accelerator = object()
torch.cuda = module(CUDA)
if MUSA is not None:
    torch.musa = module(MUSA)
sys.modules["torch"] = torch
from musa_compat import device
print(device.kind())
"""


def fake_torch(cuda: int, musa: int | None) -> str:
    return FAKE_TORCH.replace("CUDA", str(cuda)).replace("MUSA", str(musa))


def cards(root: Path, *functions: tuple[str, str]) -> Path:
    """A PCI bus as the kernel shows it."""
    for number, (vendor, device_class) in enumerate(functions):
        folder = root / f"0000:{number:02x}:00.0"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(vendor + "\n")
        (folder / "class").write_text(device_class + "\n")
    return root


def test_asking_imports_no_torch(program: Program) -> None:
    code = "import sys; from musa_compat import device; device.kind(); print(any('torch' in m for m in sys.modules))"
    assert program(code) == "False"


@pytest.mark.parametrize(
    ("cuda", "musa", "kind"), [(0, None, "cpu"), (2, None, "cuda"), (0, 8, "musa"), (2, 8, "musa"), (0, 0, "cpu")]
)
def test_imported_torch_is_asked_for_counts_only(program: Program, cuda: int, musa: int | None, kind: str) -> None:
    assert program(fake_torch(cuda, musa)) == kind


def test_devices_are_usable_in_a_fork_after_import(program: Program) -> None:
    """Workers are forked after the import; what initialised CUDA before that would break them."""
    pytest.importorskip("torch")
    code = """
import os, torch, musa_compat.device, musa_compat.registry, musa_compat.contracts
kind = musa_compat.device.kind()
assert not torch.cuda.is_initialized()
child = os.fork()
if child == 0:
    device = "cuda" if kind == "cuda" else "cpu"
    os._exit(0 if musa_compat.device.target(torch.ones(2, device=device).device).kind == device else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert program(code) == "0"


@pytest.mark.parametrize("kind", device.KINDS)
def test_variable_chooses(program: Program, kind: str) -> None:
    assert program(fake_torch(1, 1), MUSA_COMPAT_DEVICE=kind) == kind


def test_auto_is_as_unset(program: Program) -> None:
    assert program(fake_torch(0, 1), MUSA_COMPAT_DEVICE="auto") == "musa"


def test_unknown_choice_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSA_COMPAT_DEVICE", "rocm")
    with pytest.raises(ValueError, match=r"MUSA_COMPAT_DEVICE=rocm: expected auto, musa, cuda, sim, cpu"):
        device.kind()


def test_variable_simulates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSA_COMPAT_SIM", "1")
    assert device.kind() == "sim"
    assert device.why() == "MUSA_COMPAT_SIM is set"
    monkeypatch.setenv("MUSA_COMPAT_SIM", "0")
    assert device.kind() != "sim"


def test_simulated_module_is_seen_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert device.kind() == "cpu"
    simulated = ModuleType("torch_musa")
    simulated.__simulated__ = True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch_musa", simulated)
    assert device.kind() == "sim"
    assert device.kind_of("musa:1") == "sim"


def test_real_module_is_not_simulated_whatever_the_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_musa", ModuleType("torch_musa"))
    monkeypatch.setenv("MUSA_COMPAT_SIM", "1")
    assert not device.simulated()
    assert device.kind_of("musa") == "musa"


def test_pci_cards_counts_gpus_only(tmp_path: Path) -> None:
    root = cards(
        tmp_path / "pci",
        ("0x1ed5", "0x030000"),
        ("0x1ed5", "0x120000"),
        ("0x1ed5", "0x040300"),  # the sound device of a card
        ("0x10de", "0x030200"),
        ("0x8086", "0x030000"),
    )
    assert device.pci_cards(root) == {"musa": 2, "cuda": 1}
    assert device.pci_cards(tmp_path / "absent") == {}


@pytest.mark.parametrize(
    ("vendor", "packages", "kind"),
    [
        ("0x1ed5", ("torch", "torch_musa"), "musa"),
        ("0x1ed5", ("torch",), "cpu"),
        ("0x10de", ("torch",), "cuda"),
        ("0x10de", (), "cpu"),
    ],
)
def test_prediction_from_files(
    vendor: str, packages: tuple[str, ...], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in packages:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise AssertionError('imported')")
    root = cards(tmp_path / "pci", (vendor, "0x030000"))
    monkeypatch.setattr(device, "pci_cards", lambda: original(root))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(device, "_decided", None)
    assert device._predicted()[0] == kind


original = device.pci_cards


def test_kind_of_strings_and_devices() -> None:
    assert device.kind_of("cpu") == "cpu"
    assert device.kind_of("cuda:3") == "cuda"
    assert device.kind_of(SimpleNamespace(type="musa", index=0)) == "musa"
    with pytest.raises(ValueError, match=r"device 'xpu': expected musa, cuda or cpu"):
        device.kind_of("xpu:0")


def test_processor_properties() -> None:
    found = device.properties()
    assert (found.kind, found.arch, found.capability) == ("cpu", None, None)
    assert found.multi_processor_count == os.cpu_count()
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        kib = int(meminfo.read_text().split()[1])
        assert found.total_memory == kib * 1024


def musa_module(capability: tuple[int, int]) -> SimpleNamespace:
    facts = SimpleNamespace(name="MTT S5000", multi_processor_count=60, total_memory=80 << 30)
    return SimpleNamespace(
        device_count=lambda: 2,
        current_device=lambda: 1,
        get_device_capability=lambda index: capability,
        get_device_properties=lambda index: facts,
    )


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch, "musa", musa_module((3, 1)), raising=False)
    monkeypatch.setattr(device, "_targets", {})


@pytest.mark.usefixtures("card")
def test_card_properties() -> None:
    expected = device.Properties("musa", 1, "MTT S5000", "mp_31", (3, 1), 60, 80 << 30)
    assert device.properties() == expected


@pytest.mark.usefixtures("card")
def test_target_of_a_card() -> None:
    assert device.target(SimpleNamespaceDevice("musa", 0)) == ("musa", "mp_31")


def test_target_of_the_processor() -> None:
    torch = pytest.importorskip("torch")
    assert device.target(torch.device("cpu")) == device.Target("cpu")
    assert str(device.Target("cpu")) == "cpu"
    assert str(device.Target("musa", "mp_22")) == "musa (mp_22)"


@pytest.mark.usefixtures("card")
def test_architecture_of_the_simulated_device_is_not_its_capability(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = ModuleType("torch_musa")
    simulated.__simulated__ = True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch_musa", simulated)
    assert device.target(SimpleNamespaceDevice("musa", 0)).arch == "mp_31"
    device._targets.clear()
    monkeypatch.setenv("MUSA_COMPAT_SIM_ARCH", "mp_22")
    assert device.target(SimpleNamespaceDevice("musa", 0)).arch == "mp_22"
    device._targets.clear()
    simulated.__simulated_arch__ = "mp_31"  # type: ignore[attr-defined]
    assert device.target(SimpleNamespaceDevice("musa", 0)) == ("sim", "mp_31")


def test_properties_without_torch_say_what_to_do(program: Program) -> None:
    code = """
import sys; sys.modules["torch"] = None
from musa_compat import device
try: device.properties()
except RuntimeError as error: print(error)
"""
    assert "install torch" in program(code, MUSA_COMPAT_DEVICE="musa")


class SimpleNamespaceDevice:
    """As hashable as a torch.device of a backend that this torch does not have."""

    def __init__(self, kind: str, index: int) -> None:
        self.type = kind
        self.index = index
