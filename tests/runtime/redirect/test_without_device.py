"""In processes of their own: these have no simulated device."""

from __future__ import annotations

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")


def python(code: str) -> str:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_the_error_says_how_to_simulate_one() -> None:
    text = python(
        "import musa_compat, torch\n"
        "try: musa_compat.activate()\n"
        "except musa_compat.redirect.NoDeviceError as error: print(error)\n"
        "print(torch.cuda.is_available(), musa_compat.status().active, len(musa_compat.status().rows))"
    )
    assert "musa_compat.sim.enable()" in text
    assert "MUSA_COMPAT_SIM=1" in text
    assert text.endswith("False False 0")


def test_importing_the_redirect_does_not_import_torch() -> None:
    code = "import sys, musa_compat; musa_compat.activate; print(musa_compat.status().active, 'torch' in sys.modules)"
    assert python(code) == "False False"
