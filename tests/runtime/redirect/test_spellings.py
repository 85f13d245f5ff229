"""Every way to say `cuda` to something that makes or moves a tensor, against the same words with `cpu`."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F
from torch import zeros as bound_before

import musa_compat

from ..sim.helpers import eq

#: `DEV` stands for the device. The result is on it.
TEXTS = [
    "torch.zeros(2, 3, device=DEV)",
    "torch.ones(2, device=DEV)",
    "torch.full((2,), 3.0, device=DEV)",
    "torch.arange(5, device=DEV)",
    "torch.linspace(0, 1, 5, device=DEV)",
    "torch.logspace(0, 1, 5, device=DEV)",
    "torch.eye(3, device=DEV)",
    "torch.tensor([1.0, 2.0], device=DEV)",
    "torch.tensor([], dtype=torch.long, device=DEV)",
    "torch.empty((0,), dtype=torch.long, device=DEV)",
    "torch.as_tensor([1, 2], device=DEV)",
    "torch.asarray([1, 2], device=DEV)",
    "torch.scalar_tensor(3, device=DEV)",
    "torch.tril_indices(3, 3, device=DEV)",
    "torch.triu_indices(3, 3, device=DEV)",
    "torch.hann_window(4, device=DEV)",
    "torch.hamming_window(4, device=DEV)",
    "torch.blackman_window(4, device=DEV)",
    "torch.bartlett_window(4, device=DEV)",
    "torch.fft.fftfreq(5, device=DEV)",
    "torch.fft.rfftfreq(5, device=DEV)",
    "torch.signal.windows.cosine(4, device=DEV)",
    "torch.zeros_like(x, device=DEV)",
    "torch.ones_like(x, device=DEV)",
    "torch.full_like(x, 2.0, device=DEV)",
    "x.new_zeros(3, device=DEV)",
    "x.new_ones(3, device=DEV)",
    "x.new_full((3,), 4.0, device=DEV)",
    "x.new_tensor([5.0], device=DEV)",
    "x.new_empty(0, device=DEV)",
    "x.to(DEV)",
    "x.to(device=DEV)",
    "x.to(DEV, torch.float64)",
    "x.to(DEV, non_blocking=True)",
    "x.to(torch.zeros(1, device=DEV))",
    "torch.empty_strided((2,), (1,), device=DEV).fill_(1)",
    "torch.empty_permuted((2, 3), (1, 0), device=DEV).fill_(1)",
    "torch.empty(2, device=DEV).zero_()",
    "torch.Tensor.to(x, DEV)",
    "torch.ops.aten.zeros([2], device=DEV)",
    "torch.ops.aten.arange.start(0, 3, device=DEV)",
    "torch.nn.Parameter(torch.zeros(2, device=DEV))",
    "torch.nn.Linear(2, 3, bias=False, device=DEV).weight * 0",
    "torch.nn.Linear(2, 3).to(DEV).weight * 0",
    "torch.nn.Linear(2, 3).to(device=DEV, dtype=torch.float64).weight * 0",
    "torch.nn.Embedding(4, 2, device=DEV).weight * 0",
    "F.one_hot(torch.tensor([0, 2], device=DEV))",
    "torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged, device=DEV).values()",
    "torch.load(saved(x), map_location=DEV)",
    "torch.frombuffer(bytearray(8), dtype=torch.float32).to(DEV)",
    "torch.from_numpy(x.numpy()).to(DEV)",
    "torch.rand(3, device=DEV) * 0",
    "torch.randn(3, device=DEV) * 0",
    "torch.randint(0, 1, (3,), device=DEV)",
    "torch.randperm(1, device=DEV)",
    "torch.rand_like(x, device=DEV) * 0",
    "torch.randn_like(x, device=DEV) * 0",
    "torch.randint_like(x, 1, device=DEV)",
    "torch.normal(0.0, 1.0, (3,), device=DEV) * 0",
    "torch.normal(0.0, 1.0, (3,), device=DEV, generator=torch.Generator(device=DEV)) * 0",
    "torch.rand(3, generator=torch.Generator(DEV), device=DEV) * 0",
    "bound_before(2, device=DEV)",
    "inside(DEV, lambda: torch.ones(2))",
    "inside(DEV, lambda: torch.nn.Linear(2, 2).weight * 0)",
]

#: Spellings of the device -> the index that is meant (the current one is 0).
DEVICES = {
    "cuda": ("'cuda'", 0),
    "cuda:1": ("'cuda:1'", 1),
    "device": ("torch.device('cuda')", 0),
    "device:1": ("torch.device('cuda', 1)", 1),
}

#: (written for CUDA, the same for the CPU)
PAIRS = [
    ("x.cuda()", "x"),
    ("x.cuda(1)", "x"),
    ("x.cuda('cuda:1')", "x"),
    ("x.cuda(device=torch.device('cuda'))", "x"),
    ("x.cuda(non_blocking=True)", "x"),
    (
        "image.cuda(memory_format=torch.channels_last)",
        "image.to(memory_format=torch.channels_last)",
    ),
    ("torch.Tensor.cuda(x)", "x"),
    ("x.to(1)", "x"),
    ("torch.zeros(2, device=1)", "torch.zeros(2)"),
    ("x.pin_memory('cuda').cuda()", "x"),
    ("x.pin_memory(device='cuda').cuda()", "x"),
    ("x.pin_memory().cuda(non_blocking=True)", "x"),
    ("torch.nn.Linear(2, 2).cuda().weight * 0", "torch.zeros(2, 2)"),
    ("torch.nn.Linear(2, 2).cuda(1).weight * 0", "torch.zeros(2, 2)"),
    ("torch.nn.Linear(2, 2).cuda(torch.device('cuda:1')).weight * 0", "torch.zeros(2, 2)"),
    ("x.type('torch.cuda.DoubleTensor')", "x.double()"),
    ("x.type(torch.cuda.HalfTensor)", "x.half()"),
    ("torch.cuda.FloatTensor([1, 2])", "torch.tensor([1.0, 2.0])"),
    ("torch.cuda.LongTensor([1, 2])", "torch.tensor([1, 2])"),
    ("torch.cuda.IntTensor(2, 3).zero_()", "torch.zeros(2, 3, dtype=torch.int32)"),
    ("torch.cuda.BFloat16Tensor(torch.Size([2])).zero_()", "torch.zeros(2, dtype=torch.bfloat16)"),
    ("torch.cuda.ByteTensor()", "torch.zeros(0, dtype=torch.uint8)"),
    ("x.cuda().type('torch.cuda.HalfTensor')", "x.half()"),
    ("torch.from_dlpack(x).cuda()", "x"),
    ("torch.nn.utils.rnn.pack_sequence([x]).cuda().data", "x"),
    ("torch.ops.aten._to_copy(x, device='cuda')", "x"),
    ("torch.ops.aten.to.device(x, torch.device('cuda'), torch.float32)", "x"),
]


def saved(value: Any) -> Any:
    import io

    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def inside(device: Any, make: Any) -> Any:
    with torch.device(device):
        return make()


NAMES = {"torch": torch, "F": F, "bound_before": bound_before, "saved": saved, "inside": inside}
NAMES |= {"x": torch.tensor([1.0, 2.0]), "image": torch.arange(16.0).view(1, 2, 4, 2)}


def same(result: Any, truth: Any, index: int | None = None) -> None:
    assert result.device.type == "musa"
    assert index is None or result.device.index == index
    assert (result.shape, result.dtype, result.stride()) == (truth.shape, truth.dtype, truth.stride())
    eq(result, truth)


def check(text: str, truth: str, index: int) -> str:
    """What is wrong with a spelling; empty if nothing is."""
    expected = eval(truth, dict(NAMES))
    try:
        with musa_compat.activated():
            same(eval(text, dict(NAMES)), expected, index)
    except Exception as error:  # all of the list are to be reported
        return f"{text}: {type(error).__name__}: {error}"
    return ""


# One process for each list: a fork for each line would take minutes.
@pytest.mark.parametrize("device", DEVICES)
def test_device_argument(device: str) -> None:
    spelling, index = DEVICES[device]
    cases = [(text.replace("DEV", spelling), text.replace("DEV", "'cpu'")) for text in TEXTS]
    assert [wrong for text, truth in cases if (wrong := check(text, truth, index))] == []


def test_other_spellings() -> None:
    second = ("1)", ":1", "device=1")
    cases = [(text, truth, int(any(part in text for part in second))) for text, truth in PAIRS]
    assert [wrong for case in cases if (wrong := check(*case))] == []


def test_the_cpu_stays_the_cpu() -> None:
    for text in TEXTS:
        truth = eval(text.replace("DEV", "'cpu'"), dict(NAMES))
        with musa_compat.activated():
            result = eval(text.replace("DEV", "'cpu'"), dict(NAMES))
            assert result.device.type == "cpu"
            eq(result, truth)
            assert not result.is_cuda


def test_no_spelling_works_without_the_redirect() -> None:
    worked = []
    for text in TEXTS:
        try:
            eval(text.replace("DEV", "'cuda'"), dict(NAMES))
        except (AssertionError, RuntimeError, NotImplementedError):
            continue
        worked.append(text)
    assert worked == []


def test_a_device_made_before_is_understood() -> None:
    device = torch.device("cuda", 1)
    with musa_compat.activated():
        same(torch.zeros(2, device=device), torch.zeros(2), 1)
        same(torch.ones(2).to(device), torch.ones(2), 1)
        assert torch.device("cuda", 1) == torch.zeros(1, device=device).device


def test_what_a_tensor_says_of_itself() -> None:
    with musa_compat.activated():
        x = torch.ones(2).cuda()
        assert x.is_cuda
        assert not torch.ones(2).is_cuda
        assert x.type() == "torch.cuda.FloatTensor"
        assert x.half().type() == "torch.cuda.HalfTensor"
        assert torch.ones(2).type() == "torch.FloatTensor"
        assert x.type("torch.FloatTensor").device.type == "cpu"
        assert isinstance(x, torch.cuda.FloatTensor)
        assert not isinstance(x, torch.cuda.LongTensor)
        assert not isinstance(x.cpu(), torch.cuda.FloatTensor)
        assert x.get_device() == 0
        assert torch.nn.Linear(2, 2).cuda().weight.is_cuda
    assert not x.is_cuda


def test_a_wrong_name_is_still_an_error() -> None:
    with musa_compat.activated():
        for name in ("cudax", "cuda:x", "cuda:99"):
            with pytest.raises(RuntimeError):
                torch.zeros(2, device=name)


def test_default_device() -> None:
    with musa_compat.activated():
        torch.set_default_device("cuda:1")
        same(torch.ones(2), torch.ones(2, device="cpu"), 1)
        torch.set_default_device(None)
        assert torch.ones(2).device.type == "cpu"
        with torch.device("cuda"), torch.device("cuda:1"):
            same(torch.ones(2), torch.ones(2, device="cpu"), 1)
        assert torch.ones(2).device.type == "cpu"


def test_default_tensor_type() -> None:
    with musa_compat.activated():
        torch.set_default_tensor_type("torch.cuda.DoubleTensor")
        same(torch.ones(2), torch.ones(2, device="cpu"), 0)
        assert torch.ones(2).dtype == torch.float64
        torch.set_default_tensor_type(torch.FloatTensor)
        assert (torch.ones(2).device.type, torch.ones(2).dtype) == ("cpu", torch.float32)


def test_modes_of_the_program_go_on_working() -> None:
    from torch.overrides import TorchFunctionMode

    seen = []

    class Mine(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    with Mine(), musa_compat.activated():
        same(torch.ones(2, device="cuda"), torch.ones(2, device="cpu"), 0)
    assert torch.ones in seen
    with musa_compat.activated(), Mine():
        same(torch.ones(2, device="cuda"), torch.ones(2, device="cpu"), 0)
    mine = Mine()
    musa_compat.activate()
    mine.__enter__()
    musa_compat.deactivate()
    assert torch.overrides._get_current_function_mode_stack() == [mine]
    mine.__exit__(None, None, None)


def test_objects_outlive_the_activation() -> None:
    with musa_compat.activated():
        net = torch.nn.Linear(4, 4).cuda()
        stream, event = torch.cuda.Stream(), torch.cuda.Event()
        x = torch.ones(2, 4, device="cuda", requires_grad=True)
    with stream.__class__(), torch.musa.stream(stream):
        net(x).sum().backward()
        event.record()
    event.synchronize()
    assert x.grad.device.type == "musa"
    eq(x.grad, net.weight.sum(0).expand(2, 4))
