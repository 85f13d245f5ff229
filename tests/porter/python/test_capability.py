"""P28: comparisons with what a device's capability was made into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from musa_port import port_sources

if TYPE_CHECKING:
    from musa_port import FilePort
    from tests.porter.python.conftest import Port

ASK = "torch.cuda.get_device_capability"
PAIR = f"major, minor = {ASK}()\n"
PROPERTIES = "props = torch.cuda.get_device_properties(0)\n"


def lines(result: FilePort) -> list[int]:
    return [finding.line for finding in result.findings if finding.rule == "P28"]


@pytest.mark.parametrize(
    "text",
    [
        f"ok = {ASK}() >= (9, 0)\n",
        f"ok = {ASK}()[0] >= 8\n",
        f"ok = {ASK}()[0] == 9\n",
        f"ok = {ASK}() in [(8, 0), (9, 0)]\n",
        f"{PAIR}ok = major >= 8 \n",
        f"{PAIR}sm = major * 10 + minor\nif sm >= 90: pass\n",
        f"{PAIR}sm = major * 10 + minor\nif sm in (80, 86): pass\n",
        f"{PAIR}ok = major * 10 + minor == 89\n",
        f"{PAIR}if f'sm_{{major}}{{minor}}' == 'sm_90': pass\n",
        f"{PAIR}if 'sm_%d%d' % (major, minor) == 'sm_90': pass\n",
        f"cc = {ASK}()\nversion = cc[0] * 10 + cc[1]\nok = version // 10 >= 9\n",
        f"text = ''.join(map(str, {ASK}()))\nif int(text) >= 80: pass\n",
        f"def sm():\n    return {ASK}()\nif sm()[0] == 9: pass\n",
        f"HOPPER = (9, 0)\nok = {ASK}() == HOPPER\n",
        f"class A:\n    def a(self):\n        self.sm = {ASK}()[0]\n    def b(self):\n        return self.sm > 8\n",
        f"{PROPERTIES}ok = props.major == 9\n",
        f"{PROPERTIES}ok = props.major * 10 + props.minor >= 86\n",
        "ok = torch.cuda.get_device_properties(0).major >= 9\n",
        "ok = 'sm_90' in torch.cuda.get_arch_list()\n",
        "def f(capability):\n    return capability >= 80\n",
        "ok = platform.get_device_capability() >= (9, 0)\n",
        "ok = sm_version == '90a'  # cuda\n",
    ],
)
def test_reported(port: Port, text: str) -> None:
    """The number is kept, and the last line is the place."""
    result = port("import torch  # cuda\n" + text)
    assert lines(result) == [text.count("\n") + 1]
    assert result.data.decode().splitlines()[-1] == text.splitlines()[-1].replace("torch.cuda", "torch.musa")


def test_match(port: Port) -> None:
    assert lines(port(f"import torch\nmatch {ASK}():\n    case (9, 0): pass\n")) == [2]


def test_values_that_go_in_a_circle(port: Port) -> None:
    text = f"import torch\na = b\nb = a\nc = (c, a)\nok = {ASK}() == c\nok = a > 3\nok = {ASK}()[0] > 8\n"
    assert lines(port(text)) == [7]


@pytest.mark.parametrize(
    "text",
    [
        f"{PAIR}ok = sys.version_info.major >= 3\n",
        f"{PAIR}ok = parse(torch.__version__).major >= 2\n",
        f"{PAIR}ok = rank >= 90\n",
        f"{PAIR}ok = torch.cuda.device_count() >= 8\n",
        f"a = {ASK}(0)\nb = {ASK}(1)\nok = a == b\n",
        f"ok = {ASK}() is None\n",
        f"ok = blocks({ASK}()) > 64\n",
        "def f(capability):\n    return capability == 3  # cuda\n",
    ],
)
def test_left_alone(port: Port, text: str) -> None:
    assert lines(port("import sys\nimport torch\n" + text)) == []


@pytest.mark.parametrize("statement", ["sm = (sm, 1)", "sm = [sm]", "a = (b, 1)\nb = (a, 1)\nsm = a"])
def test_values_that_hold_themselves(statement: str) -> None:
    """Following a value that is made from itself comes to an end."""
    text = f"import torch\nsm = 0\n{statement}\nif sm in ((9, 0),):\n    torch.cuda.synchronize()\n"
    result = port_sources({"a.py": text.encode()})["a.py"]
    assert b"torch.musa.synchronize()" in (result.data or b"")
    assert [finding for finding in result.findings if finding.rule == "F16"] == []
