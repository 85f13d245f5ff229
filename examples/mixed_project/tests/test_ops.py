"""The operators against their formulas in float64."""

import pytest
import torch

import fastops

TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}
DTYPES = pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)


@DTYPES
@pytest.mark.parametrize("shape", [(3, 8), (2, 5, 1000), (0, 16)], ids=str)
def test_rms_norm(device: torch.device, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    x = torch.randn(shape, device=device, dtype=dtype)
    weight = torch.rand(shape[-1], device=device, dtype=dtype)
    exact = x.double() * (x.double().pow(2).mean(-1, keepdim=True) + 1e-6).pow(-0.5) * weight.double()
    result = fastops.rms_norm(x, weight)
    assert result.dtype == dtype
    torch.testing.assert_close(result.double(), exact, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@DTYPES
@pytest.mark.parametrize("shape", [(3, 8), (2, 5, 1000), (0, 16)], ids=str)
def test_silu_and_mul(device: torch.device, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    x = torch.randn(shape, device=device, dtype=dtype)
    half = shape[-1] // 2
    gate, value = x.double()[..., :half], x.double()[..., half:]
    result = fastops.silu_and_mul(x)
    assert result.shape == (*shape[:-1], half)
    torch.testing.assert_close(
        result.double(), gate / (1 + (-gate).exp()) * value, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype]
    )


def test_wrong_shapes_are_refused(device: torch.device) -> None:
    with pytest.raises(ValueError, match="weight"):
        fastops.rms_norm(torch.zeros(2, 4, device=device), torch.zeros(3, device=device))
    with pytest.raises(ValueError, match="even"):
        fastops.silu_and_mul(torch.zeros(2, 3, device=device))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_result_stays_on_the_gpu() -> None:
    x = torch.ones(2, 4).cuda()
    assert fastops.silu_and_mul(x).is_cuda
    assert fastops.rms_norm(x, torch.ones(4, device="cuda")).device == x.device
