"""Each test runs in a forked child with the simulated device, as those of the simulation do."""

from __future__ import annotations

from ..sim.conftest import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]
