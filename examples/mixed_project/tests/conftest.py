"""The device that the tests run on."""

import pytest
import torch

from fastops.devices import default_device, seed


@pytest.fixture
def device() -> torch.device:
    seed(0)
    return default_device()
