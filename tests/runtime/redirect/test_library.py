from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
import musa_compat

from ..sim.helpers import eq

X = torch.arange(4.0)


@pytest.mark.parametrize("key", ["CUDA", "MUSA", "PrivateUse1"])
def test_library(key: str) -> None:
    with musa_compat.activated():
        define = torch.library.Library("redirect_test", "DEF")
        define.define("plus(Tensor x) -> Tensor")
        define.define("minus(Tensor x) -> Tensor")
        define.define("grad(Tensor x) -> Tensor")
        define.impl("plus", lambda x: x + 1, key)
        define.impl("plus", lambda x: x + 10, "CPU")
        implement = torch.library.Library("redirect_test", "IMPL", key)
        implement.impl("minus", lambda x: x - 1)
        define.impl("grad", lambda x: x * 3, dispatch_key="Autograd" + key)
        ops = torch.ops.redirect_test
        eq(ops.plus(X.cuda()), X + 1)
        eq(ops.plus(X), X + 10)
        eq(ops.minus(X.cuda()), X - 1)
        eq(ops.grad(X.cuda()), X * 3)
    eq(ops.plus(X.to("musa")), X + 1)


def test_impl_and_kernels_by_device_type() -> None:
    with musa_compat.activated():
        torch.library.define("redirect_test::both", "(Tensor x) -> Tensor")
        torch.library.impl("redirect_test::both", "cpu", lambda x: x + 10)
        torch.library.impl("redirect_test::both", ("cuda",), lambda x: x + 1)
        eq(torch.ops.redirect_test.both(X.cuda()), X + 1)
        eq(torch.ops.redirect_test.both(X), X + 10)


def test_custom_op() -> None:
    with musa_compat.activated():

        @torch.library.custom_op("redirect_test::mul", mutates_args=(), device_types="cuda")
        def mul(x: torch.Tensor, y: float) -> torch.Tensor:
            return x * y

        @torch.library.register_kernel("redirect_test::mul", "cpu")
        def _(x: torch.Tensor, y: float) -> torch.Tensor:
            return x * y + 100

        mul.register_fake(lambda x, y: torch.empty_like(x))
        eq(mul(X.cuda(), 2.0), X * 2)
        eq(mul(X, 2.0), X * 2 + 100)
        torch.library.register_autocast("redirect_test::mul", "cuda", torch.bfloat16)
        with torch.autocast("cuda", dtype=torch.float16):
            assert mul(X.cuda(), 2.0).dtype == torch.bfloat16
        compiled = torch.compile(lambda x: mul(x, 3.0) + 1, backend="eager", fullgraph=True)
        eq(compiled(X.cuda()), X * 3 + 1)


def test_impl_as_a_decorator() -> None:
    with musa_compat.activated():
        library = torch.library.Library("redirect_test2", "FRAGMENT")
        library.define("neg(Tensor x) -> Tensor")

        @torch.library.impl(library, "neg", "CUDA")
        def neg(x: torch.Tensor) -> torch.Tensor:
            return -x

        eq(torch.ops.redirect_test2.neg(X.cuda()), -X)
