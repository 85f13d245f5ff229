from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[3]
START = "from musa_compat.launch import startup; startup.on_import_torch()"


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Another interpreter, with the source tree first on its path."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def test_torch_musa_is_torch_musa_and_has_a_spec() -> None:
    import torch_musa

    assert torch_musa is torch.musa
    spec = importlib.util.find_spec("torch_musa")
    assert spec is not None
    assert spec.origin is not None
    assert spec.origin.endswith("torch_musa/__init__.py")
    import torch_musa.core.stream

    assert torch_musa.core.stream.Stream is torch.musa.Stream


def test_it_says_what_it_is() -> None:
    assert torch.musa.get_device_name() == "Simulated MUSA device"
    assert torch.version.musa == "simulated"
    assert torch.version.cuda is None
    assert torch.musa.get_device_capability() == (3, 1)
    assert torch.musa.get_arch_list() == ["31"]


def test_a_second_enable_changes_nothing_and_other_settings_are_refused() -> None:
    from musa_compat import sim

    assert sim.enable() is torch.musa
    with pytest.raises(RuntimeError, match="runs with"):
        sim.enable(devices=5)


def test_settings_by_argument() -> None:
    code = (
        "from musa_compat import sim; m = sim.enable(devices=3, arch='mp_22', memory='1G', cuda_capability='9.0');"
        "p = m.get_device_properties(0); print(m.device_count(), p.total_memory, p.major, p.minor, m.get_arch_list())"
    )
    done = python(code)
    assert done.stdout == "3 1073741824 9 0 ['22']\n", done.stderr


def test_settings_by_environment() -> None:
    code = f"{START}; import torch; print(torch.musa.device_count())"
    done = python(code, MUSA_COMPAT_SIM="1", MUSA_COMPAT_SIM_DEVICES="4", MUSA_VISIBLE_DEVICES="0,1,2")
    assert done.stdout == "3\n", done.stderr


def test_torch_enables_it_once_when_asked_to() -> None:
    """What torch's entry point calls, in a process that enables the device itself with other settings."""
    code = f"from musa_compat import sim; m = sim.enable(devices=3); {START}; print(m.device_count())"
    done = python(code, MUSA_COMPAT_SIM="1", MUSA_COMPAT_SIM_DEVICES="4")
    assert done.stdout == "3\n", done.stderr


def test_the_core_knows_the_device() -> None:
    code = (
        "from musa_compat import device, sim; sim.enable(arch='mp_22', cuda_capability='9.0'); import torch;"
        "print(device.kind(), *device.target(torch.device('musa:1')), device.properties(1).arch)"
    )
    done = python(code)
    assert done.stdout == "sim sim mp_22 mp_22\n", done.stderr


def test_without_the_variable_nothing_is_enabled() -> None:
    code = f"{START}; import sys; from musa_compat import sim; print('torch' in sys.modules, sim.is_enabled())"
    assert python(code, MUSA_COMPAT_SIM="0").stdout == "False False\n"


@pytest.mark.parametrize(
    "arguments", ["devices=0", "devices=17", "arch='sm_90'", "memory='much'", "cuda_capability='9'"]
)
def test_wrong_settings_name_the_argument(arguments: str) -> None:
    done = python(f"from musa_compat import sim; sim.enable({arguments})")
    assert f"ValueError: {arguments.split('=')[0]}: expected" in done.stderr


def test_no_compiler_says_what_to_do(tmp_path: Path) -> None:
    done = python(
        "from musa_compat import sim; sim.enable()",
        MUSA_COMPAT_CACHE=str(tmp_path),
        CXX="no-such-compiler",
        PATH="/nowhere",
    )
    assert "BuildError: the simulated MUSA device needs a C++20 compiler" in done.stderr
    assert "no-such-compiler" in done.stderr


def test_processes_that_start_together_build_once(tmp_path: Path) -> None:
    compiler = tmp_path / "c++"
    compiler.write_text(
        '#!/bin/sh\necho x >> "$0.calls"\nsleep 0.5\nwhile [ $# -gt 1 ]; do [ "$1" = -o ] && out="$2"; shift; done\n'
        'echo library > "$out"\n'
    )
    compiler.chmod(0o755)
    code = "from musa_compat.sim import build; print(build.ensure().read_text())"
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(python, code, MUSA_COMPAT_CACHE=str(tmp_path), CXX=str(compiler)) for _ in range(4)]
    assert [run.result().stdout for run in runs] == ["library\n\n"] * 4
    assert Path(f"{compiler}.calls").read_text() == "x\n"


def test_rng_state_is_a_seed_and_an_offset() -> None:
    torch.musa.manual_seed(7)
    torch.randn(3, device="musa")
    state = torch.musa.get_rng_state()
    assert state.numel() == 16
    assert state[:8].view(torch.int64).item() == 7
    assert state[8:].view(torch.int64).item() > 0
    with pytest.raises(RuntimeError, match="expected 16 bytes"):
        torch.musa.set_rng_state(torch.zeros(4, dtype=torch.uint8))
