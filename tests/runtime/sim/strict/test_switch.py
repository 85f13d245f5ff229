from __future__ import annotations

import pickle
import warnings

import pytest

torch = pytest.importorskip("torch")

from musa_compat import sim

D = "musa"


def race() -> None:
    a = torch.ones(4, device=D)
    with torch.musa.stream(torch.musa.Stream()):
        a.add_(1)


def test_off_finds_nothing() -> None:
    race()
    assert sim.findings() == []


def test_a_finding_has_both_lines_and_what_to_do() -> None:
    with sim.strict(), pytest.raises(sim.StrictError) as caught:
        race()
    finding = caught.value.finding
    first = race.__code__.co_firstlineno
    assert (finding.place.file, finding.place.line) == (__file__, first + 3)
    assert (finding.earlier.file, finding.earlier.line) == (__file__, first + 1)
    assert finding.operator == "aten::add"
    assert finding.stream.startswith("stream ")
    assert finding.earlier_stream == "the default stream of musa:0"
    assert "wait_stream" in finding.advice
    assert str(caught.value).startswith(f"{__file__}:{first + 3}: aten::add: a tensor is read by stream ")
    assert pickle.loads(pickle.dumps(caught.value)).finding == finding


def test_the_block_ends_it_and_blocks_nest() -> None:
    with sim.strict("raise", "streams"):
        with sim.strict("off"):
            race()
        with pytest.raises(sim.StrictError):
            race()
    race()


def test_a_wait_while_it_is_off_is_no_race_later() -> None:
    side = torch.musa.Stream()
    with sim.strict("raise", "streams"):
        a = torch.ones(4, device=D)
    torch.musa.synchronize()
    with sim.strict("raise", "streams"), torch.musa.stream(side):
        a.add_(1)


def test_warnings_point_to_the_line_and_come_once() -> None:
    with warnings.catch_warnings(record=True) as seen, sim.strict("warn"):
        warnings.simplefilter("always")
        values = [torch.ones(2, device=D).sum().item() for _ in range(3)]
    assert values == [2, 2, 2]
    assert [(w.category, w.filename) for w in seen] == [(sim.StrictWarning, __file__)]
    assert [finding.count for finding in sim.findings()] == [3]
    assert len(sim.findings(clear=True)) == 1
    assert sim.findings() == []


def test_a_warning_that_is_an_error_is_one() -> None:
    with warnings.catch_warnings(), sim.strict("warn"):
        warnings.simplefilter("error", sim.StrictWarning)
        with pytest.raises(sim.StrictWarning):
            torch.ones(2, device=D).sum().item()


def test_allowed_code_is_not_reported() -> None:
    @sim.allow("syncs")
    def read(tensor: torch.Tensor) -> float:
        return float(tensor.item())

    with sim.strict():
        assert read(torch.ones((), device=D)) == 1
        with sim.allow():
            race()
        with pytest.raises(sim.StrictError), sim.allow("syncs"):
            race()
    assert [finding.check for finding in sim.findings()] == ["streams"]


def test_a_wait_in_allowed_code_is_a_wait() -> None:
    a = torch.ones(4, device=D)
    with sim.strict(), torch.musa.stream(torch.musa.Stream()):
        with sim.allow():
            torch.musa.synchronize()
        a.add_(1)


def test_wrong_arguments_say_what_is_expected() -> None:
    with pytest.raises(ValueError, match="mode: expected 'raise', 'warn' or 'off'; got 'loud'"):
        sim.strict("loud")
    with pytest.raises(ValueError, match=r"checks: expected some of streams, syncs.*; got 'nonsense'"):
        sim.strict("raise", ["streams", "nonsense"])
    with pytest.raises(ValueError, match="checks: expected"):
        sim.allow("nonsense").__enter__()


def test_enable_and_the_variable_switch_it() -> None:
    sim.enable(strict="warn:syncs")
    with pytest.warns(sim.StrictWarning):
        torch.ones((), device=D).item()
    race()
    with pytest.raises(ValueError, match="MUSA_COMPAT_SIM_STRICT=loud: mode: expected"):
        sim.enable(strict="loud")
