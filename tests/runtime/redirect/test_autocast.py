from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch.amp import autocast as bound_before
from torch.amp import custom_fwd as custom_fwd_bound_before

import musa_compat

from ..sim.helpers import eq

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")

CONTEXTS = {
    "torch.autocast": lambda dtype: torch.autocast("cuda", dtype=dtype),
    "keyword": lambda dtype: torch.autocast(device_type="cuda", dtype=dtype),
    "torch.amp.autocast": lambda dtype: torch.amp.autocast("cuda", dtype=dtype),
    "torch.cuda.amp.autocast": lambda dtype: torch.cuda.amp.autocast(dtype=dtype),
    "bound before": lambda dtype: bound_before("cuda", dtype=dtype),
    "type of a device": lambda dtype: torch.autocast(torch.device("cuda").type, dtype=dtype),
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_context(name: str) -> None:
    with musa_compat.activated():
        x = torch.ones(4, 4).cuda()
        for dtype in (torch.bfloat16, torch.float16):
            with CONTEXTS[name](dtype):
                assert (x @ x).dtype == dtype
                assert torch.is_autocast_enabled("cuda")
                assert torch.is_autocast_enabled("musa")
                assert torch.is_autocast_enabled()
                assert torch.get_autocast_dtype("cuda") == torch.get_autocast_gpu_dtype() == dtype
                with torch.autocast("cuda", enabled=False):
                    assert (x @ x).dtype == torch.float32
                    assert not torch.is_autocast_enabled("cuda")
            assert (x @ x).dtype == torch.float32
            assert not torch.is_autocast_enabled("cuda")


def test_as_a_decorator_and_on_the_cpu() -> None:
    @torch.autocast("cpu", dtype=torch.bfloat16)
    def on_the_cpu(x: Any) -> Any:
        return x @ x

    with musa_compat.activated():
        decorated = torch.autocast("cuda", dtype=torch.float16)(lambda x: x @ x)
        assert decorated(torch.ones(2, 2).cuda()).dtype == torch.float16
        assert on_the_cpu(torch.ones(2, 2)).dtype == torch.bfloat16
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert not torch.is_autocast_enabled("cuda")
            assert torch.is_autocast_enabled("cpu")


def test_setters() -> None:
    with musa_compat.activated():
        assert torch.amp.is_autocast_available("cuda")
        torch.set_autocast_dtype("cuda", torch.bfloat16)
        torch.set_autocast_enabled("cuda", True)
        assert (torch.ones(2, 2).cuda() @ torch.ones(2, 2).cuda()).dtype == torch.bfloat16
        torch.set_autocast_enabled(False)
        torch.set_autocast_gpu_dtype(torch.float16)
        assert not torch.is_autocast_enabled("cuda")
        assert torch.get_autocast_dtype("musa") == torch.float16


SCALERS = ["torch.amp.GradScaler('cuda')", "torch.cuda.amp.GradScaler()", "torch.amp.GradScaler(device='cuda')"]


@pytest.mark.parametrize("make", SCALERS)
def test_training_with_a_scaler(make: str) -> None:
    def train(device: str, scaler: Any) -> Any:
        torch.manual_seed(0)
        net = torch.nn.Linear(4, 2).to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        data = torch.linspace(-1, 1, 12).view(3, 4).to(device)
        for _ in range(3):
            optimizer.zero_grad()
            with torch.autocast(device, dtype=torch.bfloat16):
                loss = net(data).float().square().mean()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
        return net.weight

    expected = train("cpu", torch.amp.GradScaler("cpu"))
    with musa_compat.activated():
        scaler = eval(make)
        assert scaler.is_enabled()
        result = train("cuda", scaler)
        assert result.device.type == "musa"
        eq(result, expected)


@pytest.mark.parametrize("custom_fwd", [torch.amp.custom_fwd, custom_fwd_bound_before, None])
def test_custom_functions(custom_fwd: Any) -> None:
    seen = []
    with musa_compat.activated():
        if custom_fwd is None:
            on_forward, on_backward = torch.cuda.amp.custom_fwd(cast_inputs=torch.float16), torch.cuda.amp.custom_bwd
        else:
            on_forward = custom_fwd(device_type="cuda", cast_inputs=torch.float16)
            on_backward = torch.amp.custom_bwd(device_type="cuda")

        class Twice(torch.autograd.Function):
            @staticmethod
            @on_forward
            def forward(ctx: Any, x: Any) -> Any:
                seen.append(x.dtype)
                return x * 2

            @staticmethod
            @on_backward
            def backward(ctx: Any, grad: Any) -> Any:
                seen.append(torch.is_autocast_enabled("cuda"))
                return grad * 2

        x = torch.ones(2, device="cuda", requires_grad=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            y = Twice.apply(x)
        y.float().sum().backward()
        assert seen == [torch.float16, False]
        eq(x.grad, torch.full((2,), 2.0))
