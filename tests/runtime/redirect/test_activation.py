from __future__ import annotations

import sys
import threading
import types

import pytest

torch = pytest.importorskip("torch")
import musa_compat
from musa_compat import redirect
from musa_compat.launch import startup

from ..sim.helpers import ismusa


def names_of_torch() -> dict[tuple[str, str], object]:
    modules = {name: module for name, module in sys.modules.items() if name.split(".")[0] in ("torch", "torch_musa")}
    found = {(m, name): value for m, module in modules.items() for name, value in dict(vars(module)).items()}
    classes = [torch.musa.Stream, torch.musa.Event, torch.musa.device, torch.musa.graph, torch.amp.autocast]
    return found | {(str(c), name): value for c in classes for name, value in vars(c).items()}


def test_it_is_off_until_it_is_asked_for() -> None:
    assert not musa_compat.status().active
    with pytest.raises((AssertionError, RuntimeError)):
        torch.zeros(2, device="cuda")


def test_on_and_off() -> None:
    musa_compat.activate()
    ismusa(torch.zeros(2, device="cuda"))
    assert musa_compat.deactivate()
    with pytest.raises((AssertionError, RuntimeError)):
        torch.zeros(2, device="cuda")


def test_deactivating_puts_every_name_of_torch_back() -> None:
    with musa_compat.activated():  # modules that torch imports on first use
        pass
    before = names_of_torch()
    stack = torch.overrides._get_current_function_mode_stack()
    with musa_compat.activated():
        assert names_of_torch() != before
    after = names_of_torch()
    assert [key for key in before.keys() | after.keys() if before.get(key) is not after.get(key)] == []
    assert torch.overrides._get_current_function_mode_stack() == stack
    assert type(torch.cuda) is type(sys)
    assert type(torch.musa) is type(sys)


def test_factories_are_never_replaced() -> None:
    zeros, device = torch.zeros, torch.device
    with musa_compat.activated():
        assert torch.zeros is zeros
        assert torch.device is device
        assert type(torch.device("cuda")) is device


def test_activations_are_counted() -> None:
    musa_compat.activate()
    musa_compat.activate()
    assert musa_compat.deactivate()
    ismusa(torch.zeros(2, device="cuda"))
    assert musa_compat.deactivate()
    assert not musa_compat.status().active
    assert not musa_compat.deactivate()


def test_an_inner_block_adds_its_groups_and_takes_them_away() -> None:
    with musa_compat.activated(groups=["device"]):
        assert torch.cuda.device_count() == 0
        with musa_compat.activated(groups="cuda"):
            assert musa_compat.status().groups == ("device", "cuda")
            assert torch.cuda.device_count() == 2
        assert torch.cuda.device_count() == 0
        ismusa(torch.zeros(2, device="cuda"))


def test_blocks_end_in_any_order() -> None:
    first, second = musa_compat.activated(groups="cuda"), musa_compat.activated(groups="device")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert musa_compat.status().groups == ("device",)
    assert torch.cuda.device_count() == 0
    second.__exit__(None, None, None)
    assert not musa_compat.status().active


def test_an_exception_ends_a_block() -> None:
    with pytest.raises(KeyError), musa_compat.activated():
        raise KeyError
    assert not musa_compat.status().active


def test_a_patch_over_ours_is_left_and_named() -> None:
    musa_compat.activate()
    inner = torch.cuda.device_count
    torch.cuda.device_count = theirs = lambda: 10 + inner()
    musa_compat.deactivate()
    assert torch.cuda.device_count is theirs
    left = musa_compat.status().of("left")
    assert [row.target for row in left] == ["torch.cuda:device_count"]
    assert "somebody" in left[0].why


def test_a_wrapper_that_outlives_us_calls_the_original() -> None:
    original = torch.cuda.memory_allocated
    musa_compat.activate()
    ours = torch.cuda.memory_allocated
    assert ours is not original
    x = torch.ones(4, device="cuda")
    assert ours("cuda") > 0
    musa_compat.deactivate()
    assert ours() == original()
    assert x.device.type == "musa"


def test_other_options_need_another_activation() -> None:
    with musa_compat.activated(cuda_is_available=False):
        with pytest.raises(RuntimeError, match="cannot change"):
            musa_compat.activate(cuda_is_available=True)
        assert not torch.cuda.is_available()
        with musa_compat.activated():
            assert not torch.cuda.is_available()


def test_cuda_is_available_by_default_and_there_is_no_version_of_cuda() -> None:
    assert not torch.cuda.is_available()
    with musa_compat.activated():
        assert torch.cuda.is_available()
        assert torch.version.cuda is None
        assert not (torch.cuda.is_available() and torch.version.cuda)  # SGLang's is_cuda()
    with musa_compat.activated(cuda_version="12.4"):
        assert torch.version.cuda == "12.4"
    assert torch.version.cuda is None


def test_switches_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSA_COMPAT_REDIRECT_GROUPS", "cuda, device")
    monkeypatch.setenv("MUSA_COMPAT_CUDA_IS_AVAILABLE", "0")
    monkeypatch.setenv("MUSA_COMPAT_CUDA_VERSION", "12.8")
    startup.on_import_torch()
    assert not musa_compat.status().active
    monkeypatch.setenv("MUSA_COMPAT_ADAPTER", "own")
    startup.on_import_torch()
    startup.on_import_torch()
    status = musa_compat.status()
    assert status.groups == ("device", "cuda")
    assert (status.options.cuda_is_available, status.options.cuda_version) == (False, "12.8")
    musa_compat.deactivate()
    assert not musa_compat.status().active


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": "nothing"}, "expected some of device, cuda"),
        ({"groups": []}, "got none"),
        ({"cuda_version": "new"}, "such as '12.4'"),
    ],
)
def test_wrong_choices(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        musa_compat.activate(**arguments)
    assert not musa_compat.status().active


def test_many_threads() -> None:
    failures = []

    def work() -> None:
        for _ in range(20):
            with musa_compat.activated(groups=["device", "cuda"]):
                if torch.cuda.device_count() != 2:
                    failures.append("count")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert not musa_compat.status().active
    assert torch.cuda.device_count() == 0


def test_status_prints_as_a_table() -> None:
    assert str(musa_compat.status()).startswith("redirect: off")
    with musa_compat.activated():
        status = musa_compat.status()
        text = str(status)
        assert text.startswith("redirect: on, groups device, cuda, ")
        for row in status.rows:
            assert row.state in ("applied", "skipped", "waiting")
            assert row.reason
            assert row.target in text
            assert row.why or row.state == "applied"
            assert row.group in redirect.GROUPS


def test_names_bound_before_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("somebody")
    vars(module)["sync"] = torch.cuda.synchronize
    monkeypatch.setitem(sys.modules, "somebody", module)
    with musa_compat.activated():
        assert "somebody.sync" in musa_compat.status().bound_before
