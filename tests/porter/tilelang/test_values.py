"""Constants: what the file says of a size, seen through K32, which names the bytes of a shared buffer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Port

BIG = 200_000


def size(
    port: Port, expression: str, above: str = "", parameters: str = "", inside: str = "", after: str = ""
) -> int | None:
    """The bytes that the kernel is said to need; None when nothing is said."""
    text = (
        f"{above}\ndef f({parameters}):\n    {inside or 'pass'}\n    with T.Kernel(8) as i:\n"
        f"        a = T.alloc_shared(({expression},), 'int8')\n{after}\n"
    )
    for finding in port(text, arch=("mp_31",)).findings:
        match = re.search(r"needs (\d+) B", finding.message)
        if finding.rule == "K32" and match:
            return int(match.group(1))
    return None


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("200000", 200000),
        ("0x40000", 262144),
        ("200_000", 200000),
        ("400 * 500 + 1", 200001),
        ("(800000 // 4)", 200000),
        ("-(-200001)", 200001),
        ("600000 % 350000", 250000),
        ("1 << 18", 262144),
        ("2 ** 18", 262144),
        ("max(1, 200000)", 200000),
        ("min(200000, 300000)", 200000),
        ("T.ceildiv(1600001, 8)", 200001),
        ("200000 if True else 1", 200000),
        ("300000 if 2 > 1 else 1", 300000),
        ("T.float32.bytes * 50000", 200000),
        ("2 ** 10 ** 10", None),
        ("1 // 0", None),
        ("'a' * 3", None),
        ("n", None),
        ("f(200000)", None),
        ("200000 if n else 1", None),
    ],
)
def test_expressions(port: Port, expression: str, value: int | None) -> None:
    assert size(port, expression) == value


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ({"above": "N = 200000"}, 200000),
        ({"above": "N: int = 200000"}, 200000),
        ({"above": "M = 400\nN = M * 500"}, 200000),
        ({"above": "M, N = 1, 200000"}, 200000),
        ({"inside": "N = 200000"}, 200000),
        ({"above": "N = 1", "inside": "N = 200000"}, 200000),
        ({"parameters": "N=200000"}, 200000),
        ({"parameters": "N: int = 200000"}, 200000),
        ({"parameters": "*, N=200000"}, 200000),
        ({"above": "N = 300000", "parameters": "N"}, None),
        ({"parameters": "N", "after": "f(200000)"}, 200000),
        ({"parameters": "M, N", "after": "f(1, N=200000)"}, 200000),
        ({"parameters": "N=1", "after": "f()\nf(200000)\nf(2)"}, 200000),
        ({"parameters": "N", "after": "f(n)\nf(*args)"}, None),
        ({"parameters": "N", "after": "other.f(200000)"}, None),
        ({"inside": "N = 200000; N = 1"}, None),
        ({"inside": "N = 200000; N += 1"}, None),
        ({"inside": "for N in range(200000): pass"}, None),
        ({"parameters": "N=200000", "inside": "N = N // 2"}, None),
        ({"above": "from other import N"}, None),
        ({"above": "N = N2\nN2 = N"}, None),
        ({"inside": "[N := 200000]"}, None),
    ],
)
def test_names(port: Port, code: dict[str, str], value: int | None) -> None:
    assert size(port, "N", **code) == value


def test_nested_functions_see_the_factory(port: Port) -> None:
    text = (
        "def factory(N=200000):\n    M = N\n    @T.prim_func\n    def main(x):\n        with T.Kernel(1) as i:\n"
        "            a = T.alloc_shared((M,), 'int8')\n    return main\n"
    )
    said = [finding.message for finding in port(text, arch=("mp_31",)).findings if finding.rule == "K32"]
    assert ["factory needs 200000 B" in message for message in said] == [True]


CLASS = """class Config:
    rows = 400
    size = rows * 500
    def __init__(self, wide=200001):
        self.wide = wide
        self.seen = 1
        self.seen = 2
"""


@pytest.mark.parametrize(
    ("expression", "above", "value"),
    [
        ("C['size']", "C = {'size': 200000, 'other': n}\n", 200000),
        ("C['size']", "C = dict(size=200000)\n", 200000),
        ("C['other']", "C = dict(size=200000, other=n)\n", None),
        ("C['none']", "C = dict(size=200000)\n", None),
        ("C[1]", "C = (1, 200000)\n", 200000),
        ("C[-1]", "C = [1, 200000]\n", 200000),
        ("C[2]", "C = [1, 200000]\n", None),
        ("C[n]", "C = [200000]\n", None),
        ("Config.size", CLASS, 200000),
        ("Config.wide", CLASS, 200001),
        ("Config.seen", CLASS, None),
        ("Other.size", CLASS, None),
        ("size", CLASS, None),
        ("rows", f"{CLASS}rows = 200000\n", 200000),
    ],
)
def test_tables_and_classes(port: Port, expression: str, above: str, value: int | None) -> None:
    assert size(port, expression, above) == value


@pytest.mark.parametrize(("size_of", "value"), [("self.size", 200000), ("cls.size", 200000), ("self.none", None)])
def test_kernels_in_methods(port: Port, size_of: str, value: int | None) -> None:
    text = (
        "class Op:\n    size = 200000\n    def build(self):\n        @T.prim_func\n        def main():\n"
        f"            with T.Kernel(8) as i:\n                a = T.alloc_shared(({size_of},), 'int8')\n"
    )
    messages = [item.message for item in port(text, arch=("mp_31",)).findings if item.rule == "K32"]
    assert any(f"needs {value} B" in message for message in messages) == (value is not None)
