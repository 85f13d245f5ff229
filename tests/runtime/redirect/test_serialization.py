from __future__ import annotations

import io
from typing import Any

import pytest

torch = pytest.importorskip("torch")
import musa_compat

from ..sim.helpers import eq, ismusa

X = torch.arange(4.0)


def file_with(tag: str) -> io.BytesIO:
    """A file as CUDA writes it: its storages have the given tag."""
    file = io.BytesIO()
    original = torch.serialization.location_tag
    torch.serialization.location_tag = lambda storage: tag
    try:
        torch.save({"x": X}, file)
    finally:
        torch.serialization.location_tag = original
    file.seek(0)
    return file


LOCATIONS: list[tuple[Any, int | None]] = [
    (None, 1),
    ("cuda", 0),
    ("cuda:0", 0),
    ("cuda:1", 1),
    (torch.device("cuda"), 0),
    (torch.device("cuda", 1), 1),
    ({"cuda:1": "cuda:0"}, 0),
    ({"cuda:1": "cpu"}, None),
    ({"cuda:7": "cuda:0"}, 1),
    ("cpu", None),
    (lambda storage, tag: storage, None),
    (lambda storage, tag: storage.cuda(0) if tag == "cuda:1" else storage, 0),
    (lambda storage, tag: None, 1),
]


@pytest.mark.parametrize("tag", ["cuda:1", "musa:1"])
def test_locations(tag: str) -> None:
    with musa_compat.activated():
        for location, index in LOCATIONS:
            for weights_only in (True, False):
                result = torch.load(file_with(tag), map_location=location, weights_only=weights_only)["x"]
                eq(result, X)
                if index is None:
                    assert result.device.type == "cpu", location
                else:
                    ismusa(result, index)


def test_musa_spellings_go_on_working() -> None:
    with musa_compat.activated():
        ismusa(torch.load(file_with("musa:1"), map_location={"musa:1": "musa:0"})["x"], 0)
        ismusa(torch.load(file_with("cuda:0"), map_location="musa:1")["x"], 1)


def test_files_of_the_cpu() -> None:
    with musa_compat.activated():
        ismusa(torch.load(file_with("cpu"), map_location={"cpu": "cuda:1"})["x"], 1)
        assert torch.load(file_with("cpu"))["x"].device.type == "cpu"


def test_without_the_redirect_cuda_files_are_refused() -> None:
    with pytest.raises(RuntimeError):
        torch.load(file_with("cuda:0"))


def test_saving_and_loading_a_model() -> None:
    net = torch.nn.Linear(3, 2)
    with musa_compat.activated():
        file = io.BytesIO()
        torch.save(net.cuda().state_dict(), file)
        file.seek(0)
        other = torch.nn.Linear(3, 2).cuda(1)
        other.load_state_dict(torch.load(file, map_location="cuda:1"))
        ismusa(other.weight, 1)
        eq(other.weight, net.weight)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages() -> None:
    with musa_compat.activated():
        storage = X.untyped_storage().cuda(1)
        assert storage.device.index == 1
        assert storage.is_cuda
        assert X.storage().cuda().is_cuda
        assert not X.storage().is_cuda


def test_scripts() -> None:
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x.cuda() + torch.ones(4, device="cuda") + torch.ones(4, device=torch.device("cuda:0"))

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(x.to("cuda")) + self.zeros()

        def zeros(self) -> torch.Tensor:
            return torch.zeros(4, device="cuda")

    with musa_compat.activated():
        ismusa(torch.jit.script(twice)(X))
        eq(torch.jit.script(twice)(X), X + 2)
        net = torch.jit.script(Net().cuda())
        ismusa(net(X))
        file = io.BytesIO()
        torch.jit.save(net, file)
        file.seek(0)
        eq(torch.jit.load(file, map_location="cuda")(X), net(X))


def test_scripts_see_the_names_of_their_caller() -> None:
    from torch import ones_like as local_name

    with musa_compat.activated():

        @torch.jit.script
        def one_more(x: torch.Tensor) -> torch.Tensor:
            return x + local_name(x)

        eq(one_more(X.cuda()), X + 1)
