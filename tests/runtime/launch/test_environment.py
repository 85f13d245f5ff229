"""The variables of a program that `musa-compat run` starts."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from musa_compat.launch import LaunchError, Options, environment

MODULE = "musa_compat.launch.environment"


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The importable modules; a test adds to them."""
    import sys

    found = {"torch"}
    module: Any = sys.modules[MODULE]
    monkeypatch.setattr(module, "_has", found.__contains__)
    ours = EntryPoint("musa_compat", "musa_compat.launch.startup:on_import_torch", "torch.backends")
    monkeypatch.setattr(module, "entry_points", lambda group: [ours])
    return found


def test_without_torch_musa_the_device_is_simulated() -> None:
    assert environment(Options(), {"HOME": "/root"}) == {
        "HOME": "/root",
        "MUSA_COMPAT_DEVICE": "sim",
        "MUSA_COMPAT_SIM": "1",
        "MUSA_COMPAT_ADAPTER": "own",
    }


def test_with_torch_musa_the_device_is_musa(installed: set[str]) -> None:
    installed.add("torch_musa")
    assert environment(Options(), {}) == {"MUSA_COMPAT_DEVICE": "musa", "MUSA_COMPAT_ADAPTER": "own"}


def test_auto_follows_the_variable_of_the_device() -> None:
    assert environment(Options(), {"MUSA_COMPAT_DEVICE": "cuda"}) == {"MUSA_COMPAT_DEVICE": "cuda"}


def test_settings_of_the_simulation() -> None:
    options = Options(devices=4, arch="mp_22", memory="1G", cuda_capability="9.0", strict="warn")
    found = environment(options, {"MUSA_COMPAT_SIM_DEVICES": "8"})
    assert {name: value for name, value in found.items() if name.startswith("MUSA_COMPAT_SIM_")} == {
        "MUSA_COMPAT_SIM_DEVICES": "4",
        "MUSA_COMPAT_SIM_ARCH": "mp_22",
        "MUSA_COMPAT_SIM_MEMORY": "1G",
        "MUSA_COMPAT_SIM_CUDA_CAPABILITY": "9.0",
        "MUSA_COMPAT_SIM_STRICT": "warn",
    }


def test_no_device_at_all() -> None:
    """A program that asks whether there is a CUDA device goes its own way for CPUs."""
    found = environment(Options(device="cpu"), {"MUSA_COMPAT_SIM": "1", "MUSA_COMPAT_ADAPTER": "own"})
    assert found == {
        "MUSA_COMPAT_DEVICE": "cpu",
        "CUDA_VISIBLE_DEVICES": "",
        "MUSA_VISIBLE_DEVICES": "",
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }


def test_cuda_is_left_alone() -> None:
    base = {"CUDA_VISIBLE_DEVICES": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    assert environment(Options(device="cuda"), base) == {**base, "MUSA_COMPAT_DEVICE": "cuda"}


def test_import_torch_must_load_backends() -> None:
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD" not in environment(Options(), {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})


@pytest.mark.parametrize(
    ("base", "visible"),
    [({"CUDA_VISIBLE_DEVICES": "1"}, "1"), ({"CUDA_VISIBLE_DEVICES": "1", "MUSA_VISIBLE_DEVICES": "0"}, "0")],
)
def test_visible_devices(base: dict[str, str], visible: str) -> None:
    assert environment(Options(), base)["MUSA_VISIBLE_DEVICES"] == visible


@pytest.mark.parametrize("adapter", ["own", "torchada"])
def test_adapter(adapter: str, installed: set[str]) -> None:
    installed.add("torchada")
    assert environment(Options(adapter=adapter), {})["MUSA_COMPAT_ADAPTER"] == adapter


def test_no_adapter() -> None:
    assert "MUSA_COMPAT_ADAPTER" not in environment(Options(adapter="none"), {"MUSA_COMPAT_ADAPTER": "own"})


@pytest.mark.parametrize(
    ("options", "modules", "message"),
    [
        (Options(device="musa"), {"torch"}, "--device musa needs torch_musa"),
        (Options(device="sim"), {"torch", "torch_musa"}, "torch_musa is installed here"),
        (Options(adapter="torchada"), {"torch"}, "needs the package torchada"),
        (Options(), set(), "PyTorch is not installed"),
        (Options(device="cpu", cuda_capability="9.0"), {"torch"}, "--cuda-capability is for the simulated device"),
        (Options(device="cuda", strict="raise"), {"torch"}, "--strict is for the simulated device"),
    ],
)
def test_what_cannot_be_had(options: Options, modules: set[str], message: str, installed: set[str]) -> None:
    installed.clear()
    installed |= modules
    with pytest.raises(LaunchError, match=message):
        environment(options, {})


def test_a_source_tree_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """`import torch` would not call it, and the program would fail far from the cause."""
    import sys

    monkeypatch.setattr(sys.modules[MODULE], "entry_points", lambda group: [])
    with pytest.raises(LaunchError, match="not installed"):
        environment(Options(), {})
