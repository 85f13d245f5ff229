"""The TileLang kernel, where there are TileLang and a GPU."""

import pytest
import torch

pytest.importorskip("tilelang")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def test_matmul(device: torch.device) -> None:
    from fastops.tile import matmul

    a = torch.randn(256, 128, device=device, dtype=torch.float16)
    b = torch.randn(128, 384, device=device, dtype=torch.float16)
    torch.testing.assert_close(matmul(a, b), a @ b, rtol=1e-2, atol=1e-1)
