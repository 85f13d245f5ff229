"""Each test runs in a forked child that enables the simulated device.

PyTorch's place for the device is taken once a process and for good; and a crash or a hang then costs one test.
"""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from typing import Any

import pytest

LIMIT_SECONDS = 120


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool:
    pytest.importorskip("torch")
    from musa_compat.sim import build

    build.ensure()
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    message = _in_child(lambda: pyfuncitem.obj(**arguments))
    if message:
        pytest.fail(message, pytrace=False)
    return True


def _in_child(test: Any) -> str:
    """What went wrong in a child that ran the test; empty if nothing did."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.setpgid(0, 0)
        signal.alarm(LIMIT_SECONDS)
        text = ""
        try:
            _enable()
            test()
        except BaseException:
            text = traceback.format_exc()
        os.write(write, text.encode()[-60000:] + b"\0")
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        output = pipe.read()
    _, status = os.waitpid(child, 0)
    if not output.endswith(b"\0"):
        return f"the child ended with {os.waitstatus_to_exitcode(status)} (negative: a signal) and said nothing"
    return output[:-1].decode(errors="replace")


def _enable() -> None:
    import torch

    from musa_compat import sim

    warnings.simplefilter("default")  # PyTorch's own, of its future
    torch.set_num_threads(1)  # a fork does not take the parent's worker threads along
    sim.enable(devices=2)
